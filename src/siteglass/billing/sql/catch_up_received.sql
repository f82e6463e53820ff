-- Brings the list `received` of an account and the table of the same name up to its ledger, by at most `max_rows`
-- ledger rows. `behind` is the number of rows still unread. Charges add the leads that they returned, also those that
-- were free because they have no address. A refund of all leads of a charge removes those that it took a credit for,
-- unless another charge returned them.
--
-- Only this function writes to both, under the lock on the row of the list. See catch_up_paid for numbers and bitmap.
CREATE OR REPLACE FUNCTION {schema}.catch_up_received(
    account_id bigint, max_rows integer, OUT list_id bigint, OUT behind bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    list {schema}.lists;
    newest bigint;
    until bigint;
    added integer;
    removed integer := 0;
    refunded text[];
BEGIN
    SELECT * INTO list FROM {schema}.lists l
    WHERE l.account_id = catch_up_received.account_id AND NOT l.test AND l.name = 'received';
    IF NOT FOUND THEN
        INSERT INTO {schema}.lists (account_id, test, name, built_in)
        VALUES (catch_up_received.account_id, false, 'received', true) ON CONFLICT DO NOTHING;
        SELECT * INTO list FROM {schema}.lists l
        WHERE l.account_id = catch_up_received.account_id AND NOT l.test AND l.name = 'received';
    END IF;
    list_id := list.id;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = catch_up_received.account_id;
    behind := coalesce(newest, 0) - list.ledger_seq;
    IF behind <= 0 THEN
        RETURN;
    END IF;
    SELECT * INTO list FROM {schema}.lists l WHERE l.id = catch_up_received.list_id FOR UPDATE;
    until := least(newest, list.ledger_seq + max_rows);
    behind := newest - until;
    IF until <= list.ledger_seq THEN
        RETURN;
    END IF;
    WITH returned AS (
        INSERT INTO {schema}.received
        SELECT DISTINCT l.account_id, substr(line, 3), l.seq, l.at, starts_with(line, 'c ')
        FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
        WHERE l.account_id = catch_up_received.account_id AND l.seq > list.ledger_seq AND l.seq <= until
            AND l.kind = 'charge' AND (starts_with(line, 'c ') OR starts_with(line, 'n '))
        ON CONFLICT DO NOTHING RETURNING domain
    ), listed AS (
        INSERT INTO {schema}.list_domains (list_id, domain) SELECT DISTINCT list.id, r.domain FROM returned r
        ON CONFLICT DO NOTHING RETURNING domain
    )
    SELECT count(*) INTO added FROM listed;
    -- `kind <> 'charge'` is the condition of an index
    IF EXISTS (
        SELECT FROM {schema}.ledger l
        WHERE l.account_id = catch_up_received.account_id AND l.seq > list.ledger_seq AND l.seq <= until
            AND l.kind <> 'charge' AND l.kind = 'refund'
    ) THEN
        WITH taken AS (
            DELETE FROM {schema}.received r
            USING {schema}.ledger refund JOIN {schema}.ledger charge
                ON charge.account_id = refund.account_id AND charge.seq = refund.refers_to AND charge.at <= refund.at
            WHERE refund.account_id = catch_up_received.account_id AND refund.seq > list.ledger_seq
                AND refund.seq <= until AND refund.kind = 'refund'
                AND r.account_id = refund.account_id AND r.seq = charge.seq AND r.charged
                AND r.domain = ANY(ARRAY(
                    SELECT substr(line, 3) FROM unnest(string_to_array(charge.domains, E'\n')) line
                ))
                AND coalesce((SELECT sum(o.lead) FROM {schema}.ledger o
                    WHERE o.account_id = charge.account_id AND o.refers_to = charge.seq AND o.kind = 'refund'
                        AND o.at >= charge.at AND o.seq <= until), 0) >= -charge.lead
            RETURNING r.domain
        )
        SELECT array_agg(t.domain) INTO refunded FROM taken t;
        DELETE FROM {schema}.list_domains d
        WHERE d.list_id = list.id AND d.domain = ANY(refunded) AND NOT EXISTS (
            SELECT FROM {schema}.received r
            WHERE r.account_id = catch_up_received.account_id AND r.domain = d.domain
        );
        GET DIAGNOSTICS removed = ROW_COUNT;
    END IF;
    UPDATE {schema}.lists l SET ledger_seq = until, domains = l.domains + added - removed,
        changed_at = CASE WHEN added + removed > 0 THEN clock_timestamp() ELSE l.changed_at END,
        revision = CASE WHEN removed > 0 THEN l.revision + 1 ELSE l.revision END,
        bitmap = CASE WHEN removed > 0 THEN NULL ELSE l.bitmap END
    WHERE l.id = list.id;
END
$$;
