-- Plans of accounts within the company: nothing is paid, and pages don't mention credits.
ALTER TABLE {schema}.plans
    ADD COLUMN is_internal boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT plans_internal_check CHECK (NOT is_internal OR (api_price_micros = 0 AND lead_price_micros = 0))
    NOT VALID;

-- How people of an account sign in with their company's account, by OpenID Connect.
CREATE TABLE {schema}.sign_in_providers (
    account_id bigint PRIMARY KEY REFERENCES {schema}.accounts,
    -- of the addresses of these people; it leads from an address to the provider
    email_domain text COLLATE "C" NOT NULL UNIQUE,
    issuer text NOT NULL,
    client_id text NOT NULL,
    -- encrypted
    client_secret bytea NOT NULL,
    scopes text NOT NULL,
    groups_claim text NOT NULL,
    -- group -> role
    roles jsonb NOT NULL,
    -- whether nobody enters the account with a password
    required boolean NOT NULL
);

-- The subject of a person at the provider. The person enters this account through it only.
CREATE TABLE {schema}.provider_people (
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    issuer text NOT NULL,
    subject text COLLATE "C" NOT NULL,
    person_id bigint NOT NULL REFERENCES {schema}.people ON DELETE CASCADE,
    PRIMARY KEY (account_id, person_id),
    UNIQUE (account_id, issuer, subject)
);
CREATE INDEX provider_people_by_person ON {schema}.provider_people (person_id);

ALTER TABLE {schema}.sessions
    -- when the provider last said that the person may enter; null: the session began with a password
    ADD COLUMN checked_at timestamptz,
    -- what it is asked with, encrypted
    ADD COLUMN refresh_token bytea,
    -- the end of the turn of the request that asks
    ADD COLUMN checking_until timestamptz NOT NULL DEFAULT '-infinity';
