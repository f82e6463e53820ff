-- One row: the next number that a lead gets. It changes only through allot_lead_numbers.
CREATE TABLE {schema}.lead_numbers (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    next bigint NOT NULL CHECK (next BETWEEN 1 AND 2147483648)
);
INSERT INTO {schema}.lead_numbers (next) VALUES (1);
