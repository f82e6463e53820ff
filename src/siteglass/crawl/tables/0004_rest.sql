-- Until when a site wants to be left alone, by its Retry-After: a domain that is added again is not visited sooner.
ALTER TABLE {schema}.domains ADD COLUMN rest_until timestamptz;
