-- What an account sees of leads before it pays: names from now on, and 1,000 new leads a day.
-- Rows of `previewed` stay for 30 days, in which a lead is not counted again. The index by lead is in indexes.py.
ALTER TABLE {schema}.plans
    ALTER COLUMN preview SET DEFAULT 'named',
    ALTER COLUMN preview_leads_per_day SET DEFAULT 1000;

-- Plans that have the earlier defaults.
UPDATE {schema}.plans SET preview = 'named', preview_leads_per_day = 1000
WHERE preview = 'masked' AND preview_leads_per_day = 200;
