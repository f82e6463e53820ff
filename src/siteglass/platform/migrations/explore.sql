-- Searching in the browser: previews, and charges for which a person is responsible.

-- What a search shows of leads that are not paid for, and how many different leads an account sees so in a day (UTC).
ALTER TABLE {schema}.plans
    ADD COLUMN preview text NOT NULL DEFAULT 'masked' CHECK (preview IN ('off', 'masked', 'named')),
    ADD COLUMN preview_leads_per_day integer NOT NULL DEFAULT 200 CHECK (preview_leads_per_day BETWEEN 0 AND 100000);

-- The row by which a person's charges in the browser are counted and capped. It has the digest of no key, so nobody can
-- call with it. No foreign key: what was charged stays after the person has left. Its index is in indexes.py.
ALTER TABLE {schema}.keys ADD COLUMN person_id bigint;

-- Leads that an account saw in previews today; rows of earlier days are deleted by the next preview.
CREATE TABLE {schema}.previewed (
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    day date NOT NULL,
    domain text COLLATE "C" NOT NULL,
    PRIMARY KEY (account_id, day, domain)
);
