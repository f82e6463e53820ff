-- Suspends, resumes or closes an account, with its row of the audit log. Closing also ends its keys, sessions and
-- invitations. Outcome: `set`, `no account`, `last operator`, or the state in which this cannot be done.
--
-- The balance is locked first, as by every charge: a charge is written before the change, or sees it.
CREATE OR REPLACE FUNCTION {schema}.set_account_state(
    account_id bigint, new_state text, reason text, actor text, OUT outcome text
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM {schema}.operate(set_account_state.account_id);
    SELECT a.state INTO outcome FROM {schema}.accounts a WHERE a.id = set_account_state.account_id;
    IF NOT FOUND THEN
        outcome := 'no account';
    END IF;
    IF outcome IN ('no account', 'erased') OR outcome IN ('active', 'closed') AND new_state = outcome
        OR outcome = 'closed' AND new_state = 'suspended'
    THEN
        RETURN;
    END IF;
    IF new_state = 'closed' AND {schema}.has_last_operator(set_account_state.account_id) THEN
        outcome := 'last operator';
        RETURN;
    END IF;
    UPDATE {schema}.accounts a SET state = new_state, state_at = clock_timestamp(), state_reason = reason
    WHERE a.id = set_account_state.account_id;
    IF new_state = 'closed' THEN
        -- rows of people stay: nobody can call with them, and they are charged again if the account is resumed
        UPDATE {schema}.keys k SET revoked_at = clock_timestamp()
        WHERE k.account_id = set_account_state.account_id AND k.revoked_at IS NULL AND k.person_id IS NULL;
        DELETE FROM {schema}.sessions s WHERE s.account_id = set_account_state.account_id;
        DELETE FROM {schema}.links l WHERE l.account_id = set_account_state.account_id;
    END IF;
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    VALUES ('operator', actor, 'account.' || CASE new_state
        WHEN 'suspended' THEN 'suspend' WHEN 'closed' THEN 'close' ELSE 'resume' END,
        set_account_state.account_id, jsonb_strip_nulls(jsonb_build_object('reason', nullif(reason, ''))));
    outcome := 'set';
END
$$;
