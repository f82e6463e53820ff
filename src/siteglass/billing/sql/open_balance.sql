-- Locks the balance row of an account, then writes a ledger row for each grant that has expired by now.
CREATE OR REPLACE FUNCTION {schema}.open_balance(account_id bigint)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
DECLARE
    balance {schema}.balances;
    part {schema}.expiring;
    entry {schema}.ledger;
BEGIN
    SELECT * INTO balance FROM {schema}.balances b WHERE b.account_id = open_balance.account_id FOR NO KEY UPDATE;
    -- Times of the ledger never go back. What ends by time (credits, days, keys) goes by the clock itself, so that one
    -- that was wrong for a moment does no lasting harm.
    balance.at := greatest(balance.at, clock_timestamp());
    IF balance.next_expiry <= clock_timestamp() THEN
        entry.at := balance.at;
        entry.kind := 'expire';
        entry.operation := 'none';
        entry.actor_kind := 'operator';
        entry.actor_id := 'expiry';
        entry.request_id := 'expiry';
        entry.domains := '';
        FOR part IN
            DELETE FROM {schema}.expiring e
            WHERE e.account_id = open_balance.account_id AND e.expires_at <= clock_timestamp()
            RETURNING *
        LOOP
            entry.api := -part.api;
            entry.lead := -part.lead;
            entry.refers_to := part.seq;
            balance := {schema}.append_entry(entry, balance);
        END LOOP;
        balance := {schema}.look_ahead(balance);
    END IF;
    RETURN balance;
END
$$;
