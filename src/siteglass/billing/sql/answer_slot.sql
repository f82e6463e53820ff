-- The partition of `answers` that an answer given at this time belongs to: one for each hour, used in turn.
CREATE OR REPLACE FUNCTION {schema}.answer_slot(answered_at timestamptz) RETURNS smallint IMMUTABLE LANGUAGE sql AS $$
SELECT (floor(extract(epoch FROM answered_at) / 3600)::bigint % 32)::smallint
$$;
