-- Expires the credits of accounts that nobody charges; a few accounts at a time, so that no lock is held for long.
CREATE OR REPLACE FUNCTION {schema}.expire_credits(max_accounts integer, OUT accounts integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    due bigint;
BEGIN
    accounts := 0;
    FOR due IN
        SELECT b.account_id FROM {schema}.balances b WHERE b.next_expiry <= clock_timestamp() LIMIT max_accounts
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM {schema}.open_balance(due);
        accounts := accounts + 1;
    END LOOP;
END
$$;
