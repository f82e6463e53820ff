-- Tables, types and indexes. Functions, and the triggers that call them, are files: see billing/sql/README.md.
--
-- Each statement of a function reads every CHECK of the table it writes again. That takes about 5 microseconds per CHECK
-- while the balance row is locked. So tables that a charge writes have only the checks that matter, and the functions
-- test the rest.

-- Written by `siteglass migrate`: the hash of each function's file as it was last applied. Also every version of tables
-- and functions that this schema has had. A build finds its own version there if the schema is as new as the build.
CREATE TABLE {schema}.sql_functions (
    name text COLLATE "C" PRIMARY KEY,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32)
);
CREATE TABLE {schema}.schema_versions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    revision text NOT NULL,
    functions_hash bytea NOT NULL CHECK (octet_length(functions_hash) = 32),
    applied_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (revision, functions_hash)
);

-- Plans, accounts and keys

CREATE TABLE {schema}.plans (
    name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9_-]{0,39}$'),
    rate_per_s double precision NOT NULL CHECK (rate_per_s > 0 AND rate_per_s <= 1000000),
    burst integer NOT NULL CHECK (burst BETWEEN 1 AND 1000000),
    -- maximum credits that each key may spend in a day (UTC); a key's own cap can only be lower
    daily_api_cap bigint CHECK (daily_api_cap >= 0),
    daily_lead_cap bigint CHECK (daily_lead_cap >= 0),
    -- price of one credit in millionths of the currency
    api_price_micros bigint NOT NULL DEFAULT 0 CHECK (api_price_micros >= 0),
    lead_price_micros bigint NOT NULL DEFAULT 0 CHECK (lead_price_micros >= 0),
    currency text NOT NULL DEFAULT 'USD' CHECK (currency ~ '^[A-Z]{3}$'),
    -- a lead paid for within this time is free; null: charged each time
    rebill_after_hours integer CHECK (rebill_after_hours > 0)
);
INSERT INTO {schema}.plans (name, rate_per_s, burst) VALUES ('standard', 10, 20), ('demo', 1000, 2000);

CREATE TABLE {schema}.accounts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    plan text NOT NULL REFERENCES {schema}.plans,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE {schema}.keys (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    -- HMAC-SHA256 of the key; the key itself is not stored
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
    -- the first key of a chain of rotations, null for that key itself: caps and rate apply to the whole chain
    family bigint REFERENCES {schema}.keys,
    -- written periodically, never by a request
    last_used_at timestamptz,
    -- null: may be used from anywhere
    allowed_networks cidr[] CHECK (cardinality(allowed_networks) BETWEEN 1 AND 100),
    -- test keys see made-up leads and are charged nothing
    test boolean NOT NULL DEFAULT false,
    CHECK ((rate_per_s IS NULL) = (burst IS NULL))
);
CREATE INDEX keys_by_account ON {schema}.keys (account_id);

-- Credits

-- The fill factor leaves room on the page, so that updates of a hot row stay there and touch no index.
CREATE TABLE {schema}.balances (
    account_id bigint PRIMARY KEY REFERENCES {schema}.accounts,
    api bigint NOT NULL DEFAULT 0 CHECK (api BETWEEN 0 AND 1000000000000000),
    lead bigint NOT NULL DEFAULT 0 CHECK (lead BETWEEN 0 AND 1000000000000000),
    -- number and hash of the account's last ledger row
    seq bigint NOT NULL DEFAULT 0,
    head bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    -- time of the last ledger row, so that times of an account never go back
    at timestamptz,
    -- when the first of its expiring credits ends; null: it has none, and nothing about them is looked up
    next_expiry timestamptz
) WITH (fillfactor = 20);
CREATE INDEX balances_by_expiry ON {schema}.balances (next_expiry) WHERE next_expiry IS NOT NULL;

CREATE TYPE {schema}.entry_kind AS ENUM ('grant', 'charge', 'refund', 'expire', 'adjust');
CREATE TYPE {schema}.entry_operation AS ENUM ('search', 'page', 'enrich', 'evidence', 'export', 'none');
CREATE TYPE {schema}.actor_kind AS ENUM ('key', 'person', 'export', 'operator');

-- Amounts are signed, so that a balance is the sum of its rows whatever their kinds. No foreign key and no checks: rows
-- come from append_entry alone, which holds the lock on the account's balance row and tests what it writes.
CREATE TABLE {schema}.ledger (
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    kind {schema}.entry_kind NOT NULL,
    operation {schema}.entry_operation NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    expires_at timestamptz,
    -- the charge that this row refunds, or the grant that it expires
    refers_to bigint,
    actor_kind {schema}.actor_kind NOT NULL,
    actor_id text NOT NULL,
    request_id text NOT NULL,
    -- one line per returned domain: a letter for charged or why it was free, a blank, the domain; see credits.py
    domains text NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (account_id, seq)
);
CREATE INDEX ledger_by_request ON {schema}.ledger (account_id, request_id);
CREATE INDEX ledger_by_actor ON {schema}.ledger (account_id, actor_id, seq);
CREATE INDEX ledger_by_reference ON {schema}.ledger (account_id, refers_to) WHERE refers_to IS NOT NULL;
-- Grants, refunds and the like are rare among a million charges; no charge writes to this index.
CREATE INDEX ledger_but_charges ON {schema}.ledger (account_id, seq) WHERE kind <> 'charge';

-- Charged requests of a key by day.
CREATE TABLE {schema}.usage_days (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation {schema}.entry_operation NOT NULL,
    requests bigint NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    PRIMARY KEY (key_id, day, operation)
) WITH (fillfactor = 50);

-- What is left of grants that expire. The next function that opens the balance turns an expired row into a ledger row.
CREATE TABLE {schema}.expiring (
    account_id bigint NOT NULL,
    expires_at timestamptz NOT NULL,
    seq bigint NOT NULL,
    api bigint NOT NULL,
    lead bigint NOT NULL,
    PRIMARY KEY (account_id, expires_at, seq)
) WITH (fillfactor = 50);

-- When an account last paid for a lead; kept only for plans with rebill_after_hours.
CREATE TABLE {schema}.paid (
    account_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    -- the ledger row that took the credit
    seq bigint NOT NULL,
    PRIMARY KEY (account_id, domain)
) WITH (fillfactor = 80);

-- Leads by the charges that took a credit for them, up to a row of the ledger. Charges don't write this table: they
-- would get slower for a question that few ask. The table `paid` can't answer it, because it has only the last charge
-- of a lead, on few plans.
CREATE TABLE {schema}.bought (
    account_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (account_id, domain, seq)
);
CREATE TABLE {schema}.bought_until (account_id bigint PRIMARY KEY, seq bigint NOT NULL);

-- The charge writes this unique pair: it decides whether a request is a retry.
CREATE TABLE {schema}.idempotency (
    account_id bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    at timestamptz NOT NULL,
    seq bigint NOT NULL,
    slot smallint NOT NULL,
    PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_by_age ON {schema}.idempotency USING brin (at);

-- Answers kept for retries. A partition (slot) holds the answers of an hour, and partitions are used in turn. When all
-- answers in a partition are older than a day, it is truncated. No table is created or dropped while the service runs.
CREATE TABLE {schema}.answers (
    slot smallint NOT NULL,
    account_id bigint NOT NULL,
    seq bigint NOT NULL,
    -- by the clock, which may be earlier than the ledger's times
    at timestamptz NOT NULL,
    headers text NOT NULL,
    -- compressed by the service
    body bytea NOT NULL,
    PRIMARY KEY (slot, account_id, seq)
) PARTITION BY LIST (slot);
ALTER TABLE {schema}.answers ALTER COLUMN body SET STORAGE EXTERNAL;
-- 32 as in the function answer_slot and in schema.ANSWER_SLOTS
DO $$
BEGIN
    FOR slot IN 0..31 LOOP
        EXECUTE format('CREATE TABLE {schema}.answers_%s PARTITION OF {schema}.answers FOR VALUES IN (%s)', slot, slot);
    END LOOP;
END
$$;

-- Audit log

-- Every action on keys, credits and people: numbers, names of fields, and the reason an operator gave. No contact data,
-- no key.
CREATE TABLE {schema}.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind {schema}.actor_kind NOT NULL,
    actor_id text NOT NULL CHECK (length(actor_id) BETWEEN 1 AND 200),
    action text NOT NULL CHECK (action ~ '^[a-z]+\.[a-z_]+$'),
    account_id bigint,
    key_id bigint,
    entry_seq bigint,
    details jsonb NOT NULL DEFAULT '{}' CHECK (length(details::text) <= 10000)
);
CREATE INDEX audit_by_account ON {schema}.audit (account_id, id);

-- Suppression list: domains by name, email addresses and phone numbers by a keyed hash, and the leads that carry them.
-- The service's role can add to these tables and never delete from them: an opt-out is permanent.

CREATE TYPE {schema}.suppressed_kind AS ENUM ('domain', 'email', 'phone');

CREATE TABLE {schema}.suppressed (
    kind {schema}.suppressed_kind NOT NULL,
    -- the name of a domain, otherwise a keyed hash: nobody can read an address from it
    value bytea NOT NULL CHECK (octet_length(value) BETWEEN 1 AND 253),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- the audit entry that says by whom and why
    audit_id bigint NOT NULL REFERENCES {schema}.audit,
    -- when the last repeated search for it started, and when no writer could have missed it any more
    tried_at timestamptz,
    settled_at timestamptz,
    PRIMARY KEY (kind, value)
);
CREATE INDEX suppressed_by_time ON {schema}.suppressed (at);
CREATE INDEX suppressed_unsettled ON {schema}.suppressed (at) WHERE settled_at IS NULL;

-- What workers keep in memory: by the domain of a lead, so that an answer needs one look-up per lead.
CREATE TABLE {schema}.suppressed_leads (
    domain text COLLATE "C" NOT NULL,
    -- the hash of what the lead carries; empty: the whole lead
    value bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- a worker asks for what was written by transactions that had not ended when it asked last
    written_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (domain, value)
);
CREATE INDEX suppressed_leads_by_time ON {schema}.suppressed_leads (at);
CREATE INDEX suppressed_leads_by_writer ON {schema}.suppressed_leads (written_by);

-- A hash under the secret that the list was started with. With another secret nothing on the list would match, and
-- nobody would notice.
CREATE TABLE {schema}.suppression_secret (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    proof bytea NOT NULL
);

-- People who sign in to the dashboard. Only hashes of sessions, mailed links and recovery codes are stored.

CREATE TABLE {schema}.people (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- lower case
    email text COLLATE "C" NOT NULL UNIQUE CHECK (length(email) BETWEEN 3 AND 254),
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    -- Argon2id, with its parameters
    password text NOT NULL,
    -- the secret of the second factor, sealed; null: there is none
    totp bytea,
    -- number of the last half minute whose code was used: neither it nor an earlier one is accepted again
    totp_step bigint NOT NULL DEFAULT 0,
    made_at timestamptz NOT NULL DEFAULT now()
);

CREATE TYPE {schema}.role AS ENUM ('viewer', 'member', 'owner');

CREATE TABLE {schema}.members (
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    role {schema}.role NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, person_id)
);
CREATE INDEX members_by_person ON {schema}.members (person_id);

CREATE TABLE {schema}.sessions (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- the number of a session where sessions are listed
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    -- the account that the person looks at
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    made_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    -- when the password was last given
    proven_at timestamptz NOT NULL,
    agent text NOT NULL CHECK (length(agent) <= 300),
    address text NOT NULL CHECK (length(address) <= 50)
) WITH (fillfactor = 70);
CREATE INDEX sessions_by_person ON {schema}.sessions (person_id);

CREATE TABLE {schema}.recovery_codes (
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    used_at timestamptz,
    PRIMARY KEY (person_id, digest)
);

-- A link that was mailed: a new password for a person, or an invitation to an account.
CREATE TYPE {schema}.link_purpose AS ENUM ('reset', 'invite');
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
);
CREATE INDEX links_by_account ON {schema}.links (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX links_by_email ON {schema}.links (email);
CREATE UNIQUE INDEX links_one_reset ON {schema}.links (email) WHERE purpose = 'reset';

-- Times of attempts to sign in, by the person they were for and the address they came from (hashed): exact, and kept
-- over a restart.
CREATE TABLE {schema}.tries (
    bucket bytea PRIMARY KEY CHECK (octet_length(bucket) = 32),
    times timestamptz[] NOT NULL,
    last_at timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX tries_by_time ON {schema}.tries (last_at);

-- Requests with a key, counted by workers and written periodically; usage_days has only charged ones.
CREATE TABLE {schema}.request_days (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation text COLLATE "C" NOT NULL,
    -- ok, refused (the caller can fix it), limited (too fast), failed (our fault)
    outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('ok', 'refused', 'limited', 'failed')),
    requests bigint NOT NULL,
    PRIMARY KEY (key_id, day, operation, outcome)
) WITH (fillfactor = 50);

-- Owners get one mail when a balance falls below a number, and another only after it has been above.
CREATE TABLE {schema}.balance_alerts (
    account_id bigint PRIMARY KEY REFERENCES {schema}.accounts,
    api_below bigint CHECK (api_below > 0),
    lead_below bigint CHECK (lead_below > 0),
    -- since when a worker has been sending the mail; another takes over if it never finishes
    claimed_at timestamptz,
    -- when the owners were mailed; null again once the balance is not below its number
    api_mailed_at timestamptz,
    lead_mailed_at timestamptz
);
