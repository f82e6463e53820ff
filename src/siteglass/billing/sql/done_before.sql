-- The ledger row that an operator's command with this reference wrote before: a command whose confirmation was lost can
-- be repeated.
CREATE OR REPLACE FUNCTION {schema}.done_before(account_id bigint, request_id text) RETURNS bigint
STABLE LANGUAGE sql AS $$
SELECT l.seq FROM {schema}.ledger l
WHERE l.account_id = done_before.account_id AND l.request_id = done_before.request_id AND l.actor_kind = 'operator'
    AND l.kind IN ('grant', 'refund', 'adjust')
$$;
