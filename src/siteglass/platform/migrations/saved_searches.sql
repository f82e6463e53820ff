-- Searches that keys of an account have saved, as they were sent: an age such as "the last 30 days" counts from each
-- run.
CREATE TABLE {schema}.saved_searches (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    -- searches of test keys: they find the made-up leads
    test boolean NOT NULL,
    name text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    -- the first key of the owner's chain of rotations
    owner_key_id bigint NOT NULL REFERENCES {schema}.keys,
    -- whether other keys of the account see it
    shared boolean NOT NULL,
    body text NOT NULL CHECK (octet_length(body) <= 65536),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- the last count
    counted_at timestamptz,
    total bigint,
    UNIQUE (account_id, test, name)
);
