-- Lists of domains. A transaction that changes the domains of a list first locks its row here, so that the bitmap, the
-- count and the revision always fit.
CREATE TABLE {schema}.lists (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    -- lists of test keys: their domains are numbered by the made-up leads
    test boolean NOT NULL,
    name text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    -- filled by the service, read-only for callers
    built_in boolean NOT NULL DEFAULT false,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    domains integer NOT NULL DEFAULT 0 CHECK (domains >= 0),
    -- one higher after every change of the bitmap: workers cache bitmaps by it
    revision bigint NOT NULL DEFAULT 0,
    -- the lead numbers of the domains, as a Roaring bitmap; null: to be made again from the rows
    bitmap bytea,
    -- of the list `paid`: the last ledger row that is in it
    ledger_seq bigint NOT NULL DEFAULT 0,
    UNIQUE (account_id, test, name)
);
ALTER TABLE {schema}.lists ALTER COLUMN bitmap SET STORAGE EXTERNAL;

CREATE TABLE {schema}.list_domains (
    list_id bigint NOT NULL REFERENCES {schema}.lists ON DELETE CASCADE,
    domain text COLLATE "C" NOT NULL,
    -- null: there is no lead of this name yet
    lead_no integer,
    -- when a lead of this name was last looked for; null: never
    tried_at timestamptz,
    PRIMARY KEY (list_id, domain)
);
CREATE INDEX list_domains_unknown ON {schema}.list_domains (tried_at, list_id) WHERE lead_no IS NULL;
CREATE INDEX list_domains_untried ON {schema}.list_domains (list_id) WHERE lead_no IS NULL AND tried_at IS NULL;
