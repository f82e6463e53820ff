-- How many watches an account may have.
ALTER TABLE {schema}.plans ADD COLUMN watches integer NOT NULL DEFAULT 100 CHECK (watches BETWEEN 0 AND 10000);

-- Saved searches that run again and report the leads that were not there before.
CREATE TABLE {schema}.watches (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    search_id bigint NOT NULL UNIQUE REFERENCES {schema}.saved_searches ON DELETE CASCADE,
    -- what is watched: the conditions as they were read when the watch was created
    filters text NOT NULL CHECK (octet_length(filters) <= 65536),
    -- the lists of the search, which apply when a run reports
    lists text NOT NULL CHECK (octet_length(lists) <= 65536),
    every text NOT NULL CHECK (every IN ('day', 'week')),
    -- of a weekly watch: 0 is Monday
    weekday smallint NOT NULL CHECK (weekday BETWEEN 0 AND 6),
    hour smallint NOT NULL CHECK (hour BETWEEN 0 AND 23),
    time_zone text NOT NULL CHECK (length(time_zone) <= 64),
    paused boolean NOT NULL DEFAULT false,
    -- the list that gets the new leads; empty: none
    add_to_list text COLLATE "C" NOT NULL DEFAULT '',
    -- the most that a run may buy, in lead credits, and the person who buys; null: nothing is bought
    max_lead_credits integer CHECK (max_lead_credits BETWEEN 1 AND 20000),
    buyer_id bigint,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    next_run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- all matches so far as a Roaring bitmap of lead numbers; null before the first run
    seen bytea,
    -- the last run
    ran_at timestamptz,
    -- of the last run that noted its matches: when it began, the highest lead number, and the build that made the index
    compared_at timestamptz,
    highest_no integer NOT NULL DEFAULT 0,
    build text NOT NULL DEFAULT '',
    -- the worker that runs it is the one that took it last; after the end of its lease another may take it
    lease bigint NOT NULL DEFAULT 0,
    leased_until timestamptz NOT NULL DEFAULT '-infinity'
);
ALTER TABLE {schema}.watches ALTER COLUMN seen SET STORAGE EXTERNAL;
CREATE INDEX watches_due ON {schema}.watches (next_run_at) WHERE NOT paused;

-- People of the account who get the new leads by mail.
CREATE TABLE {schema}.watch_recipients (
    watch_id bigint NOT NULL REFERENCES {schema}.watches ON DELETE CASCADE,
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    PRIMARY KEY (watch_id, person_id)
);
CREATE INDEX watch_recipients_by_person ON {schema}.watch_recipients (person_id);

CREATE TABLE {schema}.watch_runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    watch_id bigint NOT NULL REFERENCES {schema}.watches ON DELETE CASCADE,
    ran_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    outcome text NOT NULL CHECK (outcome IN ('baseline', 'compared', 'too_many', 'unreadable')),
    matches integer NOT NULL DEFAULT 0,
    new_leads integer NOT NULL DEFAULT 0,
    -- leads that match only because our own rules read them differently
    reread integer NOT NULL DEFAULT 0,
    -- the people who were mailed so far; what is to be done with the new leads is done when `delivered_at` is set
    mailed bigint[] NOT NULL DEFAULT '{}',
    delivered_at timestamptz,
    leased_until timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE INDEX watch_runs_by_watch ON {schema}.watch_runs (watch_id, id);
CREATE INDEX watch_runs_open ON {schema}.watch_runs (id) WHERE delivered_at IS NULL;
CREATE INDEX watch_runs_old ON {schema}.watch_runs (ran_at);

-- The new leads of a run are a list that only searches see.
ALTER TABLE {schema}.lists ADD COLUMN run_id bigint;
ALTER TABLE {schema}.lists ADD CONSTRAINT lists_run_id_fkey FOREIGN KEY (run_id) REFERENCES {schema}.watch_runs
    ON DELETE CASCADE NOT VALID;
