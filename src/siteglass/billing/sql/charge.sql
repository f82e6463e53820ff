-- Charges an account: checks key, caps, earlier payments and balance, takes the credits and writes the ledger row.
-- A key row with a person stands for that person in the browser, who must be a member or an owner at that moment.
--
-- Outcome `late`: the server got to it only after the caller had given up. Outcome `kept`: another request with the
-- same Idempotency-Key was charged; nothing is written, and its answer is the answer. Outcome `suspended`: the account
-- is suspended or closed. Of a response that costs nothing, the Idempotency-Key is stored and the response is not.
--
-- Connections cache plans. One made while `paid` was nearly empty would keep reading everything the account ever paid
-- for (80 ms a charge at 10,000 leads). So each lead is looked up by itself, and sequential scans are off: the planner
-- has nothing left to choose.
CREATE OR REPLACE FUNCTION {schema}.charge(
    account_id bigint, key_id bigint, operation text, api_credits bigint, lead_credits bigint, request_id text,
    domains text, deadline timestamptz, max_lead_credits bigint = NULL,
    idempotency_key text = NULL, fingerprint bytea = NULL, answer_headers text = NULL, answer_body bytea = NULL,
    OUT outcome text, OUT entry_seq bigint, OUT lead bigint, OUT balance_api bigint, OUT balance_lead bigint,
    OUT cap_left bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
    terms record;
    spent record;
    now_at timestamptz;
    today date;
    kept_at timestamptz;
    leads text[];
    paid_before text[] := '{}';
BEGIN
    -- a charge only takes, and takes what its domains say
    IF api_credits < 0 OR lead_credits <> cardinality(string_to_array(E'\n' || domains, E'\nc ')) - 1 THEN
        RAISE check_violation USING MESSAGE = 'not a charge', CONSTRAINT = 'ledger_row';
    END IF;
    PERFORM set_config('lock_timeout',
        greatest(1, extract(epoch FROM deadline - clock_timestamp()) * 1000)::integer::text, true);
    balance := {schema}.open_balance(charge.account_id);
    balance_api := balance.api;
    balance_lead := balance.lead;
    lead := lead_credits;
    now_at := clock_timestamp();
    IF now_at > deadline THEN
        outcome := 'late';
        RETURN;
    END IF;
    entry.at := balance.at;
    today := (now_at AT TIME ZONE 'UTC')::date;

    IF idempotency_key IS NOT NULL THEN
        SELECT i.at INTO kept_at FROM {schema}.idempotency i
        WHERE i.account_id = charge.account_id AND i.key = idempotency_key;
        IF kept_at > now_at - interval '24 hours' THEN
            outcome := 'kept';
            RETURN;
        END IF;
    END IF;

    SELECT least(k.daily_api_cap, p.daily_api_cap) AS api_cap, least(k.daily_lead_cap, p.daily_lead_cap) AS lead_cap,
        coalesce(k.family, k.id) AS family, k.person_id, make_interval(hours => p.rebill_after_hours) AS rebill_after,
        a.state
    INTO terms
    FROM {schema}.keys k JOIN {schema}.accounts a ON a.id = k.account_id JOIN {schema}.plans p ON p.name = a.plan
    WHERE k.id = charge.key_id AND k.account_id = charge.account_id
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now_at)
        AND (k.person_id IS NULL OR EXISTS (
            SELECT FROM {schema}.members m
            WHERE m.account_id = k.account_id AND m.person_id = k.person_id AND m.role IN ('member', 'owner')
        ));
    IF NOT FOUND THEN
        outcome := 'key';
        RETURN;
    ELSIF terms.state <> 'active' THEN
        outcome := 'suspended';
        RETURN;
    END IF;

    entry.domains := domains;
    IF terms.rebill_after IS NOT NULL AND lead_credits > 0 THEN
        leads := ARRAY(
            SELECT substr(line, 3) FROM unnest(string_to_array(domains, E'\n')) line WHERE starts_with(line, 'c ')
        );
        paid_before := ARRAY(
            SELECT found.domain FROM unnest(leads) wanted CROSS JOIN LATERAL (
                SELECT p.domain FROM {schema}.paid p
                WHERE p.account_id = charge.account_id AND p.domain = wanted AND p.at > now_at - terms.rebill_after
                LIMIT 1
            ) found
        );
        IF cardinality(paid_before) > 0 THEN
            lead := lead - cardinality(paid_before);
            entry.domains := (
                SELECT string_agg(
                    CASE WHEN starts_with(line, 'c ') AND substr(line, 3) = ANY(paid_before)
                        THEN 'p' || substr(line, 2) ELSE line END,
                    E'\n' ORDER BY place)
                FROM unnest(string_to_array(domains, E'\n')) WITH ORDINALITY AS l(line, place)
            );
        END IF;
    END IF;

    IF lead > max_lead_credits THEN
        outcome := 'max leads';
        RETURN;
    END IF;
    IF terms.api_cap IS NOT NULL OR terms.lead_cap IS NOT NULL THEN
        SELECT coalesce(sum(d.api), 0) AS api, coalesce(sum(d.lead), 0) AS lead INTO spent
        FROM {schema}.keys k JOIN {schema}.usage_days d ON d.key_id = k.id AND d.day = today
        WHERE k.account_id = charge.account_id AND coalesce(k.family, k.id) = terms.family;
        IF api_credits > 0 AND spent.api + api_credits > terms.api_cap THEN
            outcome := 'api cap';
            cap_left := greatest(0, terms.api_cap - spent.api);
            RETURN;
        ELSIF lead > 0 AND spent.lead + lead > terms.lead_cap THEN
            outcome := 'lead cap';
            cap_left := greatest(0, terms.lead_cap - spent.lead);
            RETURN;
        END IF;
    END IF;
    IF balance.api < api_credits OR balance.lead < lead THEN
        outcome := 'credits';
        RETURN;
    END IF;

    INSERT INTO {schema}.usage_days AS d
    VALUES (charge.key_id, today, operation::{schema}.entry_operation, 1, api_credits, lead)
    ON CONFLICT ON CONSTRAINT usage_days_pkey
    DO UPDATE SET requests = d.requests + 1, api = d.api + excluded.api, lead = d.lead + excluded.lead;
    IF balance.next_expiry IS NOT NULL THEN
        balance := {schema}.burn(balance, api_credits, lead);
    END IF;
    IF cardinality(leads) > cardinality(paid_before) THEN
        INSERT INTO {schema}.paid AS p
        SELECT charge.account_id, domain, now_at, balance.seq + 1
        FROM unnest(leads) domain WHERE domain <> ALL(paid_before)
        ON CONFLICT ON CONSTRAINT paid_pkey DO UPDATE SET at = excluded.at, seq = excluded.seq;
    END IF;
    IF idempotency_key IS NOT NULL THEN
        IF kept_at IS NOT NULL THEN
            DELETE FROM {schema}.idempotency i WHERE i.account_id = charge.account_id AND i.key = idempotency_key;
        END IF;
        INSERT INTO {schema}.idempotency (account_id, key, fingerprint, at, seq, slot, entry_at)
        VALUES (charge.account_id, idempotency_key, fingerprint, now_at, balance.seq + 1,
            {schema}.answer_slot(now_at), entry.at);
        -- What cost nothing is found again, but for a job, whose next page begins where the stored one ends. Keys of
        -- people are made by the service, so no caller can have one of this form, nor one with a space.
        IF lead > 0 OR api_credits > 0 OR starts_with(idempotency_key, 'job ')
            OR (terms.person_id IS NOT NULL AND starts_with(idempotency_key, 'download-'))
        THEN
            INSERT INTO {schema}.answers VALUES ({schema}.answer_slot(now_at), charge.account_id, balance.seq + 1,
                now_at, answer_headers, answer_body);
        END IF;
    END IF;

    entry.kind := 'charge';
    entry.operation := operation;
    entry.api := -api_credits;
    entry.lead := -lead;
    entry.actor_kind := CASE WHEN terms.person_id IS NULL THEN 'key' ELSE 'person' END;
    entry.actor_id := coalesce(terms.person_id, charge.key_id)::text;
    entry.request_id := request_id;
    balance := {schema}.append_entry(entry, balance);
    outcome := 'charged';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;
