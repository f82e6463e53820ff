"""People who sign in to the dashboard: whose they are, their sessions and second factors; what it shows of requests.

Of everything that lets somebody in (session, mailed link, recovery code) only a hash is stored.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

PEOPLE = """
CREATE TABLE {schema}.people (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- lower case
    email text COLLATE "C" NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    -- Argon2id, with its parameters
    password text NOT NULL,
    -- the secret of the second factor, sealed; null: there is none
    totp bytea,
    -- number of the last half minute whose code was used: neither it nor an earlier one is taken again
    totp_step bigint NOT NULL DEFAULT 0,
    made_at timestamptz NOT NULL DEFAULT now()
)
"""

ROLES = "CREATE TYPE {schema}.role AS ENUM ('viewer', 'member', 'owner')"
MEMBERS = """
CREATE TABLE {schema}.members (
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    role {schema}.role NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, person_id)
)
"""
MEMBERS_BY_PERSON = "CREATE INDEX members_by_person ON {schema}.members (person_id)"

SESSIONS = """
CREATE TABLE {schema}.sessions (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- what a session is called where it is listed
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    -- the account that is looked at
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    made_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    -- when the password was last given
    proven_at timestamptz NOT NULL,
    agent text NOT NULL CHECK (length(agent) <= 300),
    address text NOT NULL CHECK (length(address) <= 50)
) WITH (fillfactor = 70)
"""
SESSIONS_BY_PERSON = "CREATE INDEX sessions_by_person ON {schema}.sessions (person_id)"

RECOVERY_CODES = """
CREATE TABLE {schema}.recovery_codes (
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    used_at timestamptz,
    PRIMARY KEY (person_id, digest)
)
"""

# A link that was mailed: a new password for a person, or an invitation to an account.
LINK_PURPOSES = "CREATE TYPE {schema}.link_purpose AS ENUM ('reset', 'invite')"
LINKS = """
CREATE TABLE {schema}.links (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    purpose {schema}.link_purpose NOT NULL,
    email text COLLATE "C" NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
    account_id bigint REFERENCES {schema}.accounts,
    role {schema}.role,
    -- null: an operator did
    invited_by bigint REFERENCES {schema}.people ON DELETE CASCADE,
    made_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CHECK ((purpose = 'invite') = (account_id IS NOT NULL AND role IS NOT NULL))
)
"""
LINKS_BY_ACCOUNT = "CREATE INDEX links_by_account ON {schema}.links (account_id) WHERE account_id IS NOT NULL"
LINKS_BY_EMAIL = "CREATE INDEX links_by_email ON {schema}.links (email)"
ONE_RESET = "CREATE UNIQUE INDEX links_one_reset ON {schema}.links (email) WHERE purpose = 'reset'"

# Times of tries to sign in, by who they were for and where they came from (hashed): exact, and outlives a restart.
TRIES = """
CREATE TABLE {schema}.tries (
    bucket bytea PRIMARY KEY CHECK (octet_length(bucket) = 32),
    times timestamptz[] NOT NULL,
    last_at timestamptz NOT NULL
) WITH (fillfactor = 70)
"""
TRIES_BY_TIME = "CREATE INDEX tries_by_time ON {schema}.tries (last_at)"

# Requests with a key, counted by workers and written now and then; usage_days knows only those that were charged.
REQUEST_DAYS = """
CREATE TABLE {schema}.request_days (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation text COLLATE "C" NOT NULL,
    -- ok, refused (what the caller can mend), limited (too fast), failed (our fault)
    outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('ok', 'refused', 'limited', 'failed')),
    requests bigint NOT NULL,
    PRIMARY KEY (key_id, day, operation, outcome)
) WITH (fillfactor = 50)
"""

# Owners hear once that a balance fell below a number, and again after it has been above.
BALANCE_ALERTS = """
CREATE TABLE {schema}.balance_alerts (
    account_id bigint PRIMARY KEY REFERENCES {schema}.accounts,
    api_below bigint CHECK (api_below > 0),
    lead_below bigint CHECK (lead_below > 0),
    -- a worker is sending the mail since; another takes over if it never ends
    claimed_at timestamptz,
    -- when the owners were told; null again once the balance is not below its number
    api_mailed_at timestamptz,
    lead_mailed_at timestamptz
)
"""

# Grants, refunds and whatever else is rare among a million charges; no charge writes to it.
LEDGER_BUT_CHARGES = "CREATE INDEX ledger_but_charges ON {schema}.ledger (account_id, seq) WHERE kind <> 'charge'"


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    steps = (
        PEOPLE, ROLES, MEMBERS, MEMBERS_BY_PERSON, SESSIONS, SESSIONS_BY_PERSON, RECOVERY_CODES, LINK_PURPOSES, LINKS,
        LINKS_BY_ACCOUNT, LINKS_BY_EMAIL, ONE_RESET, TRIES, TRIES_BY_TIME, REQUEST_DAYS, BALANCE_ALERTS,
        LEDGER_BUT_CHARGES,
    )  # fmt: skip
    for step in steps:
        op.execute(step.replace("{schema}", schema))
