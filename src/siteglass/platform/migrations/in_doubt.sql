-- Charges whose confirmation was lost: the account was charged, and the caller got a 503.
CREATE TABLE {schema}.in_doubt (
    account_id bigint NOT NULL,
    -- of the charge in the ledger
    seq bigint NOT NULL,
    request_id text NOT NULL,
    idempotency_key text COLLATE "C",
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account_id, seq)
);

-- When the stored response was returned to a retry: then the charge is not in doubt.
ALTER TABLE {schema}.idempotency ADD COLUMN answered_at timestamptz;
