-- The hash of a ledger row: the same bytes as `entry_hash` in ledger.py; a property test compares the two. Only the
-- last part can contain a line break, so two different rows never give the same text.
CREATE OR REPLACE FUNCTION {schema}.entry_hash(entry {schema}.ledger) RETURNS bytea STABLE LANGUAGE sql AS $$
SELECT sha256(entry.previous_hash || convert_to(concat_ws(E'\n',
    'siteglass ledger 1', entry.account_id, entry.seq, (extract(epoch FROM entry.at) * 1000000)::bigint,
    entry.kind, entry.operation, entry.api, entry.lead,
    coalesce((extract(epoch FROM entry.expires_at) * 1000000)::bigint::text, ''), coalesce(entry.refers_to::text, ''),
    entry.actor_kind, entry.actor_id, entry.request_id, entry.domains
), 'UTF8'))
$$;
