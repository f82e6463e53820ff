-- Corrects a balance by hand, up or down; credits are taken as by a charge: from those that expire soonest.
CREATE OR REPLACE FUNCTION {schema}.adjust(
    account_id bigint, api_credits bigint, lead_credits bigint, actor text, request_id text, reason text,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
BEGIN
    balance := {schema}.operate(adjust.account_id);
    entry_seq := {schema}.done_before(adjust.account_id, request_id);
    balance_api := balance.api;
    balance_lead := balance.lead;
    IF balance.account_id IS NULL THEN
        outcome := 'no account';
        RETURN;
    ELSIF entry_seq IS NOT NULL THEN
        outcome := 'done before';
        RETURN;
    ELSIF balance.api + api_credits < 0 OR balance.lead + lead_credits < 0 THEN
        outcome := 'credits';
        RETURN;
    END IF;
    IF balance.next_expiry IS NOT NULL THEN
        balance := {schema}.burn(balance, greatest(0, -api_credits), greatest(0, -lead_credits));
    END IF;
    entry.kind := 'adjust';
    entry.operation := 'none';
    entry.api := api_credits;
    entry.lead := lead_credits;
    balance := {schema}.operated(entry, balance, actor, request_id, jsonb_build_object('reason', reason));
    outcome := 'adjusted';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;
