-- The partition of `answers` that an answer given at this time belongs to: one for each hour, used in turn.
-- STABLE, as `extract` is: otherwise PostgreSQL would not inline it, and would plan it in every charge.
CREATE OR REPLACE FUNCTION {schema}.answer_slot(answered_at timestamptz) RETURNS smallint STABLE LANGUAGE sql AS $$
SELECT (floor(extract(epoch FROM answered_at) / 3600)::bigint % 32)::smallint
$$;
