-- Whether a charge for this lead is in `bought`. A charge counts unless all of its leads were refunded.
CREATE OR REPLACE FUNCTION {schema}.has_bought(account_id bigint, domain text) RETURNS boolean STABLE LANGUAGE sql AS $$
SELECT EXISTS (
    SELECT FROM {schema}.bought b JOIN {schema}.ledger l ON l.account_id = b.account_id AND l.seq = b.seq AND l.at = b.at
    WHERE b.account_id = has_bought.account_id AND b.domain = has_bought.domain
        AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
            WHERE r.account_id = has_bought.account_id AND r.refers_to = b.seq AND r.kind = 'refund'
                AND r.at >= b.at), 0) < -l.lead
)
$$;
