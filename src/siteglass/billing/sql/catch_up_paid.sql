-- Brings the list `paid` of an account up to its ledger, by at most `max_rows` ledger rows. `behind` is the number of
-- rows still unread. Charges add domains; a refund of all leads of a charge removes those that no other charge paid.
--
-- Only this function writes to the list, under the lock on its row. The service looks up the numbers of new domains
-- and adds them to the bitmap; after a removal it makes the bitmap again.
CREATE OR REPLACE FUNCTION {schema}.catch_up_paid(
    account_id bigint, max_rows integer, OUT list_id bigint, OUT behind bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    list {schema}.lists;
    newest bigint;
    until bigint;
    added integer;
    removed integer := 0;
BEGIN
    SELECT * INTO list FROM {schema}.lists l
    WHERE l.account_id = catch_up_paid.account_id AND NOT l.test AND l.name = 'paid';
    IF NOT FOUND THEN
        INSERT INTO {schema}.lists (account_id, test, name, built_in)
        VALUES (catch_up_paid.account_id, false, 'paid', true) ON CONFLICT DO NOTHING;
        SELECT * INTO list FROM {schema}.lists l
        WHERE l.account_id = catch_up_paid.account_id AND NOT l.test AND l.name = 'paid';
    END IF;
    list_id := list.id;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = catch_up_paid.account_id;
    behind := coalesce(newest, 0) - list.ledger_seq;
    IF behind <= 0 THEN
        RETURN;
    END IF;
    SELECT * INTO list FROM {schema}.lists l WHERE l.id = catch_up_paid.list_id FOR UPDATE;
    until := least(newest, list.ledger_seq + max_rows);
    behind := newest - until;
    IF until <= list.ledger_seq THEN
        RETURN;
    END IF;
    -- `kind <> 'charge'` is the condition of an index
    IF EXISTS (
        SELECT FROM {schema}.ledger l
        WHERE l.account_id = catch_up_paid.account_id AND l.seq > list.ledger_seq AND l.seq <= until
            AND l.kind <> 'charge' AND l.kind = 'refund'
    ) THEN
        -- A removal asks `bought` about other charges, so `bought` must have all rows that the list is to have.
        PERFORM {schema}.extend_bought(catch_up_paid.account_id, max_rows);
        IF (SELECT u.seq FROM {schema}.bought_until u WHERE u.account_id = catch_up_paid.account_id) < until THEN
            behind := newest - list.ledger_seq;
            RETURN;
        END IF;
    END IF;
    INSERT INTO {schema}.list_domains (list_id, domain)
    SELECT DISTINCT list.id, substr(line, 3)
    FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
    WHERE l.account_id = catch_up_paid.account_id AND l.seq > list.ledger_seq AND l.seq <= until AND l.kind = 'charge'
        AND starts_with(line, 'c ')
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS added = ROW_COUNT;
    DELETE FROM {schema}.list_domains d
    USING {schema}.ledger refund JOIN {schema}.ledger charge
        ON charge.account_id = refund.account_id AND charge.seq = refund.refers_to AND charge.at <= refund.at
        CROSS JOIN unnest(string_to_array(charge.domains, E'\n')) line
    WHERE refund.account_id = catch_up_paid.account_id AND refund.seq > list.ledger_seq AND refund.seq <= until
        AND refund.kind = 'refund' AND starts_with(line, 'c ')
        AND d.list_id = list.id AND d.domain = substr(line, 3)
        AND NOT {schema}.has_bought(catch_up_paid.account_id, d.domain);
    GET DIAGNOSTICS removed = ROW_COUNT;
    UPDATE {schema}.lists l SET ledger_seq = until, domains = l.domains + added - removed,
        changed_at = CASE WHEN added + removed > 0 THEN clock_timestamp() ELSE l.changed_at END,
        revision = CASE WHEN removed > 0 THEN l.revision + 1 ELSE l.revision END,
        bitmap = CASE WHEN removed > 0 THEN NULL ELSE l.bitmap END
    WHERE l.id = list.id;
END
$$;
