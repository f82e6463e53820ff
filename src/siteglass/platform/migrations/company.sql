-- Plans of accounts within the company: nothing is paid, and pages don't mention credits.
ALTER TABLE {schema}.plans
    ADD COLUMN is_internal boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT plans_internal_check CHECK (NOT is_internal OR (api_price_micros = 0 AND lead_price_micros = 0))
    NOT VALID;
