-- The days from one visit of a domain to the next, and up to which visit they were decided. A run that was killed
-- decides again, and each visit counts once.
ALTER TABLE {schema}.domains
    ADD COLUMN pause_days smallint,
    ADD COLUMN planned_at timestamptz;
