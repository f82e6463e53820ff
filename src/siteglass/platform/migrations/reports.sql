-- Addresses and numbers that people of an account reported as wrong.
CREATE TABLE {schema}.reports (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    -- no foreign key: the report stays after the person was deleted
    person_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    field text NOT NULL CHECK (field IN ('email', 'phone')),
    -- a keyed hash, as in the suppression list: nobody can read the value from it
    value bytea NOT NULL CHECK (octet_length(value) = 32),
    reason text NOT NULL CHECK (reason IN ('not_theirs', 'does_not_work', 'wrong_person', 'other')),
    comment text NOT NULL CHECK (length(comment) <= 300),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (account_id, person_id, domain, value)
);
CREATE INDEX reports_by_age ON {schema}.reports (account_id, at);
