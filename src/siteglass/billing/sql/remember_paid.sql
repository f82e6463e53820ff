-- Fills `paid` from the ledger when a plan starts to look back. First call (after_seq null): everything, while charges
-- continue. Second call, once the plan has changed: the rows since, with the balance locked, so that no charge is
-- missed.
CREATE OR REPLACE FUNCTION {schema}.remember_paid(
    account_id bigint, hours integer, after_seq bigint, OUT last_seq bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF after_seq IS NOT NULL THEN
        PERFORM {schema}.open_balance(remember_paid.account_id);
    END IF;
    SELECT b.seq INTO last_seq FROM {schema}.balances b WHERE b.account_id = remember_paid.account_id;
    INSERT INTO {schema}.paid AS p
    SELECT DISTINCT ON (line) remember_paid.account_id, substr(line, 3), l.at, l.seq
    FROM {schema}.ledger l CROSS JOIN unnest(string_to_array(l.domains, E'\n')) line
    WHERE l.account_id = remember_paid.account_id AND l.seq > coalesce(after_seq, 0) AND l.seq <= last_seq
        AND l.kind = 'charge'
        AND l.at > clock_timestamp() - make_interval(hours => remember_paid.hours) AND starts_with(line, 'c ')
        AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
            WHERE r.account_id = remember_paid.account_id AND r.refers_to = l.seq AND r.kind = 'refund'
                AND r.at >= l.at), 0) < -l.lead
    ORDER BY line, l.seq DESC
    ON CONFLICT ON CONSTRAINT paid_pkey DO UPDATE SET at = excluded.at, seq = excluded.seq WHERE p.at < excluded.at;
END
$$;
