-- Charges an account for what people get in the browser, as `charge_batch` charges for what keys get. A lead that the
-- account received within `free_hours` is free, whatever the plan says. Its line becomes `p`, so a free repeat never
-- extends the time.
--
-- What was received is read from the ledger with the balance locked. So people who get the same leads at the same time
-- pay for each once. Outcome `listed`: too much of the ledger is unread; nothing is written.
--
-- `without_address` has, for each request, the leads that take a credit although they have no address; one per line.
CREATE OR REPLACE FUNCTION {schema}.charge_people(
    account_id bigint, key_ids bigint[], operations text[], api_credits bigint[], lead_credits bigint[],
    request_ids text[], domains text[], deadlines timestamptz[], max_lead_credits bigint[],
    idempotency_keys text[], fingerprints bytea[], answer_headers text[], answer_bodies bytea[],
    exclude_lists text[], only_lists text[], max_rows integer, without_address text[], free_hours integer
) RETURNS TABLE (
    place integer, outcome text, entry_seq bigint, lead bigint, balance_api bigint, balance_lead bigint, cap_left bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
DECLARE
    -- when the first caller whose charge was made stops waiting: all wait for the last charge of the batch
    earliest timestamptz := 'infinity';
    unread bigint;
    leads text[];
    free text[];
    marked text;
BEGIN
    PERFORM set_config('lock_timeout', greatest(1,
        extract(epoch FROM deadlines[cardinality(deadlines)] - clock_timestamp()) * 1000)::integer::text, true);
    PERFORM {schema}.open_balance(charge_people.account_id);
    FOR i IN 1..cardinality(request_ids) LOOP
        place := i;
        entry_seq := NULL;
        SELECT c.behind INTO unread FROM {schema}.catch_up_received(charge_people.account_id, max_rows) c;
        IF unread > 0 THEN
            outcome := 'listed';
            RETURN NEXT;
            CONTINUE;
        END IF;
        -- a key of the API that came here would get nothing free
        leads := ARRAY(
            SELECT substr(line, 3) FROM unnest(string_to_array(domains[i], E'\n')) line
            WHERE starts_with(line, 'c ') AND EXISTS (
                SELECT FROM {schema}.keys k
                WHERE k.id = key_ids[i] AND k.account_id = charge_people.account_id AND k.person_id IS NOT NULL
            )
        );
        free := {schema}.received_before(charge_people.account_id, leads, ARRAY(
            SELECT wanted.domain <> ALL(string_to_array(without_address[i], E'\n'))
            FROM unnest(leads) WITH ORDINALITY AS wanted(domain, number) ORDER BY wanted.number
        ), free_hours);
        marked := domains[i];
        IF cardinality(free) > 0 THEN
            marked := (
                SELECT string_agg(
                    CASE WHEN starts_with(line, 'c ') AND substr(line, 3) = ANY(free)
                        THEN 'p' || substr(line, 2) ELSE line END,
                    E'\n' ORDER BY number)
                FROM unnest(string_to_array(domains[i], E'\n')) WITH ORDINALITY AS l(line, number)
            );
        END IF;
        SELECT c.outcome, c.entry_seq, c.lead, c.balance_api, c.balance_lead, c.cap_left
        INTO outcome, entry_seq, lead, balance_api, balance_lead, cap_left
        FROM {schema}.charge_unlisted(charge_people.account_id, key_ids[i], operations[i], api_credits[i],
            lead_credits[i] - cardinality(free), request_ids[i], marked, least(deadlines[i], earliest),
            max_lead_credits[i], idempotency_keys[i], fingerprints[i], answer_headers[i], answer_bodies[i],
            coalesce(exclude_lists[i], '{}')::bigint[], coalesce(only_lists[i], '{}')::bigint[], max_rows) c;
        IF outcome = 'charged' THEN
            earliest := least(earliest, deadlines[i]);
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
