"""The functions that write the ledger: each locks the balance row first, and reads the rest in later statements."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

# The same bytes as ledger.entry_hash in Python; the property test holds them together. No part but the last can hold
# a line break, so two different rows never give the same text.
ENTRY_HASH = r"""
CREATE FUNCTION {schema}.entry_hash(entry {schema}.ledger) RETURNS bytea STABLE LANGUAGE sql AS $$
SELECT sha256(entry.previous_hash || convert_to(concat_ws(E'\n',
    'siteglass ledger 1', entry.account_id, entry.seq, (extract(epoch FROM entry.at) * 1000000)::bigint,
    entry.kind, entry.operation, entry.api, entry.lead,
    coalesce((extract(epoch FROM entry.expires_at) * 1000000)::bigint::text, ''), coalesce(entry.refers_to::text, ''),
    entry.actor_kind, entry.actor_id, entry.request_id, entry.domains
), 'UTF8'))
$$
"""

# Takes a row without its place, puts it at the end of the chain, moves the balance. The caller holds the balance row.
APPEND = r"""
CREATE FUNCTION {schema}.append_entry(entry {schema}.ledger, balance {schema}.balances)
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
    entry.account_id := balance.account_id;
    entry.seq := balance.seq;
    entry.previous_hash := balance.head;
    entry.hash := {schema}.entry_hash(entry);
    balance.head := entry.hash;
    INSERT INTO {schema}.ledger VALUES (entry.*);
    UPDATE {schema}.balances SET api = balance.api, lead = balance.lead, seq = balance.seq, head = balance.head
    WHERE account_id = balance.account_id;
    RETURN balance;
END
$$
"""

# A single statement would keep its snapshot while it waits for the row, and pay from a balance of the past: so lock
# first, then look. `late` is for a call that reached a server which was frozen or busy after the caller had given up.
CHARGE = """
CREATE FUNCTION {schema}.charge(
    p_account bigint, p_key bigint, p_operation text, p_api bigint, p_lead bigint, p_request text, p_domains text,
    p_deadline timestamptz,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint, OUT cap_left bigint
) LANGUAGE plpgsql AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
    spent_api bigint;
    spent_lead bigint;
    caps record;
    today date;
BEGIN
    PERFORM set_config('lock_timeout',
        greatest(1, extract(epoch FROM p_deadline - clock_timestamp()) * 1000)::integer::text, true);
    SELECT * INTO balance FROM {schema}.balances b WHERE b.account_id = p_account FOR NO KEY UPDATE;
    entry.at := clock_timestamp();
    today := (entry.at AT TIME ZONE 'UTC')::date;
    balance_api := balance.api;
    balance_lead := balance.lead;
    IF entry.at > p_deadline THEN
        outcome := 'late';
        RETURN;
    END IF;

    SELECT least(k.daily_api_cap, p.daily_api_cap) AS api, least(k.daily_lead_cap, p.daily_lead_cap) AS lead INTO caps
    FROM {schema}.keys k JOIN {schema}.accounts a ON a.id = k.account_id JOIN {schema}.plans p ON p.name = a.plan
    WHERE k.id = p_key AND k.account_id = p_account
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > entry.at);
    IF NOT FOUND THEN
        outcome := 'key';
        RETURN;
    END IF;

    IF caps.api IS NOT NULL OR caps.lead IS NOT NULL THEN
        SELECT d.api, d.lead INTO spent_api, spent_lead FROM {schema}.key_days d
        WHERE d.key_id = p_key AND d.day = today;
        IF p_api > 0 AND coalesce(spent_api, 0) + p_api > caps.api THEN
            outcome := 'api cap';
            cap_left := greatest(0, caps.api - coalesce(spent_api, 0));
            RETURN;
        ELSIF p_lead > 0 AND coalesce(spent_lead, 0) + p_lead > caps.lead THEN
            outcome := 'lead cap';
            cap_left := greatest(0, caps.lead - coalesce(spent_lead, 0));
            RETURN;
        END IF;
    END IF;

    IF balance.api < p_api OR balance.lead < p_lead THEN
        outcome := 'credits';
        RETURN;
    END IF;

    -- counted for every key, so that a cap set at noon knows the morning
    IF p_api > 0 OR p_lead > 0 THEN
        INSERT INTO {schema}.key_days AS d VALUES (p_key, today, p_api, p_lead)
        ON CONFLICT (key_id, day) DO UPDATE SET api = d.api + p_api, lead = d.lead + p_lead;
    END IF;
    entry.kind := 'charge';
    entry.operation := p_operation;
    entry.api := -p_api;
    entry.lead := -p_lead;
    entry.actor_kind := 'key';
    entry.actor_id := p_key::text;
    entry.request_id := p_request;
    entry.domains := p_domains;
    balance := {schema}.append_entry(entry, balance);
    outcome := 'charged';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$
"""

GRANT = """
CREATE FUNCTION {schema}.grant_credits(
    p_account bigint, p_api bigint, p_lead bigint, p_actor text, p_request text,
    OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint
) LANGUAGE plpgsql AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
BEGIN
    SELECT * INTO balance FROM {schema}.balances b WHERE b.account_id = p_account FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    entry.at := clock_timestamp();
    entry.kind := 'grant';
    entry.operation := 'none';
    entry.api := p_api;
    entry.lead := p_lead;
    entry.actor_kind := 'operator';
    entry.actor_id := p_actor;
    entry.request_id := p_request;
    entry.domains := '';
    balance := {schema}.append_entry(entry, balance);
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$
"""


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    for step in (ENTRY_HASH, APPEND, CHARGE, GRANT):
        op.execute(step.replace("{schema}", schema))
