-- Notes that a stored response is returned to a retry, so its charge is no longer in doubt. Writing this has a second
-- purpose: its commit waits for a standby, and with it for the charge. Without that, the response to the retry could be
-- for a charge that only this server knows, and that a failover loses.
CREATE OR REPLACE FUNCTION {schema}.confirm_answer(account_id bigint, idempotency_key text, OUT confirmed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    charge_seq bigint;
BEGIN
    UPDATE {schema}.idempotency i SET answered_at = clock_timestamp()
    WHERE i.account_id = confirm_answer.account_id AND i.key = confirm_answer.idempotency_key
    RETURNING i.seq INTO charge_seq;
    confirmed := FOUND;
    DELETE FROM {schema}.in_doubt d WHERE d.account_id = confirm_answer.account_id AND d.seq = charge_seq;
END
$$;
