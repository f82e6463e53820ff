-- The ledger in partitions by month (UTC). The rows are copied: no charge passes meanwhile. A number is unique in its
-- account because it comes from the locked balance row. The key has `at` because PostgreSQL demands it.
SET LOCAL statement_timeout = '1h';

-- Their parameters have the row type of the old table. All functions are applied again: sessions have them compiled
-- with that type.
DROP FUNCTION IF EXISTS {schema}.append_entry, {schema}.entry_hash, {schema}.operated;
DELETE FROM {schema}.sql_functions;

ALTER TABLE {schema}.ledger RENAME TO ledger_0009;
ALTER TABLE {schema}.ledger_0009 DROP CONSTRAINT ledger_pkey;
DROP INDEX {schema}.ledger_by_request, {schema}.ledger_by_actor, {schema}.ledger_by_reference,
    {schema}.ledger_but_charges;

CREATE TABLE {schema}.ledger (
    LIKE {schema}.ledger_0009,
    PRIMARY KEY (account_id, seq, at)
) PARTITION BY RANGE (at);
CREATE INDEX ledger_by_request ON {schema}.ledger (account_id, request_id);
CREATE INDEX ledger_by_actor ON {schema}.ledger (account_id, actor_id, seq);
CREATE INDEX ledger_by_reference ON {schema}.ledger (account_id, refers_to) WHERE refers_to IS NOT NULL;
CREATE INDEX ledger_but_charges ON {schema}.ledger (account_id, seq) WHERE kind <> 'charge';
-- What belongs to no month that has a partition; `siteglass doctor` reports rows in it.
CREATE TABLE {schema}.ledger_default PARTITION OF {schema}.ledger DEFAULT;

-- Later months are created by the function create_ledger_months.
DO $$
DECLARE
    month timestamp;
BEGIN
    FOR month IN SELECT DISTINCT date_trunc('month', l.at AT TIME ZONE 'UTC') FROM {schema}.ledger_0009 l LOOP
        EXECUTE format('CREATE TABLE {schema}.%I PARTITION OF {schema}.ledger FOR VALUES FROM (%L) TO (%L)',
            'ledger_' || to_char(month, 'YYYY_MM'), month AT TIME ZONE 'UTC',
            (month + interval '1 month') AT TIME ZONE 'UTC');
    END LOOP;
END
$$;
INSERT INTO {schema}.ledger SELECT * FROM {schema}.ledger_0009;
DROP TABLE {schema}.ledger_0009;
ANALYZE {schema}.ledger;

-- The time of the row that they refer to, so that it is looked up in one partition.
ALTER TABLE {schema}.idempotency ADD COLUMN entry_at timestamptz;
UPDATE {schema}.idempotency i SET entry_at = l.at FROM {schema}.ledger l
WHERE l.account_id = i.account_id AND l.seq = i.seq;
ALTER TABLE {schema}.idempotency ALTER COLUMN entry_at SET NOT NULL;
ALTER TABLE {schema}.in_doubt ADD COLUMN at timestamptz;
UPDATE {schema}.in_doubt d SET at = l.at FROM {schema}.ledger l
WHERE l.account_id = d.account_id AND l.seq = d.seq;
ALTER TABLE {schema}.in_doubt ALTER COLUMN at SET NOT NULL;
ALTER TABLE {schema}.bought ADD COLUMN at timestamptz;
UPDATE {schema}.bought b SET at = l.at FROM {schema}.ledger l
WHERE l.account_id = b.account_id AND l.seq = b.seq;
ALTER TABLE {schema}.bought ALTER COLUMN at SET NOT NULL;
