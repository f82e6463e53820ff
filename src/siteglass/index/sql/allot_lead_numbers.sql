-- Reserves a block of numbers for leads, above every number reserved before and above `above`, the highest in the lead
-- store. Returns the first of the block, or null if 32 bits have no room for it. A block is never given twice: what its
-- caller does not use is lost.
CREATE OR REPLACE FUNCTION {schema}.allot_lead_numbers(block_size bigint, above bigint)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first bigint;
BEGIN
    SELECT greatest(n.next, allot_lead_numbers.above + 1) INTO first FROM {schema}.lead_numbers n FOR NO KEY UPDATE;
    IF first + block_size > 2147483648 THEN
        RETURN NULL;
    END IF;
    UPDATE {schema}.lead_numbers SET next = first + block_size;
    RETURN first;
END
$$;
