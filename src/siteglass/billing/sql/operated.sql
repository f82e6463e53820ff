-- Writes the ledger row of an operator's command, and the audit entry that belongs to it.
CREATE OR REPLACE FUNCTION {schema}.operated(
    entry {schema}.ledger, balance {schema}.balances, actor text, request_id text, details jsonb
) RETURNS {schema}.balances LANGUAGE plpgsql AS $$
BEGIN
    entry.at := balance.at;
    entry.actor_kind := 'operator';
    entry.actor_id := actor;
    entry.request_id := request_id;
    entry.domains := '';
    balance := {schema}.append_entry(entry, balance);
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, entry_seq, details)
    VALUES ('operator', actor, 'credits.' || entry.kind, balance.account_id, balance.seq,
        jsonb_build_object('api', entry.api, 'lead', entry.lead) || details);
    RETURN balance;
END
$$;
