-- The leads among these that people of the account get free of charge: within `free_hours`, a charge took a credit for
-- the lead. Of a lead without an address it is enough that a charge returned it. What was read from the ledger counts:
-- call catch_up_received before.
CREATE OR REPLACE FUNCTION {schema}.received_before(
    account_id bigint, names text[], have_address boolean[], free_hours integer
) RETURNS text[] STABLE LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
SELECT ARRAY(
    SELECT lead.name FROM unnest(received_before.names, received_before.have_address) lead(name, has_address)
    WHERE EXISTS (
        SELECT FROM {schema}.received r
        WHERE r.account_id = received_before.account_id AND r.domain = lead.name
            AND r.at > clock_timestamp() - make_interval(hours => received_before.free_hours)
            AND (r.charged OR NOT lead.has_address)
    )
)
$$;
