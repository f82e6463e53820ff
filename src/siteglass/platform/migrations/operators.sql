-- People who run the service in the console: support reads, operators act.
CREATE TABLE {schema}.operators (
    person_id bigint PRIMARY KEY REFERENCES {schema}.people ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('support', 'operator')),
    since timestamptz NOT NULL DEFAULT now()
);

-- What their programs send to the admin API; only hashes are stored.
CREATE TABLE {schema}.operator_tokens (
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    person_id bigint NOT NULL REFERENCES {schema}.operators ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX operator_tokens_by_person ON {schema}.operator_tokens (person_id);

-- Why the last run of a shared job failed; empty: it did not.
ALTER TABLE {schema}.job_leases ADD COLUMN failure text NOT NULL DEFAULT '';

-- How far the audit log is hashed: each row here continues the one before. It is only added to.
CREATE TABLE {schema}.audit_chain (
    last_id bigint PRIMARY KEY,
    rows bigint NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32)
);

-- The signed roots of ledger and audit log, as they are appended to the file outside.
CREATE TABLE {schema}.roots (
    number bigint PRIMARY KEY,
    at timestamptz NOT NULL,
    line text NOT NULL
);

-- The newest signed head of each account's ledger, which goes with its statements.
CREATE TABLE {schema}.signed_heads (
    account_id bigint PRIMARY KEY REFERENCES {schema}.accounts,
    seq bigint NOT NULL,
    line text NOT NULL
);
