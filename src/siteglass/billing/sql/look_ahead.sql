-- Stores when the first of the account's expiring credits ends; null if it has none, so that charges skip the look-up.
CREATE OR REPLACE FUNCTION {schema}.look_ahead(balance {schema}.balances)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
DECLARE
    first timestamptz := (SELECT min(e.expires_at) FROM {schema}.expiring e WHERE e.account_id = balance.account_id);
BEGIN
    IF first IS DISTINCT FROM balance.next_expiry THEN
        balance.next_expiry := first;
        UPDATE {schema}.balances SET next_expiry = first WHERE account_id = balance.account_id;
    END IF;
    RETURN balance;
END
$$;
