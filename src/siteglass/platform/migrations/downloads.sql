-- Downloads: jobs that buy leads page by page and keep them for a file. Workers take a job by its lease.
CREATE TABLE {schema}.downloads (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    -- the actor of its charges; no foreign key: the file stays after the person has left
    person_id bigint NOT NULL,
    -- of the form that started it: a form that is sent twice starts one job
    form_key text NOT NULL CHECK (length(form_key) BETWEEN 16 AND 64),
    kind text NOT NULL CHECK (kind IN ('search', 'enrich')),
    title text NOT NULL CHECK (length(title) <= 200),
    -- the body of the search; empty for an enrichment
    request text NOT NULL,
    -- of an enrichment: the uploaded rows, compressed
    source bytea,
    format text NOT NULL CHECK (format IN ('csv', 'xlsx')),
    columns text NOT NULL,
    -- rows at most, and lead credits at most: what the button said
    wanted integer NOT NULL CHECK (wanted BETWEEN 1 AND 20000),
    max_credits integer NOT NULL CHECK (max_credits BETWEEN 0 AND 20000),
    -- leads that the search leaves out because the account has paid for them
    left_out integer NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'stopped', 'ended')),
    -- why it ended early, in words
    reason text NOT NULL DEFAULT '',
    stop_wanted boolean NOT NULL DEFAULT false,
    -- what was bought so far, and where the next page starts
    pages integer NOT NULL DEFAULT 0,
    next_page text NOT NULL DEFAULT '',
    rows integer NOT NULL DEFAULT 0,
    lead_credits integer NOT NULL DEFAULT 0,
    api_credits integer NOT NULL DEFAULT 0,
    bytes integer NOT NULL DEFAULT 0,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- when the last page was stored
    moved_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    -- the worker that has the job is the one that took it last; after the end of its lease another may take it
    lease bigint NOT NULL DEFAULT 0,
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    UNIQUE (account_id, form_key)
);
CREATE INDEX downloads_open ON {schema}.downloads (id) WHERE state IN ('queued', 'running');
CREATE INDEX downloads_ended ON {schema}.downloads (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE {schema}.download_pages (
    download_id bigint NOT NULL REFERENCES {schema}.downloads ON DELETE CASCADE,
    page integer NOT NULL,
    -- the response that was paid for, compressed
    content bytea NOT NULL,
    PRIMARY KEY (download_id, page)
);
ALTER TABLE {schema}.download_pages ALTER COLUMN content SET STORAGE EXTERNAL;

-- Files of domains that people uploaded, until they choose what to do with them.
CREATE TABLE {schema}.uploads (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    name text NOT NULL CHECK (length(name) <= 200),
    -- the rows and the domain of each, compressed
    content bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX uploads_by_account ON {schema}.uploads (account_id, made_at);
CREATE INDEX uploads_old ON {schema}.uploads (made_at);
ALTER TABLE {schema}.uploads ALTER COLUMN content SET STORAGE EXTERNAL;
