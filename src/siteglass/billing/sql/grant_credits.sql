-- Gives credits to an account, once for each request_id.
CREATE OR REPLACE FUNCTION {schema}.grant_credits(
    account_id bigint, api_credits bigint, lead_credits bigint, expires_at timestamptz, actor text, request_id text,
    OUT outcome text, OUT entry_seq bigint, OUT balance_api bigint, OUT balance_lead bigint
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    balance {schema}.balances;
    entry {schema}.ledger;
BEGIN
    balance := {schema}.operate(grant_credits.account_id);
    entry_seq := {schema}.done_before(grant_credits.account_id, request_id);
    balance_api := balance.api;
    balance_lead := balance.lead;
    IF balance.account_id IS NULL THEN
        outcome := 'no account';
        RETURN;
    ELSIF entry_seq IS NOT NULL THEN
        outcome := 'done before';
        RETURN;
    ELSIF expires_at <= clock_timestamp() THEN
        outcome := 'expired';
        RETURN;
    ELSIF api_credits < 0 OR lead_credits < 0 THEN
        RAISE check_violation USING MESSAGE = 'not a grant', CONSTRAINT = 'ledger_row';
    END IF;
    entry.kind := 'grant';
    entry.operation := 'none';
    entry.api := api_credits;
    entry.lead := lead_credits;
    entry.expires_at := expires_at;
    balance := {schema}.operated(entry, balance, actor, request_id,
        jsonb_build_object('expires_at', expires_at, 'reference', request_id));
    IF expires_at IS NOT NULL THEN
        INSERT INTO {schema}.expiring
        VALUES (grant_credits.account_id, expires_at, balance.seq, api_credits, lead_credits);
        balance := {schema}.look_ahead(balance);
    END IF;
    outcome := 'granted';
    entry_seq := balance.seq;
    balance_api := balance.api;
    balance_lead := balance.lead;
END
$$;
