"""Plans, accounts, keys, balances, days of keys, and the ledger in its final shape."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

PLANS = """
CREATE TABLE {schema}.plans (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_-]{0,39}$'),
    rate_per_s double precision NOT NULL CHECK (rate_per_s > 0 AND rate_per_s <= 1000000),
    burst integer NOT NULL CHECK (burst BETWEEN 1 AND 1000000),
    -- most credits that each key may spend in a day (UTC); a key's own cap can only be lower
    daily_api_cap bigint CHECK (daily_api_cap >= 0),
    daily_lead_cap bigint CHECK (daily_lead_cap >= 0),
    -- price of one credit in millionths of the currency
    api_price_micros bigint NOT NULL DEFAULT 0 CHECK (api_price_micros >= 0),
    lead_price_micros bigint NOT NULL DEFAULT 0 CHECK (lead_price_micros >= 0),
    currency text NOT NULL DEFAULT 'USD' CHECK (currency ~ '^[A-Z]{3}$'),
    -- a lead paid for within this time is free; null: charged each time
    rebill_after_hours integer CHECK (rebill_after_hours > 0)
)
"""

SEEDS = """
INSERT INTO {schema}.plans (name, rate_per_s, burst) VALUES ('standard', 10, 20), ('demo', 1000, 2000)
"""

ACCOUNTS = """
CREATE TABLE {schema}.accounts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    plan text NOT NULL REFERENCES {schema}.plans,
    created_at timestamptz NOT NULL DEFAULT now()
)
"""

KEYS = """
CREATE TABLE {schema}.keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    -- HMAC-SHA256 of the key; the key itself is nowhere
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    -- which secret made the digest: the start of that secret's own hash
    secret_version text NOT NULL CHECK (length(secret_version) = 8),
    shown_start text NOT NULL CHECK (length(shown_start) <= 12),
    shown_end text NOT NULL CHECK (length(shown_end) = 4),
    scopes text[] NOT NULL CHECK (
        scopes <@ ARRAY['search', 'enrich', 'account'] AND cardinality(scopes) BETWEEN 1 AND 3
    ),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    daily_api_cap bigint CHECK (daily_api_cap >= 0),
    daily_lead_cap bigint CHECK (daily_lead_cap >= 0),
    rate_per_s double precision CHECK (rate_per_s > 0 AND rate_per_s <= 1000000),
    burst integer CHECK (burst BETWEEN 1 AND 1000000),
    CHECK ((rate_per_s IS NULL) = (burst IS NULL))
)
"""

# Room on the page keeps the updates of a hot row there, without touching an index. Only the checks that matter: a
# function's statement reads every check of its table anew, about 5 microseconds each, while the balance row is locked.
BALANCES = """
CREATE TABLE {schema}.balances (
    account_id bigint PRIMARY KEY REFERENCES {schema}.accounts,
    api bigint NOT NULL DEFAULT 0 CHECK (api BETWEEN 0 AND 1000000000000000),
    lead bigint NOT NULL DEFAULT 0 CHECK (lead BETWEEN 0 AND 1000000000000000),
    -- number and hash of the account's last ledger row
    seq bigint NOT NULL DEFAULT 0,
    head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
) WITH (fillfactor = 20)
"""

KEY_DAYS = """
CREATE TABLE {schema}.key_days (
    key_id bigint NOT NULL REFERENCES {schema}.keys,
    day date NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    PRIMARY KEY (key_id, day)
) WITH (fillfactor = 50)
"""

KINDS = """
CREATE TYPE {schema}.entry_kind AS ENUM (
    'grant', 'charge', 'refund', 'expire', 'adjust', 'hold', 'settle', 'release'
)
"""
OPERATIONS = """
CREATE TYPE {schema}.entry_operation AS ENUM ('search', 'page', 'enrich', 'evidence', 'export', 'none')
"""
ACTORS = "CREATE TYPE {schema}.actor_kind AS ENUM ('key', 'person', 'export', 'operator')"

# Amounts are signed, so that a balance is the sum of its rows whatever their kinds. No foreign key and no checks, for
# the reason above: rows come from append_entry alone, which holds the account's balance row and tests what it writes.
LEDGER = """
CREATE TABLE {schema}.ledger (
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    kind {schema}.entry_kind NOT NULL,
    operation {schema}.entry_operation NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    expires_at timestamptz,
    -- the row that this one refunds, settles or releases
    refers_to bigint,
    actor_kind {schema}.actor_kind NOT NULL,
    actor_id text NOT NULL,
    request_id text NOT NULL,
    -- one line per returned domain: a letter for charged or why it was free, a blank, the domain; see credits.py
    domains text NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (account_id, seq)
)
"""

REFUSE_CHANGE = """
CREATE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is never changed: write a new row that corrects it';
END
$$
"""

NO_CHANGE = """
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.ledger
FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change()
"""

KEYS_BY_ACCOUNT = "CREATE INDEX keys_by_account ON {schema}.keys (account_id)"


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    steps = (
        PLANS, SEEDS, ACCOUNTS, KEYS, KEYS_BY_ACCOUNT, BALANCES, KEY_DAYS, KINDS, OPERATIONS, ACTORS, LEDGER,
        REFUSE_CHANGE, NO_CHANGE,
    )  # fmt: skip
    for step in steps:
        op.execute(step.replace("{schema}", schema))
