"""Retries without paying twice, leads paid for once, credits that expire, corrections, and usage by day.

Each function that writes locks the balance row first and reads the rest in later statements: a single statement would
keep its snapshot while it waits for the row, and decide by a past that is no longer true.
"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

# Stored answers lie in slots of one hour each that are used in turn: a slot whose answers are all older than a day is
# emptied at once, and no table is made or dropped while the service runs.
SLOTS = 32

# `at`: time of the last ledger row, so that times of an account never go back. `next_expiry`: when the first of its
# expiring credits ends; null: it has none, and nothing about them is looked up.
BALANCES = """
ALTER TABLE {schema}.balances ADD COLUMN at timestamptz, ADD COLUMN next_expiry timestamptz
"""
BALANCES_AT = """
UPDATE {schema}.balances b SET at = (SELECT max(l.at) FROM {schema}.ledger l WHERE l.account_id = b.account_id)
"""

USAGE_DAYS = """
CREATE TABLE {schema}.usage_days (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation {schema}.entry_operation NOT NULL,
    requests bigint NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    PRIMARY KEY (key_id, day, operation)
) WITH (fillfactor = 50)
"""
USAGE_SO_FAR = """
INSERT INTO {schema}.usage_days
SELECT actor_id::bigint, (at AT TIME ZONE 'UTC')::date, operation, count(*), -sum(api), -sum(lead)
FROM {schema}.ledger WHERE kind = 'charge' AND actor_kind = 'key' GROUP BY 1, 2, 3
"""
NO_KEY_DAYS = "DROP TABLE {schema}.key_days"

# What is left of grants that expire; a row whose time is over is turned into a ledger row by whoever comes next.
EXPIRING = """
CREATE TABLE {schema}.expiring (
    account_id bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    seq bigint NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    PRIMARY KEY (account_id, expires_at, seq)
) WITH (fillfactor = 50)
"""

# When an account last paid for a lead; kept only for plans with rebill_after_hours.
PAID = """
CREATE TABLE {schema}.paid (
    account_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    -- the ledger row that took the credit
    seq bigint NOT NULL,
    PRIMARY KEY (account_id, domain)
) WITH (fillfactor = 80)
"""

# The truth about a retry: this unique pair, written by the charge.
IDEMPOTENCY = """
CREATE TABLE {schema}.idempotency (
    account_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    at timestamptz NOT NULL,
    seq bigint NOT NULL,
    slot smallint NOT NULL,
    PRIMARY KEY (account_id, key)
)
"""
IDEMPOTENCY_BY_AGE = "CREATE INDEX idempotency_by_age ON {schema}.idempotency USING brin (at)"
ANSWERS = """
CREATE TABLE {schema}.answers (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    -- by the clock, which may be behind the ledger's times
    at timestamptz NOT NULL,
    headers text NOT NULL,
    -- compressed by the service
    body bytea NOT NULL,
    PRIMARY KEY (slot, account_id, seq)
) PARTITION BY LIST (slot)
"""
ANSWERS_AS_THEY_ARE = "ALTER TABLE {schema}.answers ALTER COLUMN body SET STORAGE EXTERNAL"
ANSWER_SLOT = "CREATE TABLE {schema}.answers_{slot} PARTITION OF {schema}.answers FOR VALUES IN ({slot})"

LEDGER_INDEXES = (
    "CREATE INDEX ledger_by_request ON {schema}.ledger (account_id, request_id)",
    "CREATE INDEX ledger_by_actor ON {schema}.ledger (account_id, actor_id, seq)",
    "CREATE INDEX ledger_by_reference ON {schema}.ledger (account_id, refers_to) WHERE refers_to IS NOT NULL",
)

# As before, and the time of the row becomes the time of the balance.
APPEND = r"""
CREATE OR REPLACE FUNCTION {schema}.append_entry(entry {schema}.ledger, balance {schema}.balances)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
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
$$
"""

# Takes credits from those that expire, the soonest first; what never expires goes last, and is kept nowhere.
BURN = """
CREATE FUNCTION {schema}.burn(balance {schema}.balances, p_api bigint, p_lead bigint)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
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
$$
"""

LOOK_AHEAD = """
CREATE FUNCTION {schema}.look_ahead(balance {schema}.balances)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
DECLARE
    first timestamptz := (SELECT min(e.expires_at) FROM {schema}.expiring e WHERE e.account_id = balance.account_id);
BEGIN
    IF first IS DISTINCT FROM balance.next_expiry THEN
        balance.next_expiry := first;
        UPDATE {schema}.balances SET next_expiry = first WHERE account_id = balance.account_id;
    END IF;
    RETURN balance;
END
$$
"""

# Locks the balance of an account and brings it up to date: what has expired by now leaves it with a row of its own.
OPEN_BALANCE = """
CREATE FUNCTION {schema}.open_balance(p_account bigint)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
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
$$
"""

NO_CHARGE = "DROP FUNCTION {schema}.charge"
# `late` is for a call that reached a server which was frozen or busy after the caller had given up. `kept`: another
# request with the same Idempotency-Key was charged; nothing is written, and its answer is the answer. Plans are kept by
# each connection: one made while `paid` was nearly empty would go on reading all that the account ever paid for (80 ms
# a charge at 10,000 leads). So each lead is looked up by itself, which leaves nothing to choose.
CHARGE = r"""
CREATE FUNCTION {schema}.charge(
    p_account bigint, p_key bigint, p_operation text, p_api bigint, p_lead bigint, p_request text, p_domains text,
    p_deadline timestamptz, p_max_lead bigint = NULL,
    p_keep_key text = NULL, p_fingerprint bytea = NULL, p_headers text = NULL, p_body bytea = NULL,
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
$$
"""

ANSWER_SLOT_OF = """
CREATE FUNCTION {schema}.answer_slot(p_at timestamptz) RETURNS smallint IMMUTABLE LANGUAGE sql AS $$
SELECT (floor(extract(epoch FROM p_at) / 3600)::bigint % {slots})::smallint
$$
"""

NO_GRANT = "DROP FUNCTION {schema}.grant_credits"
# What an operator does: once for a reference, so that it can be tried again when its confirmation was lost; and not at
# all if it cannot begin while the operator waits.
OPERATE = """
CREATE FUNCTION {schema}.operate(p_account bigint) RETURNS {schema}.balances LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', '2000', true);
    RETURN {schema}.open_balance(p_account);
END
$$
"""
DONE_BEFORE = """
CREATE FUNCTION {schema}.done_before(p_account bigint, p_request text) RETURNS bigint STABLE LANGUAGE sql AS $$
SELECT l.seq FROM {schema}.ledger l
WHERE l.account_id = p_account AND l.request_id = p_request AND l.actor_kind = 'operator'
    AND l.kind IN ('grant', 'refund', 'adjust')
$$
"""
# The row of an operator's action, and the entry of the audit log that belongs to it.
OPERATED = """
CREATE FUNCTION {schema}.operated(
    entry {schema}.ledger, balance {schema}.balances, p_actor text, p_request text, p_details jsonb
) RETURNS {schema}.balances LANGUAGE plpgsql AS $$
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
$$
"""
GRANT = """
CREATE FUNCTION {schema}.grant_credits(
    p_account bigint, p_api bigint, p_lead bigint, p_expires timestamptz, p_actor text, p_request text,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$
"""

# Gives back what a charge took, all of it or a part, never more in sum; what comes back does not expire. A lead whose
# whole charge is given back counts as not paid for.
REFUND = r"""
CREATE FUNCTION {schema}.refund(
    p_account bigint, p_seq bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint,
    OUT left_api bigint, OUT left_lead bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$
"""

# Puts a balance right by hand, up or down; what is taken is taken like a charge: from what expires soonest.
ADJUST = """
CREATE FUNCTION {schema}.adjust(
    p_account bigint, p_api bigint, p_lead bigint, p_actor text, p_request text, p_reason text,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$
"""

# Credits of accounts that nobody charges expire too; a few accounts at a time, so that no lock is held for long.
EXPIRE = """
CREATE FUNCTION {schema}.expire_credits(p_accounts integer, OUT accounts integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$
"""
BALANCES_BY_EXPIRY = """
CREATE INDEX balances_by_expiry ON {schema}.balances (next_expiry) WHERE next_expiry IS NOT NULL
"""

# A plan is to look back: what an account paid for within that time is remembered from the ledger. First all of it,
# beside the charges that go on; then, when the plan has changed, the rows since, with the balance held: no charge in
# between.
REMEMBER_PAID = r"""
CREATE FUNCTION {schema}.remember_paid(p_account bigint, p_hours integer, p_after bigint, OUT last_seq bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
$$
"""

# Empties a slot if all in it is older than a day: by what it holds, not by its number, so that neither the turn of an
# hour nor a clock that was set can empty a fresh one. Who would have to wait for it comes again.
FORGET_ANSWERS = """
CREATE FUNCTION {schema}.forget_answers(p_slot integer, OUT emptied boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
EXCEPTION WHEN lock_not_available THEN
    emptied := false;
END
$$
"""
FORGET_KEYS = """
CREATE FUNCTION {schema}.forget_keys(p_keys integer, OUT forgotten integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM {schema}.idempotency WHERE ctid = ANY(ARRAY(
        SELECT i.ctid FROM {schema}.idempotency i WHERE i.at < clock_timestamp() - interval '25 hours'
        LIMIT p_keys FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS forgotten = ROW_COUNT;
END
$$
"""
# The service calls these; all else that can be called belongs to the owner.
NOT_PUBLIC = "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {schema} FROM PUBLIC"


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    steps = (
        BALANCES, BALANCES_AT, BALANCES_BY_EXPIRY, USAGE_DAYS, USAGE_SO_FAR, NO_KEY_DAYS, EXPIRING, PAID, IDEMPOTENCY,
        IDEMPOTENCY_BY_AGE, ANSWERS, ANSWERS_AS_THEY_ARE, *LEDGER_INDEXES, ANSWER_SLOT_OF, APPEND, LOOK_AHEAD, BURN,
        OPEN_BALANCE, NO_CHARGE, CHARGE, NO_GRANT, OPERATE, DONE_BEFORE, OPERATED, GRANT, REFUND, ADJUST, EXPIRE,
        REMEMBER_PAID, FORGET_ANSWERS, FORGET_KEYS, NOT_PUBLIC,
    )  # fmt: skip
    for step in steps:
        op.execute(step.replace("{schema}", schema).replace("{slots}", str(SLOTS)))
    for slot in range(SLOTS):
        op.execute(ANSWER_SLOT.replace("{schema}", schema).replace("{slot}", str(slot)))
