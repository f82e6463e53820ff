-- The frontier: which domains are fetched when, and what is known of their addresses and robots.txt.
-- Everything can be built again from lists of domains and archives. At most 300 bytes a domain.
-- Partitions from the start: a table of 33 million rows cannot be split while it is in use.
CREATE TABLE {schema}.domains (
    domain text NOT NULL COLLATE "C",
    next_at timestamptz NOT NULL,     -- when it is fetched next; of a domain that is being fetched, when its lease ends
    visit_at timestamptz,             -- when the visit under way began; survives the fetcher that began it
    visited_at timestamptz,           -- when the last visit ended
    holder bigint,                    -- the fetcher that has the lease
    delay_ms integer NOT NULL,        -- what the site last needed between two requests
    failures smallint NOT NULL DEFAULT 0,
    sent smallint NOT NULL DEFAULT 0, -- requests on the day `sent_on`
    sent_on date,
    PRIMARY KEY (domain)
) PARTITION BY HASH (domain);
CREATE TABLE {schema}.addresses (
    domain text NOT NULL COLLATE "C",
    url text NOT NULL COLLATE "C",
    kind smallint NOT NULL,
    hops smallint NOT NULL,
    wanted boolean NOT NULL,
    status smallint,                  -- of HTTP; below 0: see crawl/results.py
    fetched_at timestamptz,
    PRIMARY KEY (domain, url)
) PARTITION BY HASH (domain);
CREATE TABLE {schema}.robots (
    origin text NOT NULL COLLATE "C",
    status smallint NOT NULL,
    fetched_at timestamptz NOT NULL,
    content bytea NOT NULL,           -- compressed by zlib
    next_url text NOT NULL,           -- where a redirect leads that was not followed yet; '': it is complete
    hops smallint NOT NULL,
    PRIMARY KEY (origin)
) PARTITION BY HASH (origin);
DO $$
BEGIN
    FOR part IN 0..15 LOOP
        -- A lease moves `next_at`, which is indexed: each leaves a dead row and a dead index entry. So vacuum often.
        EXECUTE format('CREATE TABLE {schema}.domains_%s PARTITION OF {schema}.domains'
            ' FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,'
            ' autovacuum_vacuum_cost_delay = 1)', part, part);
        EXECUTE format('CREATE TABLE {schema}.addresses_%s PARTITION OF {schema}.addresses'
            ' FOR VALUES WITH (MODULUS 16, REMAINDER %s) WITH (fillfactor = 90)', part, part);
        EXECUTE format('CREATE TABLE {schema}.robots_%s PARTITION OF {schema}.robots'
            ' FOR VALUES WITH (MODULUS 16, REMAINDER %s)', part, part);
    END LOOP;
END $$;
CREATE INDEX domains_next_at ON {schema}.domains (next_at);
CREATE INDEX domains_leased ON {schema}.domains (next_at) WHERE holder IS NOT NULL;
