-- Takes credits from the grants that expire, the soonest first. Credits that never expire go last and are not recorded
-- anywhere but in the balance.
CREATE OR REPLACE FUNCTION {schema}.burn(balance {schema}.balances, api_credits bigint, lead_credits bigint)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
DECLARE
    part {schema}.expiring;
    taken_api bigint;
    taken_lead bigint;
BEGIN
    FOR part IN
        SELECT * FROM {schema}.expiring e WHERE e.account_id = balance.account_id ORDER BY e.expires_at, e.seq
    LOOP
        EXIT WHEN api_credits = 0 AND lead_credits = 0;
        taken_api := least(part.api, api_credits);
        taken_lead := least(part.lead, lead_credits);
        api_credits := api_credits - taken_api;
        lead_credits := lead_credits - taken_lead;
        IF part.api = taken_api AND part.lead = taken_lead THEN
            DELETE FROM {schema}.expiring e
            WHERE e.account_id = part.account_id AND e.expires_at = part.expires_at AND e.seq = part.seq;
        ELSIF taken_api > 0 OR taken_lead > 0 THEN
            UPDATE {schema}.expiring e SET api = part.api - taken_api, lead = part.lead - taken_lead
            WHERE e.account_id = part.account_id AND e.expires_at = part.expires_at AND e.seq = part.seq;
        END IF;
    END LOOP;
    RETURN {schema}.look_ahead(balance);
END
$$;
