-- Jobs that an API key starts: rows of `downloads` that belong to no person. The release before looks for jobs by
-- `account_id`, and takes those whose `leased_until` has passed: these have no `account_id`, and their `leased_until`
-- never passes. So its workers and pages do not meet them.
-- squawk-ignore ban-drop-not-null
ALTER TABLE {schema}.downloads ALTER COLUMN account_id DROP NOT NULL;
-- squawk-ignore ban-drop-not-null
ALTER TABLE {schema}.downloads ALTER COLUMN person_id DROP NOT NULL;
-- The account of the key, and the first key of its rotations: the newest one that works pays for the next page.
ALTER TABLE {schema}.downloads ADD COLUMN key_account bigint;
ALTER TABLE {schema}.downloads ADD COLUMN key_family bigint;
-- Of the body that started it: an Idempotency-Key that is sent with another one is refused.
ALTER TABLE {schema}.downloads ADD COLUMN fingerprint bytea;
-- When another worker may take it.
ALTER TABLE {schema}.downloads ADD COLUMN free_at timestamptz;
-- Of an enrichment by a key: the leads of the page, one per line. What was charged with one page is free in later ones.
ALTER TABLE {schema}.download_pages ADD COLUMN leads text;
-- Jobs of keys are longer.
-- squawk-ignore ban-drop-constraint
ALTER TABLE {schema}.downloads DROP CONSTRAINT downloads_wanted_check;
-- squawk-ignore ban-drop-constraint
ALTER TABLE {schema}.downloads DROP CONSTRAINT downloads_max_credits_check;
ALTER TABLE {schema}.downloads ADD CONSTRAINT downloads_longest CHECK (
    wanted BETWEEN 1 AND 100000 AND max_credits BETWEEN 0 AND 100000
    AND (account_id IS NOT NULL AND person_id IS NOT NULL AND wanted <= 20000
        OR key_account IS NOT NULL AND key_family IS NOT NULL AND leased_until = 'infinity')
) NOT VALID;
