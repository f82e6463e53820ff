-- Jobs that one worker of all runs at a time: when each may be run next.
CREATE TABLE {schema}.job_leases (
    name text PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 200),
    due_at timestamptz NOT NULL
);
