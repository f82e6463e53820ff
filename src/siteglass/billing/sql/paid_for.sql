-- Whether an account ever paid for a lead. Answers from `bought` where it can. Otherwise it first extends `bought` by at
-- most `max_rows` ledger rows. `behind` is the number of rows still unread: while there are any, a no may become a yes.
CREATE OR REPLACE FUNCTION {schema}.paid_for(
    account_id bigint, domain text, max_rows integer, OUT paid boolean, OUT behind bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    since bigint;
    until bigint;
    newest bigint;
BEGIN
    behind := 0;
    paid := {schema}.has_bought(paid_for.account_id, paid_for.domain);
    IF paid THEN
        RETURN;
    END IF;
    INSERT INTO {schema}.bought_until VALUES (paid_for.account_id, 0) ON CONFLICT DO NOTHING;
    SELECT u.seq INTO since FROM {schema}.bought_until u WHERE u.account_id = paid_for.account_id FOR UPDATE;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = paid_for.account_id;
    until := least(newest, since + max_rows);
    IF until > since THEN
        INSERT INTO {schema}.bought
        SELECT DISTINCT paid_for.account_id, substr(line, 3), l.seq
        FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
        WHERE l.account_id = paid_for.account_id AND l.seq > since AND l.seq <= until AND l.kind = 'charge'
            AND starts_with(line, 'c ')
        ON CONFLICT DO NOTHING;
        UPDATE {schema}.bought_until u SET seq = until WHERE u.account_id = paid_for.account_id;
    END IF;
    behind := newest - until;
    paid := {schema}.has_bought(paid_for.account_id, paid_for.domain);
END
$$;
