-- Appends a row to the hash chain of its account and updates the balance. The caller holds the lock on the balance row.
CREATE OR REPLACE FUNCTION {schema}.append_entry(entry {schema}.ledger, balance {schema}.balances)
RETURNS {schema}.balances LANGUAGE plpgsql AS $$
BEGIN
    IF length(entry.actor_id) NOT BETWEEN 1 AND 200 OR length(entry.request_id) NOT BETWEEN 1 AND 100
        OR strpos(entry.actor_id || entry.request_id, E'\n') > 0
        OR octet_length(entry.domains) > 262144 OR strpos(entry.domains, '@') > 0
        OR entry.refers_to > balance.seq OR (entry.expires_at IS NOT NULL AND entry.kind <> 'grant')
    THEN
        RAISE check_violation USING MESSAGE = 'not a ledger row', CONSTRAINT = 'ledger_row';
    END IF;
    balance.seq := balance.seq + 1;
    balance.api := balance.api + entry.api;
    balance.lead := balance.lead + entry.lead;
    balance.at := entry.at;
    entry.account_id := balance.account_id;
    entry.seq := balance.seq;
    entry.previous_hash := balance.head;
    entry.hash := {schema}.entry_hash(entry);
    balance.head := entry.hash;
    INSERT INTO {schema}.ledger VALUES (entry.*);
    UPDATE {schema}.balances
    SET api = balance.api, lead = balance.lead, seq = balance.seq, head = balance.head, at = balance.at
    WHERE account_id = balance.account_id;
    RETURN balance;
END
$$;
