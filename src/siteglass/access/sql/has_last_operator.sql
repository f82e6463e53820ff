-- Whether nobody could enter the console without this account: an operator belongs to it, and none to another open one.
--
-- Operators are locked: of two accounts that are closed at the same time, the second finds the first one closed.
CREATE OR REPLACE FUNCTION {schema}.has_last_operator(account_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM {schema}.operators o WHERE o.role = 'operator' ORDER BY o.person_id FOR UPDATE;
    RETURN EXISTS (
        SELECT FROM {schema}.operators o JOIN {schema}.members m ON m.person_id = o.person_id
        WHERE o.role = 'operator' AND m.account_id = has_last_operator.account_id
    ) AND NOT EXISTS (
        SELECT FROM {schema}.operators o JOIN {schema}.members m ON m.person_id = o.person_id
            JOIN {schema}.accounts a ON a.id = m.account_id
        WHERE o.role = 'operator' AND a.state IN ('active', 'suspended') AND a.id <> has_last_operator.account_id
    );
END
$$;
