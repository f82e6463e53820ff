-- Charges an account for several requests, in their order: what `charge` would do one after the other, in one
-- transaction. Returns a row for each. A request that is refused takes nothing, and the next one is decided by what is
-- left. Any error undoes the whole batch.
--
-- Most accounts need no more than the balance for this: then each table is written by one statement for all requests.
-- Credits that expire, caps, rebilling and lists need other tables for each request, so `charge` is called for each.
--
-- Of `idempotency_keys` and the three after it, and of the lists (as text: '{1,2}'), all are null if no request has
-- one. Plans are made once for any number of requests: one made for a single request would be made again each time.
CREATE OR REPLACE FUNCTION {schema}.charge_batch(
    account_id bigint, key_ids bigint[], operations text[], api_credits bigint[], lead_credits bigint[],
    request_ids text[], domains text[], deadlines timestamptz[], max_lead_credits bigint[],
    idempotency_keys text[], fingerprints bytea[], answer_headers text[], answer_bodies bytea[],
    exclude_lists text[], only_lists text[], max_rows integer
) RETURNS TABLE (
    place integer, outcome text, entry_seq bigint, lead bigint, balance_api bigint, balance_lead bigint, cap_left bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
    entries {schema}.ledger[];
    seqs bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(request_ids)]);
    now_at timestamptz;
    one_by_one boolean;
    is_active boolean;
    -- when the first caller whose charge was made stops waiting: all wait for the last charge of the batch
    earliest timestamptz := 'infinity';
    -- the keys that may charge, and for each the person whom it stands for
    valid_keys bigint[];
    people bigint[];
    key_place integer;
    stored_keys text[];
    has_old_keys boolean;
BEGIN
    PERFORM set_config('lock_timeout', greatest(1,
        extract(epoch FROM deadlines[cardinality(deadlines)] - clock_timestamp()) * 1000)::integer::text, true);
    balance := {schema}.open_balance(charge_batch.account_id);
    now_at := clock_timestamp();
    SELECT bool_or(coalesce(k.daily_api_cap, p.daily_api_cap, k.daily_lead_cap, p.daily_lead_cap, p.rebill_after_hours)
        IS NOT NULL), bool_and(a.state = 'active'), array_agg(k.id), array_agg(k.person_id)
    INTO one_by_one, is_active, valid_keys, people
    FROM {schema}.keys k JOIN {schema}.accounts a ON a.id = k.account_id JOIN {schema}.plans p ON p.name = a.plan
    WHERE k.id = ANY(key_ids) AND k.account_id = charge_batch.account_id
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now_at)
        AND (k.person_id IS NULL OR EXISTS (
            SELECT FROM {schema}.members m
            WHERE m.account_id = k.account_id AND m.person_id = k.person_id AND m.role IN ('member', 'owner')
        ));

    IF one_by_one OR balance.next_expiry IS NOT NULL OR exclude_lists IS NOT NULL OR only_lists IS NOT NULL THEN
        FOR i IN 1..cardinality(request_ids) LOOP
            place := i;
            IF exclude_lists[i] IS NULL AND only_lists[i] IS NULL THEN
                SELECT c.outcome, c.entry_seq, c.lead, c.balance_api, c.balance_lead, c.cap_left
                INTO outcome, entry_seq, lead, balance_api, balance_lead, cap_left
                FROM {schema}.charge(charge_batch.account_id, key_ids[i], operations[i], api_credits[i],
                    lead_credits[i], request_ids[i], domains[i], least(deadlines[i], earliest), max_lead_credits[i],
                    idempotency_keys[i], fingerprints[i], answer_headers[i], answer_bodies[i]) c;
            ELSE
                SELECT c.outcome, c.entry_seq, c.lead, c.balance_api, c.balance_lead, c.cap_left
                INTO outcome, entry_seq, lead, balance_api, balance_lead, cap_left
                FROM {schema}.charge_unlisted(charge_batch.account_id, key_ids[i], operations[i], api_credits[i],
                    lead_credits[i], request_ids[i], domains[i], least(deadlines[i], earliest), max_lead_credits[i],
                    idempotency_keys[i], fingerprints[i], answer_headers[i], answer_bodies[i],
                    exclude_lists[i]::bigint[], only_lists[i]::bigint[], max_rows) c;
            END IF;
            IF outcome = 'charged' THEN
                earliest := least(earliest, deadlines[i]);
            END IF;
            RETURN NEXT;
        END LOOP;
        RETURN;
    END IF;

    IF idempotency_keys IS NOT NULL THEN
        SELECT array_agg(s.key) FILTER (WHERE s.at > now_at - interval '24 hours'),
            coalesce(bool_or(s.at <= now_at - interval '24 hours'), false)
        INTO stored_keys, has_old_keys
        FROM {schema}.idempotency s WHERE s.account_id = charge_batch.account_id AND s.key = ANY(idempotency_keys);
    END IF;
    entry.at := balance.at;
    entry.kind := 'charge';
    FOR i IN 1..cardinality(request_ids) LOOP
        -- a charge only takes, and takes what its domains say
        IF api_credits[i] < 0
            OR lead_credits[i] <> cardinality(string_to_array(E'\n' || domains[i], E'\nc ')) - 1
        THEN
            RAISE check_violation USING MESSAGE = 'not a charge', CONSTRAINT = 'ledger_row';
        END IF;
        place := i;
        lead := lead_credits[i];
        entry_seq := NULL;
        key_place := array_position(valid_keys, key_ids[i]);
        IF now_at > deadlines[i] THEN
            outcome := 'late';
        ELSIF idempotency_keys[i] = ANY(stored_keys) THEN
            outcome := 'kept';
        ELSIF key_place IS NULL THEN
            outcome := 'key';
        ELSIF NOT is_active THEN
            outcome := 'suspended';
        ELSIF lead > max_lead_credits[i] THEN
            outcome := 'max leads';
        ELSIF balance.api < api_credits[i] OR balance.lead < lead THEN
            outcome := 'credits';
        ELSE
            entry.operation := operations[i];
            entry.api := -api_credits[i];
            entry.lead := -lead;
            entry.actor_kind := CASE WHEN people[key_place] IS NULL THEN 'key' ELSE 'person' END;
            entry.actor_id := coalesce(people[key_place], key_ids[i])::text;
            entry.request_id := request_ids[i];
            entry.domains := domains[i];
            entry := {schema}.next_entry(entry, balance);
            balance.seq := entry.seq;
            balance.api := balance.api + entry.api;
            balance.lead := balance.lead + entry.lead;
            balance.head := entry.hash;
            entries := entries || entry;
            seqs[i] := entry.seq;
            stored_keys := stored_keys || idempotency_keys[i];
            outcome := 'charged';
            entry_seq := entry.seq;
        END IF;
        balance_api := balance.api;
        balance_lead := balance.lead;
        RETURN NEXT;
    END LOOP;
    IF entries IS NULL THEN
        RETURN;
    END IF;

    INSERT INTO {schema}.ledger SELECT * FROM unnest(entries);
    UPDATE {schema}.balances b
    SET api = balance.api, lead = balance.lead, seq = balance.seq, head = balance.head, at = balance.at
    WHERE b.account_id = charge_batch.account_id;
    INSERT INTO {schema}.usage_days AS d
    SELECT c.key_id, (now_at AT TIME ZONE 'UTC')::date, c.operation::{schema}.entry_operation,
        count(*), sum(c.api)::bigint, sum(c.lead)::bigint
    FROM unnest(key_ids, operations, api_credits, lead_credits, seqs) c(key_id, operation, api, lead, seq)
    WHERE c.seq IS NOT NULL GROUP BY c.key_id, c.operation
    ON CONFLICT ON CONSTRAINT usage_days_pkey
    DO UPDATE SET requests = d.requests + excluded.requests, api = d.api + excluded.api, lead = d.lead + excluded.lead;
    IF idempotency_keys IS NOT NULL THEN
        IF has_old_keys THEN
            DELETE FROM {schema}.idempotency s USING unnest(idempotency_keys, seqs) c(key, seq)
            WHERE s.account_id = charge_batch.account_id AND s.key = c.key AND c.seq IS NOT NULL;
        END IF;
        INSERT INTO {schema}.idempotency (account_id, key, fingerprint, at, seq, slot, entry_at)
        SELECT charge_batch.account_id, c.key, c.fingerprint, now_at, c.seq, {schema}.answer_slot(now_at), entry.at
        FROM unnest(idempotency_keys, fingerprints, seqs) c(key, fingerprint, seq)
        WHERE c.key IS NOT NULL AND c.seq IS NOT NULL;
        INSERT INTO {schema}.answers
        SELECT {schema}.answer_slot(now_at), charge_batch.account_id, c.seq, now_at, c.headers, c.body
        FROM unnest(idempotency_keys, answer_headers, answer_bodies, seqs, api_credits, lead_credits)
            c(key, headers, body, seq, api, lead)
        WHERE c.key IS NOT NULL AND c.seq IS NOT NULL AND (c.api > 0 OR c.lead > 0 OR starts_with(c.key, 'job '));
    END IF;
END
$$;
