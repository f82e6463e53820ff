-- The next row in the hash chain of an account: checks an entry and gives it its number and hashes. It writes nothing;
-- the caller holds the lock on the balance row.
CREATE OR REPLACE FUNCTION {schema}.next_entry(entry {schema}.ledger, balance {schema}.balances)
RETURNS {schema}.ledger LANGUAGE plpgsql AS $$
BEGIN
    IF length(entry.actor_id) NOT BETWEEN 1 AND 200 OR length(entry.request_id) NOT BETWEEN 1 AND 100
        OR strpos(entry.actor_id || entry.request_id, E'\n') > 0
        OR octet_length(entry.domains) > 262144 OR strpos(entry.domains, '@') > 0
        OR entry.refers_to > balance.seq OR (entry.expires_at IS NOT NULL AND entry.kind <> 'grant')
    THEN
        RAISE check_violation USING MESSAGE = 'not a ledger row', CONSTRAINT = 'ledger_row';
    END IF;
    entry.account_id := balance.account_id;
    entry.seq := balance.seq + 1;
    entry.previous_hash := balance.head;
    entry.hash := {schema}.entry_hash(entry);
    RETURN entry;
END
$$;
