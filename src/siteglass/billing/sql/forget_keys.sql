-- Deletes idempotency keys that have expired, at most max_keys of them.
CREATE OR REPLACE FUNCTION {schema}.forget_keys(max_keys integer, OUT forgotten integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM {schema}.idempotency WHERE ctid = ANY(ARRAY(
        SELECT i.ctid FROM {schema}.idempotency i WHERE i.at < clock_timestamp() - interval '25 hours'
        LIMIT max_keys FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
END
$$;
