-- The time of a ledger row, by its number: null if there is none. It is looked for in one month after the other, from
-- the newest back, since what is asked about is mostly new; at last everywhere.
CREATE OR REPLACE FUNCTION {schema}.entry_time(account_id bigint, seq bigint) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    month timestamp;
    first_month timestamp;
    entry_at timestamptz;
BEGIN
    SELECT date_trunc('month', b.at AT TIME ZONE 'UTC'), date_trunc('month', a.created_at AT TIME ZONE 'UTC')
    INTO month, first_month
    FROM {schema}.balances b JOIN {schema}.accounts a ON a.id = b.account_id
    WHERE b.account_id = entry_time.account_id;
    WHILE month >= first_month LOOP
        SELECT l.at INTO entry_at FROM {schema}.ledger l
        WHERE l.account_id = entry_time.account_id AND l.seq = entry_time.seq
            AND l.at >= month AT TIME ZONE 'UTC' AND l.at < (month + interval '1 month') AT TIME ZONE 'UTC';
        IF FOUND THEN
            RETURN entry_at;
        END IF;
        month := month - interval '1 month';
    END LOOP;
    SELECT l.at INTO entry_at FROM {schema}.ledger l
    WHERE l.account_id = entry_time.account_id AND l.seq = entry_time.seq;
    RETURN entry_at;
END
$$;
