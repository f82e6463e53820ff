-- Requests of people who asked what is stored about them: how many customers received it. A job counts, since that reads
-- the whole ledger. Rows live for eight days, a day longer than the ticket with which somebody can ask again.
CREATE TABLE {schema}.received_counts (
    -- the keyed hash of the address, or the domain itself
    value_hash bytea PRIMARY KEY,
    -- the address that gets the number by mail; forgotten when it was sent
    email text,
    -- the websites whose records contain the value
    domains text[] NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    counted_at timestamptz,
    customers integer
);
