-- Gives back what a charge took, all of it or a part, never more in sum; refunded credits don't expire. A lead whose
-- whole charge is refunded counts as not paid for.
CREATE OR REPLACE FUNCTION {schema}.refund(
    account_id bigint, charge_seq bigint, api_credits bigint, lead_credits bigint, actor text, request_id text,
    reason text,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint,
    OUT left_api bigint, OUT left_lead bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
    charge {schema}.ledger;
    charge_at timestamptz;
BEGIN
    balance := {schema}.operate(refund.account_id);
    entry_seq := {schema}.done_before(refund.account_id, request_id);
    IF entry_seq IS NOT NULL THEN
        outcome := 'done before';
        RETURN;
    END IF;
    charge_at := {schema}.entry_time(refund.account_id, charge_seq);
    SELECT * INTO charge FROM {schema}.ledger l
    WHERE l.account_id = refund.account_id AND l.seq = charge_seq AND l.at = charge_at AND l.kind = 'charge';
    IF NOT FOUND THEN
        outcome := 'no charge';
        RETURN;
    END IF;
    SELECT -charge.api - coalesce(sum(l.api), 0), -charge.lead - coalesce(sum(l.lead), 0) INTO left_api, left_lead
    FROM {schema}.ledger l
    WHERE l.account_id = refund.account_id AND l.refers_to = charge_seq AND l.kind = 'refund'
        AND l.at BETWEEN charge_at AND balance.at;
    IF api_credits IS NULL AND lead_credits IS NULL THEN
        entry.api := left_api;
        entry.lead := left_lead;
    ELSE
        entry.api := coalesce(api_credits, 0);
        entry.lead := coalesce(lead_credits, 0);
    END IF;
    IF entry.api NOT BETWEEN 0 AND left_api OR entry.lead NOT BETWEEN 0 AND left_lead OR entry.api + entry.lead = 0 THEN
        outcome := 'too much';
        RETURN;
    END IF;
    entry.kind := 'refund';
    entry.operation := charge.operation;
    entry.refers_to := charge_seq;
    balance := {schema}.operated(entry, balance, actor, request_id,
        jsonb_build_object('charge', charge_seq, 'reason', reason));
    left_api := left_api - entry.api;
    left_lead := left_lead - entry.lead;
    IF left_lead = 0 THEN
        DELETE FROM {schema}.paid p
        WHERE p.account_id = refund.account_id AND p.seq = charge_seq AND p.domain = ANY(ARRAY(
            SELECT substr(line, 3) FROM unnest(string_to_array(charge.domains, E'\n')) line
            WHERE starts_with(line, 'c ')
        ));
    END IF;
    outcome := 'refunded';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;
