-- Opens the balance for an operator's command; gives up if it can't start while the operator waits.
CREATE OR REPLACE FUNCTION {schema}.operate(account_id bigint) RETURNS {schema}.balances LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '2000', true);
    RETURN {schema}.open_balance(operate.account_id);
END
$$;
