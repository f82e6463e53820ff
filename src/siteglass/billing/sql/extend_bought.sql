-- Adds at most `max_rows` ledger rows of an account to `bought`. Returns the number of rows still unread.
CREATE OR REPLACE FUNCTION {schema}.extend_bought(account_id bigint, max_rows integer)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    since bigint;
    until bigint;
    newest bigint;
BEGIN
    INSERT INTO {schema}.bought_until VALUES (extend_bought.account_id, 0) ON CONFLICT DO NOTHING;
    SELECT u.seq INTO since FROM {schema}.bought_until u WHERE u.account_id = extend_bought.account_id FOR UPDATE;
    SELECT b.seq INTO newest FROM {schema}.balances b WHERE b.account_id = extend_bought.account_id;
    until := least(newest, since + max_rows);
    IF until > since THEN
        INSERT INTO {schema}.bought
        SELECT DISTINCT extend_bought.account_id, substr(line, 3), l.seq, l.at
        FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
        WHERE l.account_id = extend_bought.account_id AND l.seq > since AND l.seq <= until AND l.kind = 'charge'
            AND starts_with(line, 'c ')
        ON CONFLICT DO NOTHING;
        UPDATE {schema}.bought_until u SET seq = until WHERE u.account_id = extend_bought.account_id;
    END IF;
    RETURN newest - until;
END
$$;
