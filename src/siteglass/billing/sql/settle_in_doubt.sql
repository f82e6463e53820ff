-- Settles a charge that is in doubt: confirms it, or gives its credits back. `request` is its Idempotency-Key or its
-- request ID. If it is given back, the stored response is forgotten: a retry is a new request, and is charged.
CREATE OR REPLACE FUNCTION {schema}.settle_in_doubt(
    account_id bigint, request text, give_back boolean, actor text, OUT outcome text, OUT entry_seq bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    doubt {schema}.in_doubt;
BEGIN
    PERFORM {schema}.operate(settle_in_doubt.account_id);
    DELETE FROM {schema}.in_doubt d
    WHERE d.account_id = settle_in_doubt.account_id AND d.seq = (
        SELECT o.seq FROM {schema}.in_doubt o
        WHERE o.account_id = settle_in_doubt.account_id AND request IN (o.idempotency_key, o.request_id)
        ORDER BY o.seq LIMIT 1
    )
    RETURNING * INTO doubt;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    END IF;
    entry_seq := doubt.seq;
    IF give_back THEN
        DELETE FROM {schema}.idempotency i WHERE i.account_id = settle_in_doubt.account_id AND i.seq = doubt.seq;
        PERFORM {schema}.refund(settle_in_doubt.account_id, doubt.seq, NULL, NULL, actor,
            'in doubt ' || doubt.request_id, 'in doubt');
        outcome := 'given back';
    ELSE
        INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, entry_seq)
        VALUES ('operator', actor, 'credits.confirm', settle_in_doubt.account_id, doubt.seq);
        outcome := 'confirmed';
    END IF;
END
$$;
