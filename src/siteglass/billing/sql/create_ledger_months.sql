-- Creates the partitions of the ledger for the month (UTC) of `now_at` and for `months` after it. Rows that had to go to
-- the default partition get theirs, too, and are moved. Returns how many partitions it created.
--
-- A partition is made first and attached then: charges and reads of single months continue meanwhile. If a long read of
-- the whole ledger is under way, it gives up; there are months of time for the next attempt.
CREATE OR REPLACE FUNCTION {schema}.create_ledger_months(now_at timestamptz, months integer, OUT created integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    month timestamp;
    wanted timestamp[];
    has_stray boolean;
    partition_name text;
BEGIN
    created := 0;
    PERFORM set_config('lock_timeout', '1000', true);
    PERFORM pg_advisory_xact_lock(hashtextextended('{schema} ledger months', 0));
    SELECT array_agg(m) INTO wanted FROM generate_series(
        date_trunc('month', now_at AT TIME ZONE 'UTC'),
        date_trunc('month', now_at AT TIME ZONE 'UTC') + make_interval(months => least(months, 24)),
        interval '1 month'
    ) m;
    has_stray := EXISTS (SELECT FROM {schema}.ledger_default);
    IF has_stray THEN
        LOCK TABLE {schema}.ledger IN ACCESS EXCLUSIVE MODE;
        wanted := wanted || ARRAY(
            SELECT DISTINCT date_trunc('month', l.at AT TIME ZONE 'UTC') FROM {schema}.ledger_default l
        );
        ALTER TABLE {schema}.ledger DETACH PARTITION {schema}.ledger_default;
    END IF;
    FOREACH month IN ARRAY wanted LOOP
        partition_name := 'ledger_' || to_char(month, 'YYYY_MM');
        CONTINUE WHEN to_regclass('{schema}.' || partition_name) IS NOT NULL;
        EXECUTE format('CREATE TABLE {schema}.%I (LIKE {schema}.ledger INCLUDING ALL)', partition_name);
        EXECUTE format('CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.%I'
            ' FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change()', partition_name);
        EXECUTE format('ALTER TABLE {schema}.ledger ATTACH PARTITION {schema}.%I FOR VALUES FROM (%L) TO (%L)',
            partition_name, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
        created := created + 1;
    END LOOP;
    IF has_stray THEN
        INSERT INTO {schema}.ledger SELECT * FROM {schema}.ledger_default;
        -- The rows have not changed, only their place.
        ALTER TABLE {schema}.ledger_default DISABLE TRIGGER no_change;
        TRUNCATE {schema}.ledger_default;
        ALTER TABLE {schema}.ledger_default ENABLE TRIGGER no_change;
        ALTER TABLE {schema}.ledger ATTACH PARTITION {schema}.ledger_default DEFAULT;
    END IF;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    created := 0;
END
$$;
