-- Removes the data of one account that has been closed for so many days. Returns its number; null: there is none.
--
-- Ledger, balance, usage by day and audit log stay, so that both can be verified, and the numbers of keys that they
-- name. People who belong to no other account are deleted. An account waits while it has the only operator.
CREATE OR REPLACE FUNCTION {schema}.erase_account(after_days integer, OUT erased bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    emails text[];
BEGIN
    SELECT a.id INTO erased FROM {schema}.accounts a
    WHERE a.state = 'closed' AND a.state_at <= clock_timestamp() - make_interval(days => after_days)
        AND NOT {schema}.has_last_operator(a.id)
    ORDER BY a.id LIMIT 1;
    IF erased IS NULL THEN
        RETURN;
    END IF;
    PERFORM {schema}.operate(erased);
    UPDATE {schema}.accounts a SET state = 'erased', state_at = clock_timestamp()
    WHERE a.id = erased AND a.state = 'closed';
    IF NOT FOUND THEN  -- resumed in between, or another worker was first
        erased := NULL;
        RETURN;
    END IF;
    emails := ARRAY(
        SELECT p.email FROM {schema}.members m JOIN {schema}.people p ON p.id = m.person_id
        WHERE m.account_id = erased AND NOT EXISTS (
            SELECT FROM {schema}.members o WHERE o.person_id = p.id AND o.account_id <> erased
        )
    );
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, details)
    SELECT 'operator', 'closed accounts', 'operator.remove', jsonb_build_object('person', o.person_id)
    FROM {schema}.operators o JOIN {schema}.people p ON p.id = o.person_id WHERE p.email = ANY(emails);
    DELETE FROM {schema}.members m WHERE m.account_id = erased;
    DELETE FROM {schema}.links l WHERE l.email = ANY(emails) OR l.account_id = erased;
    DELETE FROM {schema}.provider_people t WHERE t.account_id = erased;
    DELETE FROM {schema}.sign_in_providers t WHERE t.account_id = erased;
    DELETE FROM {schema}.people p WHERE p.email = ANY(emails);
    UPDATE {schema}.keys k SET name = 'erased', allowed_networks = NULL WHERE k.account_id = erased;
    DELETE FROM {schema}.request_days d USING {schema}.keys k WHERE k.account_id = erased AND d.key_id = k.id;
    DELETE FROM {schema}.lists t WHERE t.account_id = erased;
    DELETE FROM {schema}.saved_searches t WHERE t.account_id = erased;
    DELETE FROM {schema}.previewed t WHERE t.account_id = erased;
    DELETE FROM {schema}.reports t WHERE t.account_id = erased;
    DELETE FROM {schema}.downloads t WHERE t.account_id = erased OR t.key_account = erased;
    DELETE FROM {schema}.uploads t WHERE t.account_id = erased;
    DELETE FROM {schema}.failed_sign_ins t WHERE t.account_id = erased;
    DELETE FROM {schema}.balance_alerts t WHERE t.account_id = erased;
    -- what was read from the ledger
    DELETE FROM {schema}.paid t WHERE t.account_id = erased;
    DELETE FROM {schema}.received t WHERE t.account_id = erased;
    DELETE FROM {schema}.bought t WHERE t.account_id = erased;
    DELETE FROM {schema}.bought_until t WHERE t.account_id = erased;
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id)
    VALUES ('operator', 'closed accounts', 'account.erase', erased);
END
$$;
