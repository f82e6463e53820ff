-- A database at revision 0008, the last one before the baseline: what the migrations of that release made, with two
-- accounts, a key, a grant that expires, charges, a kept answer, an expiry, a refund, an adjustment and a person.
-- pg_dump --inserts --no-owner of PostgreSQL 15, without its comments and with {schema} for the schema's name.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA {schema};

CREATE TYPE {schema}.actor_kind AS ENUM (
    'key',
    'person',
    'export',
    'operator'
);

CREATE TYPE {schema}.entry_kind AS ENUM (
    'grant',
    'charge',
    'refund',
    'expire',
    'adjust',
    'hold',
    'settle',
    'release'
);

CREATE TYPE {schema}.entry_operation AS ENUM (
    'search',
    'page',
    'enrich',
    'evidence',
    'export',
    'none'
);

CREATE TYPE {schema}.link_purpose AS ENUM (
    'reset',
    'invite'
);

CREATE TYPE {schema}.role AS ENUM (
    'viewer',
    'member',
    'owner'
);

CREATE TYPE {schema}.suppressed_kind AS ENUM (
    'domain',
    'email',
    'phone'
);

CREATE FUNCTION {schema}.adjust(p_account bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
BEGIN
    balance := {schema}.operate(p_account);
    entry_seq := {schema}.done_before(p_account, p_request);
    balance_api := balance.api;
    balance_lead := balance.lead;
    IF balance.account_id IS NULL THEN
        outcome := 'no account';
        RETURN;
    ELSIF entry_seq IS NOT NULL THEN
        outcome := 'done before';
        RETURN;
    ELSIF balance.api + p_api < 0 OR balance.lead + p_lead < 0 THEN
        outcome := 'credits';
        RETURN;
    END IF;
    IF balance.next_expiry IS NOT NULL THEN
        balance := {schema}.burn(balance, greatest(0, -p_api), greatest(0, -p_lead));
    END IF;
    entry.kind := 'adjust';
    entry.operation := 'none';
    entry.api := p_api;
    entry.lead := p_lead;
    balance := {schema}.operated(entry, balance, p_actor, p_request, jsonb_build_object('reason', p_reason));
    outcome := 'adjusted';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;

CREATE FUNCTION {schema}.answer_slot(p_at timestamp with time zone) RETURNS smallint
    LANGUAGE sql IMMUTABLE
    AS $$
SELECT (floor(extract(epoch FROM p_at) / 3600)::bigint % 32)::smallint
$$;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE {schema}.balances (
    account_id bigint NOT NULL,
    api bigint DEFAULT 0 NOT NULL,
    lead bigint DEFAULT 0 NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    head bytea DEFAULT decode(repeat('00'::text, 32), 'hex'::text) NOT NULL,
    at timestamp with time zone,
    next_expiry timestamp with time zone,
    CONSTRAINT balances_api_check CHECK (((api >= 0) AND (api <= '1000000000000000'::bigint))),
    CONSTRAINT balances_lead_check CHECK (((lead >= 0) AND (lead <= '1000000000000000'::bigint)))
)
WITH (fillfactor='20');

CREATE TABLE {schema}.ledger (
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind {schema}.entry_kind NOT NULL,
    operation {schema}.entry_operation NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    expires_at timestamp with time zone,
    refers_to bigint,
    actor_kind {schema}.actor_kind NOT NULL,
    actor_id text NOT NULL,
    request_id text NOT NULL,
    domains text NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL
);

CREATE FUNCTION {schema}.append_entry(entry {schema}.ledger, balance {schema}.balances) RETURNS {schema}.balances
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF length(entry.actor_id) NOT BETWEEN 1 AND 200 OR length(entry.request_id) NOT BETWEEN 1 AND 100
        OR strpos(entry.actor_id || entry.request_id, E'\n') > 0
        OR octet_length(entry.domains) > 262144 OR strpos(entry.domains, '@') > 0
        OR entry.refers_to > balance.seq OR (entry.expires_at IS NOT NULL AND entry.kind <> 'grant')
    THEN
        RAISE check_violation USING MESSAGE = 'not a ledger row', CONSTRAINT = 'ledger_row';
    END IF;
    balance.seq := balance.seq + 1;
    balance.api := balance.api + entry.api;
    balance.lead := balance.lead + entry.lead;
    balance.at := entry.at;
    entry.account_id := balance.account_id;
    entry.seq := balance.seq;
    entry.previous_hash := balance.head;
    entry.hash := {schema}.entry_hash(entry);
    balance.head := entry.hash;
    INSERT INTO {schema}.ledger VALUES (entry.*);
    UPDATE {schema}.balances
    SET api = balance.api, lead = balance.lead, seq = balance.seq, head = balance.head, at = balance.at
    WHERE account_id = balance.account_id;
    RETURN balance;
END
$$;

CREATE FUNCTION {schema}.burn(balance {schema}.balances, p_api bigint, p_lead bigint) RETURNS {schema}.balances
    LANGUAGE plpgsql
    AS $$
DECLARE
    part {schema}.expiring;
    taken_api bigint;
    taken_lead bigint;
BEGIN
    FOR part IN
        SELECT * FROM {schema}.expiring e WHERE e.account_id = balance.account_id ORDER BY e.expires_at, e.seq
    LOOP
        EXIT WHEN p_api = 0 AND p_lead = 0;
        taken_api := least(part.api, p_api);
        taken_lead := least(part.lead, p_lead);
        p_api := p_api - taken_api;
        p_lead := p_lead - taken_lead;
        IF part.api = taken_api AND part.lead = taken_lead THEN
            DELETE FROM {schema}.expiring e
            WHERE e.account_id = part.account_id AND e.expires_at = part.expires_at AND e.seq = part.seq;
        ELSIF taken_api > 0 OR taken_lead > 0 THEN
            UPDATE {schema}.expiring e SET api = part.api - taken_api, lead = part.lead - taken_lead
            WHERE e.account_id = part.account_id AND e.expires_at = part.expires_at AND e.seq = part.seq;
        END IF;
    END LOOP;
    RETURN {schema}.look_ahead(balance);
END
$$;

CREATE FUNCTION {schema}.charge(p_account bigint, p_key bigint, p_operation text, p_api bigint, p_lead bigint, p_request text, p_domains text, p_deadline timestamp with time zone, p_max_lead bigint DEFAULT NULL::bigint, p_keep_key text DEFAULT NULL::text, p_fingerprint bytea DEFAULT NULL::bytea, p_headers text DEFAULT NULL::text, p_body bytea DEFAULT NULL::bytea, OUT outcome text, OUT entry_seq bigint, OUT lead bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT cap_left bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
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
    IF p_api < 0 OR p_lead <> cardinality(string_to_array(E'\n' || p_domains, E'\nc ')) - 1 THEN
        RAISE check_violation USING MESSAGE = 'not a charge', CONSTRAINT = 'ledger_row';
    END IF;
    PERFORM set_config('lock_timeout',
        greatest(1, extract(epoch FROM p_deadline - clock_timestamp()) * 1000)::integer::text, true);
    balance := {schema}.open_balance(p_account);
    balance_api := balance.api;
    balance_lead := balance.lead;
    lead := p_lead;
    now_at := clock_timestamp();
    IF now_at > p_deadline THEN
        outcome := 'late';
        RETURN;
    END IF;
    entry.at := balance.at;
    today := (now_at AT TIME ZONE 'UTC')::date;

    IF p_keep_key IS NOT NULL THEN
        SELECT i.at INTO kept_at FROM {schema}.idempotency i WHERE i.account_id = p_account AND i.key = p_keep_key;
        IF kept_at > now_at - interval '24 hours' THEN
            outcome := 'kept';
            RETURN;
        END IF;
    END IF;

    SELECT least(k.daily_api_cap, p.daily_api_cap) AS api_cap, least(k.daily_lead_cap, p.daily_lead_cap) AS lead_cap,
        coalesce(k.family, k.id) AS family, make_interval(hours => p.rebill_after_hours) AS rebill_after
    INTO terms
    FROM {schema}.keys k JOIN {schema}.accounts a ON a.id = k.account_id JOIN {schema}.plans p ON p.name = a.plan
    WHERE k.id = p_key AND k.account_id = p_account
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now_at);
    IF NOT FOUND THEN
        outcome := 'key';
        RETURN;
    END IF;

    entry.domains := p_domains;
    IF terms.rebill_after IS NOT NULL AND p_lead > 0 THEN
        leads := ARRAY(
            SELECT substr(line, 3) FROM unnest(string_to_array(p_domains, E'\n')) line WHERE starts_with(line, 'c ')
        );
        paid_before := ARRAY(
            SELECT found.domain FROM unnest(leads) wanted CROSS JOIN LATERAL (
                SELECT p.domain FROM {schema}.paid p
                WHERE p.account_id = p_account AND p.domain = wanted AND p.at > now_at - terms.rebill_after LIMIT 1
            ) found
        );
        IF cardinality(paid_before) > 0 THEN
            lead := lead - cardinality(paid_before);
            entry.domains := (
                SELECT string_agg(
                    CASE WHEN starts_with(line, 'c ') AND substr(line, 3) = ANY(paid_before)
                        THEN 'p' || substr(line, 2) ELSE line END,
                    E'\n' ORDER BY place)
                FROM unnest(string_to_array(p_domains, E'\n')) WITH ORDINALITY AS l(line, place)
            );
        END IF;
    END IF;

    IF lead > p_max_lead THEN
        outcome := 'max leads';
        RETURN;
    END IF;
    IF terms.api_cap IS NOT NULL OR terms.lead_cap IS NOT NULL THEN
        SELECT coalesce(sum(d.api), 0) AS api, coalesce(sum(d.lead), 0) AS lead INTO spent
        FROM {schema}.keys k JOIN {schema}.usage_days d ON d.key_id = k.id AND d.day = today
        WHERE k.account_id = p_account AND coalesce(k.family, k.id) = terms.family;
        IF p_api > 0 AND spent.api + p_api > terms.api_cap THEN
            outcome := 'api cap';
            cap_left := greatest(0, terms.api_cap - spent.api);
            RETURN;
        ELSIF lead > 0 AND spent.lead + lead > terms.lead_cap THEN
            outcome := 'lead cap';
            cap_left := greatest(0, terms.lead_cap - spent.lead);
            RETURN;
        END IF;
    END IF;
    IF balance.api < p_api OR balance.lead < lead THEN
        outcome := 'credits';
        RETURN;
    END IF;

    INSERT INTO {schema}.usage_days AS d VALUES (p_key, today, p_operation::{schema}.entry_operation, 1, p_api, lead)
    ON CONFLICT (key_id, day, operation)
    DO UPDATE SET requests = d.requests + 1, api = d.api + excluded.api, lead = d.lead + excluded.lead;
    IF balance.next_expiry IS NOT NULL THEN
        balance := {schema}.burn(balance, p_api, lead);
    END IF;
    IF cardinality(leads) > cardinality(paid_before) THEN
        INSERT INTO {schema}.paid AS p
        SELECT p_account, domain, now_at, balance.seq + 1 FROM unnest(leads) domain WHERE domain <> ALL(paid_before)
        ON CONFLICT (account_id, domain) DO UPDATE SET at = excluded.at, seq = excluded.seq;
    END IF;
    IF p_keep_key IS NOT NULL THEN
        IF kept_at IS NOT NULL THEN
            DELETE FROM {schema}.idempotency i WHERE i.account_id = p_account AND i.key = p_keep_key;
        END IF;
        INSERT INTO {schema}.idempotency
        VALUES (p_account, p_keep_key, p_fingerprint, now_at, balance.seq + 1, {schema}.answer_slot(now_at));
        INSERT INTO {schema}.answers
        VALUES ({schema}.answer_slot(now_at), p_account, balance.seq + 1, now_at, p_headers, p_body);
    END IF;

    entry.kind := 'charge';
    entry.operation := p_operation;
    entry.api := -p_api;
    entry.lead := -lead;
    entry.actor_kind := 'key';
    entry.actor_id := p_key::text;
    entry.request_id := p_request;
    balance := {schema}.append_entry(entry, balance);
    outcome := 'charged';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;

CREATE FUNCTION {schema}.done_before(p_account bigint, p_request text) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
SELECT l.seq FROM {schema}.ledger l
WHERE l.account_id = p_account AND l.request_id = p_request AND l.actor_kind = 'operator'
    AND l.kind IN ('grant', 'refund', 'adjust')
$$;

CREATE FUNCTION {schema}.entry_hash(entry {schema}.ledger) RETURNS bytea
    LANGUAGE sql STABLE
    AS $$
SELECT sha256(entry.previous_hash || convert_to(concat_ws(E'\n',
    'siteglass ledger 1', entry.account_id, entry.seq, (extract(epoch FROM entry.at) * 1000000)::bigint,
    entry.kind, entry.operation, entry.api, entry.lead,
    coalesce((extract(epoch FROM entry.expires_at) * 1000000)::bigint::text, ''), coalesce(entry.refers_to::text, ''),
    entry.actor_kind, entry.actor_id, entry.request_id, entry.domains
), 'UTF8'))
$$;

CREATE FUNCTION {schema}.expire_credits(p_accounts integer, OUT accounts integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    due bigint;
BEGIN
    accounts := 0;
    FOR due IN
        SELECT b.account_id FROM {schema}.balances b WHERE b.next_expiry <= clock_timestamp() LIMIT p_accounts
        FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        PERFORM {schema}.open_balance(due);
        accounts := accounts + 1;
    END LOOP;
END
$$;

CREATE FUNCTION {schema}.forget_answers(p_slot integer, OUT emptied boolean) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    slot_table text := '{schema}.answers_' || p_slot;
    old text := 'SELECT coalesce(max(at) < clock_timestamp() - interval ''24 hours'', false) FROM ' || slot_table;
BEGIN
    EXECUTE old INTO emptied;
    IF emptied THEN
        PERFORM set_config('lock_timeout', '50', true);
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', slot_table);
        EXECUTE old INTO emptied;
    END IF;
    IF emptied THEN
        EXECUTE format('TRUNCATE %s', slot_table);
    END IF;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    emptied := false;
END
$$;

CREATE FUNCTION {schema}.forget_keys(p_keys integer, OUT forgotten integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    DELETE FROM {schema}.idempotency WHERE ctid = ANY(ARRAY(
        SELECT i.ctid FROM {schema}.idempotency i WHERE i.at < clock_timestamp() - interval '25 hours'
        LIMIT p_keys FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
END
$$;

CREATE FUNCTION {schema}.grant_credits(p_account bigint, p_api bigint, p_lead bigint, p_expires timestamp with time zone, p_actor text, p_request text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
BEGIN
    balance := {schema}.operate(p_account);
    entry_seq := {schema}.done_before(p_account, p_request);
    balance_api := balance.api;
    balance_lead := balance.lead;
    IF balance.account_id IS NULL THEN
        outcome := 'no account';
        RETURN;
    ELSIF entry_seq IS NOT NULL THEN
        outcome := 'done before';
        RETURN;
    ELSIF p_expires <= clock_timestamp() THEN
        outcome := 'expired';
        RETURN;
    ELSIF p_api < 0 OR p_lead < 0 THEN
        RAISE check_violation USING MESSAGE = 'not a grant', CONSTRAINT = 'ledger_row';
    END IF;
    entry.kind := 'grant';
    entry.operation := 'none';
    entry.api := p_api;
    entry.lead := p_lead;
    entry.expires_at := p_expires;
    balance := {schema}.operated(entry, balance, p_actor, p_request,
        jsonb_build_object('expires_at', p_expires, 'reference', p_request));
    IF p_expires IS NOT NULL THEN
        INSERT INTO {schema}.expiring VALUES (p_account, p_expires, balance.seq, p_api, p_lead);
        balance := {schema}.look_ahead(balance);
    END IF;
    outcome := 'granted';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;

CREATE FUNCTION {schema}.has_bought(p_account bigint, p_domain text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
SELECT EXISTS (
    SELECT FROM {schema}.bought b JOIN {schema}.ledger l ON l.account_id = b.account_id AND l.seq = b.seq
    WHERE b.account_id = p_account AND b.domain = p_domain
        AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
            WHERE r.account_id = p_account AND r.refers_to = b.seq AND r.kind = 'refund'), 0) < -l.lead
)
$$;

CREATE FUNCTION {schema}.look_ahead(balance {schema}.balances) RETURNS {schema}.balances
    LANGUAGE plpgsql
    AS $$
DECLARE
    first timestamptz := (SELECT min(e.expires_at) FROM {schema}.expiring e WHERE e.account_id = balance.account_id);
BEGIN
    IF first IS DISTINCT FROM balance.next_expiry THEN
        balance.next_expiry := first;
        UPDATE {schema}.balances SET next_expiry = first WHERE account_id = balance.account_id;
    END IF;
    RETURN balance;
END
$$;

CREATE FUNCTION {schema}.open_balance(p_account bigint) RETURNS {schema}.balances
    LANGUAGE plpgsql
    AS $$
DECLARE
    balance {schema}.balances;
    part {schema}.expiring;
    entry {schema}.ledger;
BEGIN
    SELECT * INTO balance FROM {schema}.balances b WHERE b.account_id = p_account FOR NO KEY UPDATE;
    -- Times of the ledger never go back. What ends by time (credits, days, keys) goes by the clock itself, so that one
    -- that was wrong for a moment does no lasting harm.
    balance.at := greatest(balance.at, clock_timestamp());
    IF balance.next_expiry <= clock_timestamp() THEN
        entry.at := balance.at;
        entry.kind := 'expire';
        entry.operation := 'none';
        entry.actor_kind := 'operator';
        entry.actor_id := 'expiry';
        entry.request_id := 'expiry';
        entry.domains := '';
        FOR part IN
            DELETE FROM {schema}.expiring e WHERE e.account_id = p_account AND e.expires_at <= clock_timestamp()
            RETURNING *
        LOOP
            entry.api := -part.api;
            entry.lead := -part.lead;
            entry.refers_to := part.seq;
            balance := {schema}.append_entry(entry, balance);
        END LOOP;
        balance := {schema}.look_ahead(balance);
    END IF;
    RETURN balance;
END
$$;

CREATE FUNCTION {schema}.operate(p_account bigint) RETURNS {schema}.balances
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM set_config('lock_timeout', '2000', true);
    RETURN {schema}.open_balance(p_account);
END
$$;

CREATE FUNCTION {schema}.operated(entry {schema}.ledger, balance {schema}.balances, p_actor text, p_request text, p_details jsonb) RETURNS {schema}.balances
    LANGUAGE plpgsql
    AS $$
BEGIN
    entry.at := balance.at;
    entry.actor_kind := 'operator';
    entry.actor_id := p_actor;
    entry.request_id := p_request;
    entry.domains := '';
    balance := {schema}.append_entry(entry, balance);
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, entry_seq, details)
    VALUES ('operator', p_actor, 'credits.' || entry.kind, balance.account_id, balance.seq,
        jsonb_build_object('api', entry.api, 'lead', entry.lead) || p_details);
    RETURN balance;
END
$$;

CREATE FUNCTION {schema}.paid_for(p_account bigint, p_domain text, p_rows integer, OUT paid boolean, OUT behind bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    since bigint;
    until bigint;
    newest bigint;
BEGIN
    behind := 0;
    paid := {schema}.has_bought(p_account, p_domain);
    IF paid THEN
        RETURN;
    END IF;
    INSERT INTO {schema}.bought_until VALUES (p_account, 0) ON CONFLICT DO NOTHING;
    SELECT u.seq INTO since FROM {schema}.bought_until u WHERE u.account_id = p_account FOR UPDATE;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = p_account;
    until := least(newest, since + p_rows);
    IF until > since THEN
        INSERT INTO {schema}.bought
        SELECT DISTINCT p_account, substr(line, 3), l.seq
        FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
        WHERE l.account_id = p_account AND l.seq > since AND l.seq <= until AND l.kind = 'charge'
            AND starts_with(line, 'c ')
        ON CONFLICT DO NOTHING;
        UPDATE {schema}.bought_until u SET seq = until WHERE u.account_id = p_account;
    END IF;
    behind := newest - until;
    paid := {schema}.has_bought(p_account, p_domain);
END
$$;

CREATE FUNCTION {schema}.refund(p_account bigint, p_seq bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT left_api bigint, OUT left_lead bigint) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
    charge {schema}.ledger;
BEGIN
    balance := {schema}.operate(p_account);
    entry_seq := {schema}.done_before(p_account, p_request);
    IF entry_seq IS NOT NULL THEN
        outcome := 'done before';
        RETURN;
    END IF;
    SELECT * INTO charge FROM {schema}.ledger l WHERE l.account_id = p_account AND l.seq = p_seq AND l.kind = 'charge';
    IF NOT FOUND THEN
        outcome := 'no charge';
        RETURN;
    END IF;
    SELECT -charge.api - coalesce(sum(l.api), 0), -charge.lead - coalesce(sum(l.lead), 0) INTO left_api, left_lead
    FROM {schema}.ledger l WHERE l.account_id = p_account AND l.refers_to = p_seq AND l.kind = 'refund';
    IF p_api IS NULL AND p_lead IS NULL THEN
        entry.api := left_api;
        entry.lead := left_lead;
    ELSE
        entry.api := coalesce(p_api, 0);
        entry.lead := coalesce(p_lead, 0);
    END IF;
    IF entry.api NOT BETWEEN 0 AND left_api OR entry.lead NOT BETWEEN 0 AND left_lead OR entry.api + entry.lead = 0 THEN
        outcome := 'too much';
        RETURN;
    END IF;
    entry.kind := 'refund';
    entry.operation := charge.operation;
    entry.refers_to := p_seq;
    balance := {schema}.operated(entry, balance, p_actor, p_request,
        jsonb_build_object('charge', p_seq, 'reason', p_reason));
    left_api := left_api - entry.api;
    left_lead := left_lead - entry.lead;
    IF left_lead = 0 THEN
        DELETE FROM {schema}.paid p WHERE p.account_id = p_account AND p.seq = p_seq AND p.domain = ANY(ARRAY(
            SELECT substr(line, 3) FROM unnest(string_to_array(charge.domains, E'\n')) line
            WHERE starts_with(line, 'c ')
        ));
    END IF;
    outcome := 'refunded';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;

CREATE FUNCTION {schema}.refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'the % is never changed: write a new row that corrects it', TG_TABLE_NAME;
END
$$;

CREATE FUNCTION {schema}.remember_paid(p_account bigint, p_hours integer, p_after bigint, OUT last_seq bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    IF p_after IS NOT NULL THEN
        PERFORM {schema}.open_balance(p_account);
    END IF;
    SELECT b.seq INTO last_seq FROM {schema}.balances b WHERE b.account_id = p_account;
    INSERT INTO {schema}.paid AS p
    SELECT DISTINCT ON (line) p_account, substr(line, 3), l.at, l.seq
    FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
    WHERE l.account_id = p_account AND l.seq > coalesce(p_after, 0) AND l.seq <= last_seq AND l.kind = 'charge'
        AND l.at > clock_timestamp() - make_interval(hours => p_hours) AND starts_with(line, 'c ')
        AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
            WHERE r.account_id = p_account AND r.refers_to = l.seq AND r.kind = 'refund'), 0) < -l.lead
    ORDER BY line, l.seq DESC
    ON CONFLICT (account_id, domain) DO UPDATE SET at = excluded.at, seq = excluded.seq WHERE p.at < excluded.at;
END
$$;

CREATE TABLE {schema}.accounts (
    id bigint NOT NULL,
    name text NOT NULL,
    plan text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT accounts_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);

ALTER TABLE {schema}.accounts ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME {schema}.accounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE {schema}.alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE {schema}.answers (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
)
PARTITION BY LIST (slot);
ALTER TABLE ONLY {schema}.answers ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_0 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_0 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_1 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_1 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_10 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_10 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_11 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_11 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_12 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_12 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_13 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_13 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_14 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_14 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_15 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_15 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_16 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_16 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_17 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_17 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_18 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_18 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_19 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_19 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_2 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_2 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_20 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_20 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_21 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_21 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_22 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_22 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_23 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_23 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_24 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_24 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_25 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_25 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_26 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_26 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_27 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_27 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_28 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_28 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_29 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_29 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_3 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_3 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_30 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_30 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_31 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_31 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_4 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_4 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_5 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_5 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_6 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_6 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_7 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_7 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_8 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_8 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.answers_9 (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    headers text NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY {schema}.answers_9 ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE {schema}.audit (
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    actor_kind {schema}.actor_kind NOT NULL,
    actor_id text NOT NULL,
    action text NOT NULL,
    account_id bigint,
    key_id bigint,
    entry_seq bigint,
    details jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT audit_action_check CHECK ((action ~ '^[a-z]+\.[a-z_]+$'::text)),
    CONSTRAINT audit_actor_id_check CHECK (((length(actor_id) >= 1) AND (length(actor_id) <= 200))),
    CONSTRAINT audit_details_check CHECK ((length((details)::text) <= 10000))
);

ALTER TABLE {schema}.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME {schema}.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE {schema}.balance_alerts (
    account_id bigint NOT NULL,
    api_below bigint,
    lead_below bigint,
    claimed_at timestamp with time zone,
    api_mailed_at timestamp with time zone,
    lead_mailed_at timestamp with time zone,
    CONSTRAINT balance_alerts_api_below_check CHECK ((api_below > 0)),
    CONSTRAINT balance_alerts_lead_below_check CHECK ((lead_below > 0))
);

CREATE TABLE {schema}.bought (
    account_id bigint NOT NULL,
    domain text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);

CREATE TABLE {schema}.bought_until (
    account_id bigint NOT NULL,
    seq bigint NOT NULL
);

CREATE TABLE {schema}.expiring (
    account_id bigint NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    seq bigint NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE {schema}.idempotency (
    account_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint bytea NOT NULL,
    at timestamp with time zone NOT NULL,
    seq bigint NOT NULL,
    slot smallint NOT NULL
);

CREATE TABLE {schema}.keys (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    secret_version text NOT NULL,
    shown_start text NOT NULL,
    shown_end text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    daily_api_cap bigint,
    daily_lead_cap bigint,
    rate_per_s double precision,
    burst integer,
    family bigint,
    last_used_at timestamp with time zone,
    allowed_networks cidr[],
    test boolean DEFAULT false NOT NULL,
    CONSTRAINT keys_allowed_networks_check CHECK (((cardinality(allowed_networks) >= 1) AND (cardinality(allowed_networks) <= 100))),
    CONSTRAINT keys_burst_check CHECK (((burst >= 1) AND (burst <= 1000000))),
    CONSTRAINT keys_check CHECK (((rate_per_s IS NULL) = (burst IS NULL))),
    CONSTRAINT keys_daily_api_cap_check CHECK ((daily_api_cap >= 0)),
    CONSTRAINT keys_daily_lead_cap_check CHECK ((daily_lead_cap >= 0)),
    CONSTRAINT keys_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT keys_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT keys_rate_per_s_check CHECK (((rate_per_s > (0)::double precision) AND (rate_per_s <= (1000000)::double precision))),
    CONSTRAINT keys_scopes_check CHECK (((scopes <@ ARRAY['search'::text, 'enrich'::text, 'account'::text]) AND ((cardinality(scopes) >= 1) AND (cardinality(scopes) <= 3)))),
    CONSTRAINT keys_secret_version_check CHECK ((length(secret_version) = 8)),
    CONSTRAINT keys_shown_end_check CHECK ((length(shown_end) = 4)),
    CONSTRAINT keys_shown_start_check CHECK ((length(shown_start) <= 12))
);

ALTER TABLE {schema}.keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME {schema}.keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE {schema}.links (
    digest bytea NOT NULL,
    id bigint NOT NULL,
    purpose {schema}.link_purpose NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    account_id bigint,
    role {schema}.role,
    invited_by bigint,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT links_check CHECK (((purpose = 'invite'::{schema}.link_purpose) = ((account_id IS NOT NULL) AND (role IS NOT NULL)))),
    CONSTRAINT links_digest_check CHECK ((octet_length(digest) = 32)),
    CONSTRAINT links_email_check CHECK (((length(email) >= 3) AND (length(email) <= 254)))
);

ALTER TABLE {schema}.links ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME {schema}.links_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE {schema}.members (
    account_id bigint NOT NULL,
    person_id bigint NOT NULL,
    role {schema}.role NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE {schema}.paid (
    account_id bigint NOT NULL,
    domain text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone NOT NULL,
    seq bigint NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE {schema}.people (
    id bigint NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    password text NOT NULL,
    totp bytea,
    totp_step bigint DEFAULT 0 NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT people_email_check CHECK (((length(email) >= 3) AND (length(email) <= 254))),
    CONSTRAINT people_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);

ALTER TABLE {schema}.people ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME {schema}.people_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE {schema}.plans (
    name text NOT NULL,
    rate_per_s double precision NOT NULL,
    burst integer NOT NULL,
    daily_api_cap bigint,
    daily_lead_cap bigint,
    api_price_micros bigint DEFAULT 0 NOT NULL,
    lead_price_micros bigint DEFAULT 0 NOT NULL,
    currency text DEFAULT 'USD'::text NOT NULL,
    rebill_after_hours integer,
    CONSTRAINT plans_api_price_micros_check CHECK ((api_price_micros >= 0)),
    CONSTRAINT plans_burst_check CHECK (((burst >= 1) AND (burst <= 1000000))),
    CONSTRAINT plans_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT plans_daily_api_cap_check CHECK ((daily_api_cap >= 0)),
    CONSTRAINT plans_daily_lead_cap_check CHECK ((daily_lead_cap >= 0)),
    CONSTRAINT plans_lead_price_micros_check CHECK ((lead_price_micros >= 0)),
    CONSTRAINT plans_name_check CHECK ((name ~ '^[a-z][a-z0-9_-]{0,39}$'::text)),
    CONSTRAINT plans_rate_per_s_check CHECK (((rate_per_s > (0)::double precision) AND (rate_per_s <= (1000000)::double precision))),
    CONSTRAINT plans_rebill_after_hours_check CHECK ((rebill_after_hours > 0))
);

CREATE TABLE {schema}.recovery_codes (
    person_id bigint NOT NULL,
    digest bytea NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT recovery_codes_digest_check CHECK ((octet_length(digest) = 32))
);

CREATE TABLE {schema}.request_days (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    requests bigint NOT NULL,
    CONSTRAINT request_days_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'refused'::text, 'limited'::text, 'failed'::text])))
)
WITH (fillfactor='50');

CREATE TABLE {schema}.sessions (
    digest bytea NOT NULL,
    id bigint NOT NULL,
    person_id bigint NOT NULL,
    account_id bigint NOT NULL,
    made_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    proven_at timestamp with time zone NOT NULL,
    agent text NOT NULL,
    address text NOT NULL,
    CONSTRAINT sessions_address_check CHECK ((length(address) <= 50)),
    CONSTRAINT sessions_agent_check CHECK ((length(agent) <= 300)),
    CONSTRAINT sessions_digest_check CHECK ((octet_length(digest) = 32))
)
WITH (fillfactor='70');

ALTER TABLE {schema}.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME {schema}.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE {schema}.suppressed (
    kind {schema}.suppressed_kind NOT NULL,
    value bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    audit_id bigint NOT NULL,
    tried_at timestamp with time zone,
    settled_at timestamp with time zone,
    CONSTRAINT suppressed_value_check CHECK (((octet_length(value) >= 1) AND (octet_length(value) <= 253)))
);

CREATE TABLE {schema}.suppressed_leads (
    domain text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    written_by xid8 DEFAULT pg_current_xact_id() NOT NULL
);

CREATE TABLE {schema}.suppression_secret (
    one boolean DEFAULT true NOT NULL,
    proof bytea NOT NULL,
    CONSTRAINT suppression_secret_one_check CHECK (one)
);

CREATE TABLE {schema}.tries (
    bucket bytea NOT NULL,
    times timestamp with time zone[] NOT NULL,
    last_at timestamp with time zone NOT NULL,
    CONSTRAINT tries_bucket_check CHECK ((octet_length(bucket) = 32))
)
WITH (fillfactor='70');

CREATE TABLE {schema}.usage_days (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation {schema}.entry_operation NOT NULL,
    requests bigint NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_0 FOR VALUES IN ('0');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_1 FOR VALUES IN ('1');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_10 FOR VALUES IN ('10');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_11 FOR VALUES IN ('11');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_12 FOR VALUES IN ('12');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_13 FOR VALUES IN ('13');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_14 FOR VALUES IN ('14');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_15 FOR VALUES IN ('15');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_16 FOR VALUES IN ('16');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_17 FOR VALUES IN ('17');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_18 FOR VALUES IN ('18');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_19 FOR VALUES IN ('19');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_2 FOR VALUES IN ('2');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_20 FOR VALUES IN ('20');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_21 FOR VALUES IN ('21');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_22 FOR VALUES IN ('22');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_23 FOR VALUES IN ('23');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_24 FOR VALUES IN ('24');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_25 FOR VALUES IN ('25');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_26 FOR VALUES IN ('26');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_27 FOR VALUES IN ('27');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_28 FOR VALUES IN ('28');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_29 FOR VALUES IN ('29');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_3 FOR VALUES IN ('3');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_30 FOR VALUES IN ('30');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_31 FOR VALUES IN ('31');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_4 FOR VALUES IN ('4');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_5 FOR VALUES IN ('5');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_6 FOR VALUES IN ('6');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_7 FOR VALUES IN ('7');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_8 FOR VALUES IN ('8');

ALTER TABLE ONLY {schema}.answers ATTACH PARTITION {schema}.answers_9 FOR VALUES IN ('9');

INSERT INTO {schema}.accounts OVERRIDING SYSTEM VALUE VALUES (1, 'First account', 'once', '2026-11-16 07:54:50.874034+00');
INSERT INTO {schema}.accounts OVERRIDING SYSTEM VALUE VALUES (2, 'Second account', 'standard', '2026-11-16 07:54:50.893313+00');

INSERT INTO {schema}.alembic_version VALUES ('0008');

INSERT INTO {schema}.answers_31 VALUES (31, 1, 5, '2026-11-16 07:54:51.042111+00', '{}', '\x7801ab56ca494d4c2956b28a8ead05001b5b0438');

INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (1, '2026-11-16 07:54:50.869643+00', 'operator', 'tests', 'plan.set', NULL, NULL, NULL, '{"name": "once", "burst": 20, "currency": "USD", "rate_per_s": 10, "daily_api_cap": null, "daily_lead_cap": null, "api_price_micros": 0, "lead_price_micros": 0, "rebill_after_hours": 24}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (2, '2026-11-16 07:54:50.875529+00', 'operator', 'tests', 'account.create', 1, NULL, NULL, '{"plan": "once"}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (3, '2026-11-16 07:54:50.893731+00', 'operator', 'tests', 'account.create', 2, NULL, NULL, '{"plan": "standard"}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (4, '2026-11-16 07:54:50.929159+00', 'operator', 'tests', 'credits.grant', 1, NULL, 1, '{"api": 10, "lead": 100, "reference": "grant 1", "expires_at": null}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (5, '2026-11-16 07:54:50.938645+00', 'operator', 'tests', 'credits.grant', 1, NULL, 2, '{"api": 0, "lead": 5, "reference": "grant 2", "expires_at": "2026-11-16T07:54:52.937204+00:00"}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (6, '2026-11-16 07:54:50.950441+00', 'operator', 'tests', 'credits.grant', 1, NULL, 3, '{"api": 3, "lead": 7, "reference": "grant 3", "expires_at": "2100-01-01T00:00:00+00:00"}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (7, '2026-11-16 07:54:50.952558+00', 'operator', 'tests', 'credits.grant', 2, NULL, 1, '{"api": 1, "lead": 1, "reference": "grant 4", "expires_at": null}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (8, '2026-11-16 07:54:50.998687+00', 'operator', 'tests', 'key.create', 1, 1, NULL, '{"scopes": ["account", "enrich", "search"], "daily_lead_cap": 50}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (9, '2026-11-16 07:54:53.287007+00', 'operator', 'tests', 'credits.refund', 1, NULL, 7, '{"api": 1, "lead": 1, "charge": 5, "reason": "wrong lead"}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (10, '2026-11-16 07:54:53.301969+00', 'operator', 'tests', 'credits.adjust', 1, NULL, 8, '{"api": -1, "lead": 2, "reason": "by hand"}');
INSERT INTO {schema}.audit OVERRIDING SYSTEM VALUE VALUES (11, '2026-11-16 07:54:53.345364+00', 'person', '1', 'person.join', 1, NULL, NULL, '{"role": "owner"}');

INSERT INTO {schema}.balances VALUES (2, 1, 1, 1, '\xf184bc3d410a0e0f1a09983be47c674eb6c9ec982e48451e31283c266df7da05', '2026-11-16 07:54:50.951945+00', NULL);
INSERT INTO {schema}.balances VALUES (1, 12, 110, 8, '\xed497e81f6264a2db9aa77cac163c8554fc1759a230e1673f6b97e4aa9023ecc', '2026-11-16 07:54:53.300377+00', '2100-01-01 00:00:00+00');

INSERT INTO {schema}.bought VALUES (1, 'a.example', 4);
INSERT INTO {schema}.bought VALUES (1, 'b.example', 4);
INSERT INTO {schema}.bought VALUES (1, 'd.example', 5);

INSERT INTO {schema}.bought_until VALUES (1, 8);

INSERT INTO {schema}.expiring VALUES (1, '2100-01-01 00:00:00+00', 3, 1, 7);

INSERT INTO {schema}.idempotency VALUES (1, 'retry-1', '\x0000000000000000000000000000000000000000000000000000000000000000', '2026-11-16 07:54:51.042111+00', 5, 31);

INSERT INTO {schema}.keys OVERRIDING SYSTEM VALUE VALUES (1, 1, 'production', '\xe0e620882f05fed2ecc2e4ade977eb8a593629a06866cd7d65476fe1a2c1b272', '439801c4', 'sg_live_gj1N', '0vgp', '{account,enrich,search}', '2026-11-16 07:54:50.997577+00', NULL, NULL, NULL, 50, NULL, NULL, NULL, NULL, NULL, false);

INSERT INTO {schema}.ledger VALUES (1, 1, '2026-11-16 07:54:50.903222+00', 'grant', 'none', 10, 100, NULL, NULL, 'operator', 'tests', 'grant 1', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xe190fe9647417ab60469dd088cbf952fc0dec238469128d64a9e4a081cf7f02d');
INSERT INTO {schema}.ledger VALUES (1, 2, '2026-11-16 07:54:50.937835+00', 'grant', 'none', 0, 5, '2026-11-16 07:54:52.937204+00', NULL, 'operator', 'tests', 'grant 2', '', '\xe190fe9647417ab60469dd088cbf952fc0dec238469128d64a9e4a081cf7f02d', '\x4eac3d5d92728bbf1acb35df6e988279d0f1becd0696a5c926703e1f4315d692');
INSERT INTO {schema}.ledger VALUES (1, 3, '2026-11-16 07:54:50.94966+00', 'grant', 'none', 3, 7, '2100-01-01 00:00:00+00', NULL, 'operator', 'tests', 'grant 3', '', '\x4eac3d5d92728bbf1acb35df6e988279d0f1becd0696a5c926703e1f4315d692', '\xbf52431d6cfef73efbf0a9f7cacac054fca5a4a0da791c7b3e9c75ae8f68d308');
INSERT INTO {schema}.ledger VALUES (2, 1, '2026-11-16 07:54:50.951945+00', 'grant', 'none', 1, 1, NULL, NULL, 'operator', 'tests', 'grant 4', '', '\x0000000000000000000000000000000000000000000000000000000000000000', '\xf184bc3d410a0e0f1a09983be47c674eb6c9ec982e48451e31283c266df7da05');
INSERT INTO {schema}.ledger VALUES (1, 4, '2026-11-16 07:54:51.024639+00', 'charge', 'search', 0, -2, NULL, NULL, 'key', '1', 'request-1', 'c a.example
c b.example
n c.example', '\xbf52431d6cfef73efbf0a9f7cacac054fca5a4a0da791c7b3e9c75ae8f68d308', '\x61995893ed245dde462d814388a01f75dd9e2ce867cf23d37c25a907b68ace5c');
INSERT INTO {schema}.ledger VALUES (1, 5, '2026-11-16 07:54:51.042101+00', 'charge', 'enrich', -1, -1, NULL, NULL, 'key', '1', 'request-2', 'p b.example
c d.example', '\x61995893ed245dde462d814388a01f75dd9e2ce867cf23d37c25a907b68ace5c', '\x2930de7100b0b9d0d4b32cea5b967af48871d00f897ecfb8a72d7dff87d01826');
INSERT INTO {schema}.ledger VALUES (1, 6, '2026-11-16 07:54:53.264791+00', 'expire', 'none', 0, -2, NULL, 2, 'operator', 'expiry', 'expiry', '', '\x2930de7100b0b9d0d4b32cea5b967af48871d00f897ecfb8a72d7dff87d01826', '\x6232dc209b418fb2c00f4aecb02f9352ede3c31795678e69d65e78409731b315');
INSERT INTO {schema}.ledger VALUES (1, 7, '2026-11-16 07:54:53.285436+00', 'refund', 'enrich', 1, 1, NULL, 5, 'operator', 'tests', 'ticket 1', '', '\x6232dc209b418fb2c00f4aecb02f9352ede3c31795678e69d65e78409731b315', '\x432e13fe9878a9090389e2a6fdebb08a7947d288f702368c52db84e5476baee7');
INSERT INTO {schema}.ledger VALUES (1, 8, '2026-11-16 07:54:53.300377+00', 'adjust', 'none', -1, 2, NULL, NULL, 'operator', 'tests', 'ticket 2', '', '\x432e13fe9878a9090389e2a6fdebb08a7947d288f702368c52db84e5476baee7', '\xed497e81f6264a2db9aa77cac163c8554fc1759a230e1673f6b97e4aa9023ecc');

INSERT INTO {schema}.members VALUES (1, 1, 'owner', '2026-11-16 07:54:53.341366+00');

INSERT INTO {schema}.paid VALUES (1, 'a.example', '2026-11-16 07:54:51.024715+00', 4);
INSERT INTO {schema}.paid VALUES (1, 'b.example', '2026-11-16 07:54:51.024715+00', 4);

INSERT INTO {schema}.people OVERRIDING SYSTEM VALUE VALUES (1, 'owner@example.com', 'An Owner', '$argon2id$not-a-real-hash', NULL, 0, '2026-11-16 07:54:53.341366+00');

INSERT INTO {schema}.plans VALUES ('standard', 10, 20, NULL, NULL, 0, 0, 'USD', NULL);
INSERT INTO {schema}.plans VALUES ('demo', 1000, 2000, NULL, NULL, 0, 0, 'USD', NULL);
INSERT INTO {schema}.plans VALUES ('once', 10, 20, NULL, NULL, 0, 0, 'USD', 24);

INSERT INTO {schema}.usage_days VALUES (1, '2026-11-16', 'search', 1, 0, 2);
INSERT INTO {schema}.usage_days VALUES (1, '2026-11-16', 'enrich', 1, 1, 1);

SELECT pg_catalog.setval('{schema}.accounts_id_seq', 2, true);

SELECT pg_catalog.setval('{schema}.audit_id_seq', 11, true);

SELECT pg_catalog.setval('{schema}.keys_id_seq', 1, true);

SELECT pg_catalog.setval('{schema}.links_id_seq', 1, false);

SELECT pg_catalog.setval('{schema}.people_id_seq', 1, true);

SELECT pg_catalog.setval('{schema}.sessions_id_seq', 1, false);

ALTER TABLE ONLY {schema}.accounts
    ADD CONSTRAINT accounts_name_key UNIQUE (name);

ALTER TABLE ONLY {schema}.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY {schema}.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY {schema}.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_0
    ADD CONSTRAINT answers_0_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_10
    ADD CONSTRAINT answers_10_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_11
    ADD CONSTRAINT answers_11_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_12
    ADD CONSTRAINT answers_12_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_13
    ADD CONSTRAINT answers_13_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_14
    ADD CONSTRAINT answers_14_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_15
    ADD CONSTRAINT answers_15_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_16
    ADD CONSTRAINT answers_16_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_17
    ADD CONSTRAINT answers_17_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_18
    ADD CONSTRAINT answers_18_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_19
    ADD CONSTRAINT answers_19_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_1
    ADD CONSTRAINT answers_1_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_20
    ADD CONSTRAINT answers_20_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_21
    ADD CONSTRAINT answers_21_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_22
    ADD CONSTRAINT answers_22_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_23
    ADD CONSTRAINT answers_23_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_24
    ADD CONSTRAINT answers_24_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_25
    ADD CONSTRAINT answers_25_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_26
    ADD CONSTRAINT answers_26_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_27
    ADD CONSTRAINT answers_27_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_28
    ADD CONSTRAINT answers_28_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_29
    ADD CONSTRAINT answers_29_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_2
    ADD CONSTRAINT answers_2_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_30
    ADD CONSTRAINT answers_30_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_31
    ADD CONSTRAINT answers_31_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_3
    ADD CONSTRAINT answers_3_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_4
    ADD CONSTRAINT answers_4_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_5
    ADD CONSTRAINT answers_5_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_6
    ADD CONSTRAINT answers_6_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_7
    ADD CONSTRAINT answers_7_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_8
    ADD CONSTRAINT answers_8_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.answers_9
    ADD CONSTRAINT answers_9_pkey PRIMARY KEY (slot, account_id, seq);

ALTER TABLE ONLY {schema}.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY {schema}.balance_alerts
    ADD CONSTRAINT balance_alerts_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY {schema}.balances
    ADD CONSTRAINT balances_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY {schema}.bought
    ADD CONSTRAINT bought_pkey PRIMARY KEY (account_id, domain, seq);

ALTER TABLE ONLY {schema}.bought_until
    ADD CONSTRAINT bought_until_pkey PRIMARY KEY (account_id);

ALTER TABLE ONLY {schema}.expiring
    ADD CONSTRAINT expiring_pkey PRIMARY KEY (account_id, expires_at, seq);

ALTER TABLE ONLY {schema}.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (account_id, key);

ALTER TABLE ONLY {schema}.keys
    ADD CONSTRAINT keys_digest_key UNIQUE (digest);

ALTER TABLE ONLY {schema}.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY {schema}.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (account_id, seq);

ALTER TABLE ONLY {schema}.links
    ADD CONSTRAINT links_id_key UNIQUE (id);

ALTER TABLE ONLY {schema}.links
    ADD CONSTRAINT links_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY {schema}.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (account_id, person_id);

ALTER TABLE ONLY {schema}.paid
    ADD CONSTRAINT paid_pkey PRIMARY KEY (account_id, domain);

ALTER TABLE ONLY {schema}.people
    ADD CONSTRAINT people_email_key UNIQUE (email);

ALTER TABLE ONLY {schema}.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);

ALTER TABLE ONLY {schema}.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (name);

ALTER TABLE ONLY {schema}.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (person_id, digest);

ALTER TABLE ONLY {schema}.request_days
    ADD CONSTRAINT request_days_pkey PRIMARY KEY (key_id, day, operation, outcome);

ALTER TABLE ONLY {schema}.sessions
    ADD CONSTRAINT sessions_id_key UNIQUE (id);

ALTER TABLE ONLY {schema}.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY {schema}.suppressed_leads
    ADD CONSTRAINT suppressed_leads_pkey PRIMARY KEY (domain, value);

ALTER TABLE ONLY {schema}.suppressed
    ADD CONSTRAINT suppressed_pkey PRIMARY KEY (kind, value);

ALTER TABLE ONLY {schema}.suppression_secret
    ADD CONSTRAINT suppression_secret_pkey PRIMARY KEY (one);

ALTER TABLE ONLY {schema}.tries
    ADD CONSTRAINT tries_pkey PRIMARY KEY (bucket);

ALTER TABLE ONLY {schema}.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (key_id, day, operation);

CREATE INDEX audit_by_account ON {schema}.audit USING btree (account_id, id);

CREATE INDEX balances_by_expiry ON {schema}.balances USING btree (next_expiry) WHERE (next_expiry IS NOT NULL);

CREATE INDEX idempotency_by_age ON {schema}.idempotency USING brin (at);

CREATE INDEX keys_by_account ON {schema}.keys USING btree (account_id);

CREATE INDEX ledger_but_charges ON {schema}.ledger USING btree (account_id, seq) WHERE (kind <> 'charge'::{schema}.entry_kind);

CREATE INDEX ledger_by_actor ON {schema}.ledger USING btree (account_id, actor_id, seq);

CREATE INDEX ledger_by_reference ON {schema}.ledger USING btree (account_id, refers_to) WHERE (refers_to IS NOT NULL);

CREATE INDEX ledger_by_request ON {schema}.ledger USING btree (account_id, request_id);

CREATE INDEX links_by_account ON {schema}.links USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX links_by_email ON {schema}.links USING btree (email);

CREATE UNIQUE INDEX links_one_reset ON {schema}.links USING btree (email) WHERE (purpose = 'reset'::{schema}.link_purpose);

CREATE INDEX members_by_person ON {schema}.members USING btree (person_id);

CREATE INDEX sessions_by_person ON {schema}.sessions USING btree (person_id);

CREATE INDEX suppressed_by_time ON {schema}.suppressed USING btree (at);

CREATE INDEX suppressed_leads_by_time ON {schema}.suppressed_leads USING btree (at);

CREATE INDEX suppressed_leads_by_writer ON {schema}.suppressed_leads USING btree (written_by);

CREATE INDEX suppressed_unsettled ON {schema}.suppressed USING btree (at) WHERE (settled_at IS NULL);

CREATE INDEX tries_by_time ON {schema}.tries USING btree (last_at);

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_0_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_10_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_11_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_12_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_13_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_14_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_15_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_16_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_17_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_18_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_19_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_1_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_20_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_21_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_22_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_23_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_24_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_25_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_26_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_27_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_28_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_29_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_2_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_30_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_31_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_3_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_4_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_5_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_6_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_7_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_8_pkey;

ALTER INDEX {schema}.answers_pkey ATTACH PARTITION {schema}.answers_9_pkey;

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE OR TRUNCATE ON {schema}.audit FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();

CREATE TRIGGER no_change BEFORE DELETE OR UPDATE OR TRUNCATE ON {schema}.ledger FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();

ALTER TABLE ONLY {schema}.accounts
    ADD CONSTRAINT accounts_plan_fkey FOREIGN KEY (plan) REFERENCES {schema}.plans(name);

ALTER TABLE ONLY {schema}.balance_alerts
    ADD CONSTRAINT balance_alerts_account_id_fkey FOREIGN KEY (account_id) REFERENCES {schema}.accounts(id);

ALTER TABLE ONLY {schema}.balances
    ADD CONSTRAINT balances_account_id_fkey FOREIGN KEY (account_id) REFERENCES {schema}.accounts(id);

ALTER TABLE ONLY {schema}.keys
    ADD CONSTRAINT keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES {schema}.accounts(id);

ALTER TABLE ONLY {schema}.keys
    ADD CONSTRAINT keys_family_fkey FOREIGN KEY (family) REFERENCES {schema}.keys(id);

ALTER TABLE ONLY {schema}.links
    ADD CONSTRAINT links_account_id_fkey FOREIGN KEY (account_id) REFERENCES {schema}.accounts(id);

ALTER TABLE ONLY {schema}.links
    ADD CONSTRAINT links_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES {schema}.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY {schema}.members
    ADD CONSTRAINT members_account_id_fkey FOREIGN KEY (account_id) REFERENCES {schema}.accounts(id);

ALTER TABLE ONLY {schema}.members
    ADD CONSTRAINT members_person_id_fkey FOREIGN KEY (person_id) REFERENCES {schema}.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY {schema}.recovery_codes
    ADD CONSTRAINT recovery_codes_person_id_fkey FOREIGN KEY (person_id) REFERENCES {schema}.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY {schema}.sessions
    ADD CONSTRAINT sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES {schema}.accounts(id);

ALTER TABLE ONLY {schema}.sessions
    ADD CONSTRAINT sessions_person_id_fkey FOREIGN KEY (person_id) REFERENCES {schema}.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY {schema}.suppressed
    ADD CONSTRAINT suppressed_audit_id_fkey FOREIGN KEY (audit_id) REFERENCES {schema}.audit(id);

GRANT USAGE ON SCHEMA {schema} TO siteglass;

REVOKE ALL ON FUNCTION {schema}.adjust(p_account bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.adjust(p_account bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.answer_slot(p_at timestamp with time zone) FROM PUBLIC;

GRANT SELECT ON TABLE {schema}.balances TO siteglass;

GRANT INSERT(account_id) ON TABLE {schema}.balances TO siteglass;

GRANT SELECT ON TABLE {schema}.ledger TO siteglass;

REVOKE ALL ON FUNCTION {schema}.append_entry(entry {schema}.ledger, balance {schema}.balances) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.burn(balance {schema}.balances, p_api bigint, p_lead bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.charge(p_account bigint, p_key bigint, p_operation text, p_api bigint, p_lead bigint, p_request text, p_domains text, p_deadline timestamp with time zone, p_max_lead bigint, p_keep_key text, p_fingerprint bytea, p_headers text, p_body bytea, OUT outcome text, OUT entry_seq bigint, OUT lead bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT cap_left bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.charge(p_account bigint, p_key bigint, p_operation text, p_api bigint, p_lead bigint, p_request text, p_domains text, p_deadline timestamp with time zone, p_max_lead bigint, p_keep_key text, p_fingerprint bytea, p_headers text, p_body bytea, OUT outcome text, OUT entry_seq bigint, OUT lead bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT cap_left bigint) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.done_before(p_account bigint, p_request text) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.entry_hash(entry {schema}.ledger) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.expire_credits(p_accounts integer, OUT accounts integer) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.expire_credits(p_accounts integer, OUT accounts integer) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.forget_answers(p_slot integer, OUT emptied boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.forget_answers(p_slot integer, OUT emptied boolean) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.forget_keys(p_keys integer, OUT forgotten integer) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.forget_keys(p_keys integer, OUT forgotten integer) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.grant_credits(p_account bigint, p_api bigint, p_lead bigint, p_expires timestamp with time zone, p_actor text, p_request text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.grant_credits(p_account bigint, p_api bigint, p_lead bigint, p_expires timestamp with time zone, p_actor text, p_request text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.has_bought(p_account bigint, p_domain text) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.look_ahead(balance {schema}.balances) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.open_balance(p_account bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.operate(p_account bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.operated(entry {schema}.ledger, balance {schema}.balances, p_actor text, p_request text, p_details jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.paid_for(p_account bigint, p_domain text, p_rows integer, OUT paid boolean, OUT behind bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.paid_for(p_account bigint, p_domain text, p_rows integer, OUT paid boolean, OUT behind bigint) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.refund(p_account bigint, p_seq bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT left_api bigint, OUT left_lead bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.refund(p_account bigint, p_seq bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text, OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT left_api bigint, OUT left_lead bigint) TO siteglass;

REVOKE ALL ON FUNCTION {schema}.refuse_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION {schema}.remember_paid(p_account bigint, p_hours integer, p_after bigint, OUT last_seq bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION {schema}.remember_paid(p_account bigint, p_hours integer, p_after bigint, OUT last_seq bigint) TO siteglass;

GRANT SELECT,INSERT ON TABLE {schema}.accounts TO siteglass;

GRANT SELECT ON TABLE {schema}.alembic_version TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_0 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_1 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_10 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_11 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_12 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_13 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_14 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_15 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_16 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_17 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_18 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_19 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_2 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_20 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_21 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_22 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_23 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_24 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_25 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_26 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_27 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_28 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_29 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_3 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_30 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_31 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_4 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_5 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_6 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_7 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_8 TO siteglass;

GRANT SELECT ON TABLE {schema}.answers_9 TO siteglass;

GRANT SELECT ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(actor_kind) ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(actor_id) ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(action) ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(account_id) ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(key_id) ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(entry_seq) ON TABLE {schema}.audit TO siteglass;

GRANT INSERT(details) ON TABLE {schema}.audit TO siteglass;

GRANT SELECT,INSERT,UPDATE ON TABLE {schema}.balance_alerts TO siteglass;

GRANT SELECT ON TABLE {schema}.bought TO siteglass;

GRANT SELECT ON TABLE {schema}.bought_until TO siteglass;

GRANT SELECT ON TABLE {schema}.expiring TO siteglass;

GRANT SELECT ON TABLE {schema}.idempotency TO siteglass;

GRANT SELECT,INSERT,UPDATE ON TABLE {schema}.keys TO siteglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE {schema}.links TO siteglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE {schema}.members TO siteglass;

GRANT SELECT ON TABLE {schema}.paid TO siteglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE {schema}.people TO siteglass;

GRANT SELECT,INSERT,UPDATE ON TABLE {schema}.plans TO siteglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE {schema}.recovery_codes TO siteglass;

GRANT SELECT,INSERT,UPDATE ON TABLE {schema}.request_days TO siteglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE {schema}.sessions TO siteglass;

GRANT SELECT,INSERT ON TABLE {schema}.suppressed TO siteglass;

GRANT UPDATE(tried_at) ON TABLE {schema}.suppressed TO siteglass;

GRANT UPDATE(settled_at) ON TABLE {schema}.suppressed TO siteglass;

GRANT SELECT,INSERT ON TABLE {schema}.suppressed_leads TO siteglass;

GRANT SELECT,INSERT ON TABLE {schema}.suppression_secret TO siteglass;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE {schema}.tries TO siteglass;

GRANT SELECT ON TABLE {schema}.usage_days TO siteglass;
