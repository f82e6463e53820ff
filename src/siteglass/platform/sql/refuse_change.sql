-- Keeps the ledger and the audit log append-only: corrections are new rows. The triggers that call it are created here,
-- because migrations run before functions exist.
CREATE OR REPLACE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the % is never changed: write a new row that corrects it', TG_TABLE_NAME;
END
$$;

-- The ledger's partitions, too: a statement that names one does not fire the trigger of the whole.
DO $$
DECLARE
    part regclass;
BEGIN
    FOR part IN SELECT relid FROM pg_partition_tree('{schema}.ledger') LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON %s'
            ' FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change()', part);
    END LOOP;
END
$$;

CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.audit
FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change();
