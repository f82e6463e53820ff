-- The number of the newest row of the audit log, once no row with a lower one can appear any more. Rows get their numbers
-- before they are committed, so this waits for all who write. Null if one of them takes too long.
CREATE OR REPLACE FUNCTION {schema}.settled_audit_id(OUT id bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM set_config('lock_timeout', '1000', true);
    LOCK TABLE {schema}.audit IN SHARE MODE;
    SELECT coalesce(max(a.id), 0) INTO settled_audit_id.id FROM {schema}.audit a;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    settled_audit_id.id := NULL;
END
$$;
