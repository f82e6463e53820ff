-- Empties a partition of `answers` if everything in it is older than a day. It looks at the times in the partition, not
-- at its number. So neither the turn of an hour nor a changed clock can empty a partition with fresh answers. Two calls
-- for the same partition wait for each other. On a busy machine PostgreSQL may report a deadlock before either times
-- out. After a timeout or a deadlock, the next run empties the partition.
CREATE OR REPLACE FUNCTION {schema}.forget_answers(slot integer, OUT emptied boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    slot_table text := '{schema}.answers_' || slot;
    old text := 'SELECT coalesce(max(at) < clock_timestamp() - interval ''24 hours'', false) FROM ' || slot_table;
BEGIN
    EXECUTE old INTO emptied;
    IF emptied THEN
        PERFORM set_config('lock_timeout', '50', true);
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', slot_table);
        EXECUTE old INTO emptied;
    END IF;
    IF emptied THEN
        EXECUTE format('TRUNCATE %s', slot_table);
    END IF;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    emptied := false;
END
$$;
