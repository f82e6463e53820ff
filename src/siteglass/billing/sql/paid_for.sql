-- Whether an account ever paid for a lead. Answers from `bought` where it can. Otherwise it first extends `bought` by at
-- most `max_rows` ledger rows. `behind` is the number of rows still unread: while there are any, a no may become a yes.
CREATE OR REPLACE FUNCTION {schema}.paid_for(
    account_id bigint, domain text, max_rows integer, OUT paid boolean, OUT behind bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    behind := 0;
    paid := {schema}.has_bought(paid_for.account_id, paid_for.domain);
    IF paid THEN
        RETURN;
    END IF;
    behind := {schema}.extend_bought(paid_for.account_id, max_rows);
    paid := {schema}.has_bought(paid_for.account_id, paid_for.domain);
END
$$;
