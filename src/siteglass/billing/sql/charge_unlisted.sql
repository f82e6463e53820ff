-- Charges an account as `charge` does, for leads that were found through lists. Outcome `listed`: a domain got onto an
-- excluded list, or left the lists to choose from, after the leads were found; nothing is written. The lists are read
-- with the balance locked. So two searches at the same time that both exclude `paid`, or `received`, never pay for a
-- lead twice.
CREATE OR REPLACE FUNCTION {schema}.charge_unlisted(
    account_id bigint, key_id bigint, operation text, api_credits bigint, lead_credits bigint, request_id text,
    domains text, deadline timestamptz, max_lead_credits bigint,
    idempotency_key text, fingerprint bytea, answer_headers text, answer_body bytea,
    exclude_lists bigint[], only_lists bigint[], max_rows integer,
    OUT outcome text, OUT entry_seq bigint, OUT lead bigint, OUT balance_api bigint, OUT balance_lead bigint,
    OUT cap_left bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    unread bigint;
    behind bigint := 0;
    built_in text;
    names text[];
BEGIN
    PERFORM set_config('lock_timeout',
        greatest(1, extract(epoch FROM deadline - clock_timestamp()) * 1000)::integer::text, true);
    PERFORM {schema}.open_balance(charge_unlisted.account_id);
    FOR built_in IN
        SELECT l.name FROM {schema}.lists l
        WHERE l.id = ANY(exclude_lists || only_lists) AND l.built_in AND l.name IN ('paid', 'received')
    LOOP
        IF built_in = 'paid' THEN
            SELECT c.behind INTO unread FROM {schema}.catch_up_paid(charge_unlisted.account_id, max_rows) c;
        ELSE
            SELECT c.behind INTO unread FROM {schema}.catch_up_received(charge_unlisted.account_id, max_rows) c;
        END IF;
        behind := behind + unread;
    END LOOP;
    names := ARRAY(SELECT substr(line, 3) FROM unnest(string_to_array(charge_unlisted.domains, E'\n')) line);
    IF behind > 0 OR cardinality({schema}.unwanted_domains(exclude_lists, only_lists, names)) > 0 THEN
        outcome := 'listed';
        RETURN;
    END IF;
    SELECT c.outcome, c.entry_seq, c.lead, c.balance_api, c.balance_lead, c.cap_left
    INTO outcome, entry_seq, lead, balance_api, balance_lead, cap_left
    FROM {schema}.charge(
        account_id => charge_unlisted.account_id, key_id => charge_unlisted.key_id,
        operation => charge_unlisted.operation, api_credits => charge_unlisted.api_credits,
        lead_credits => charge_unlisted.lead_credits, request_id => charge_unlisted.request_id,
        domains => charge_unlisted.domains, deadline => charge_unlisted.deadline,
        max_lead_credits => charge_unlisted.max_lead_credits, idempotency_key => charge_unlisted.idempotency_key,
        fingerprint => charge_unlisted.fingerprint, answer_headers => charge_unlisted.answer_headers,
        answer_body => charge_unlisted.answer_body
    ) c;
END
$$;
