-- Appends a row to the hash chain of its account and updates the balance. The caller holds the lock on the balance row.
CREATE OR REPLACE FUNCTION {schema}.append_entry(entry {schema}.ledger, balance {schema}.balances)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
BEGIN
    entry := {schema}.next_entry(entry, balance);
    balance.seq := entry.seq;
    balance.api := balance.api + entry.api;
    balance.lead := balance.lead + entry.lead;
    balance.at := entry.at;
    balance.head := entry.hash;
    INSERT INTO {schema}.ledger VALUES (entry.*);
    UPDATE {schema}.balances
    SET api = balance.api, lead = balance.lead, seq = balance.seq, head = balance.head, at = balance.at
    WHERE account_id = balance.account_id;
    RETURN balance;
END
$$;
