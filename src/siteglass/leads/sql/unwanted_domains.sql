-- The names among these that lists keep out of a response. They are on an excluded list; or there are lists to choose
-- from, and they are on none of them.
CREATE OR REPLACE FUNCTION {schema}.unwanted_domains(exclude_lists bigint[], only_lists bigint[], names text[])
RETURNS text[] STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
SELECT ARRAY(
    SELECT name FROM unnest(unwanted_domains.names) name
    WHERE EXISTS (
        SELECT FROM {schema}.list_domains d
        WHERE d.list_id = ANY(unwanted_domains.exclude_lists) AND d.domain = name
    ) OR cardinality(unwanted_domains.only_lists) > 0 AND NOT EXISTS (
        SELECT FROM {schema}.list_domains d
        WHERE d.list_id = ANY(unwanted_domains.only_lists) AND d.domain = name
    )
)
$$;
