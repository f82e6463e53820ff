-- Notes a charge whose confirmation was lost, if it was made. Call it after the deadline of the charge.
--
-- It locks the balance first. A charge that waits for a standby holds this lock and cannot be seen. A charge that gets
-- the lock later finds its deadline passed. So what is not in the ledger now was never charged.
-- It looks back 28 days from the account's last row, at one partition or two. A worker asks after seconds, or when an
-- outage is over.
CREATE OR REPLACE FUNCTION {schema}.note_in_doubt(
    account_id bigint, request_id text, idempotency_key text, OUT outcome text
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    newest_at timestamptz;
    charge_seq bigint;
    charge_at timestamptz;
BEGIN
    PERFORM set_config('lock_timeout', '500', true);
    SELECT b.at INTO newest_at FROM {schema}.balances b
    WHERE b.account_id = note_in_doubt.account_id FOR NO KEY UPDATE;
    SELECT l.seq, l.at INTO charge_seq, charge_at FROM {schema}.ledger l
    WHERE l.account_id = note_in_doubt.account_id AND l.request_id = note_in_doubt.request_id AND l.kind = 'charge'
        AND l.at BETWEEN newest_at - interval '28 days' AND newest_at;
    IF NOT FOUND THEN
        outcome := 'not charged';
        RETURN;
    END IF;
    PERFORM FROM {schema}.idempotency i
    WHERE i.account_id = note_in_doubt.account_id AND i.key = note_in_doubt.idempotency_key
        AND i.seq = charge_seq AND i.answered_at IS NOT NULL;
    IF FOUND THEN
        outcome := 'answered';
        RETURN;
    END IF;
    INSERT INTO {schema}.in_doubt (account_id, seq, request_id, idempotency_key, at)
    VALUES (note_in_doubt.account_id, charge_seq, note_in_doubt.request_id, note_in_doubt.idempotency_key, charge_at)
    ON CONFLICT ON CONSTRAINT in_doubt_pkey DO NOTHING;
    outcome := 'in doubt';
END
$$;
