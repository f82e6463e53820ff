-- What a site said of a page when it was last fetched whole, so that the next visit asks only for a change.
ALTER TABLE {schema}.addresses
    ADD COLUMN etag text,
    ADD COLUMN modified text,             -- Last-Modified, as sent
    ADD COLUMN digest text COLLATE "C",   -- of the body, as in the facts store
    ADD COLUMN full_at timestamptz,       -- when the whole page was last written to an archive
    ADD COLUMN store bigint;              -- the facts store that gets the archive
-- How often a domain was visited, and how often it had changed: what its next visit may be planned by.
ALTER TABLE {schema}.domains
    ADD COLUMN visits smallint NOT NULL DEFAULT 0,
    ADD COLUMN changes smallint NOT NULL DEFAULT 0,
    ADD COLUMN source smallint;           -- which list it came from first
CREATE TABLE {schema}.sources (
    source smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    licence text NOT NULL,
    UNIQUE (name, licence)
);
