-- What people of an account get again free of charge. Siteglass fills the table from the ledger, as it fills `bought`,
-- and with it the built-in list `received`.
CREATE TABLE {schema}.received (
    account_id bigint NOT NULL,
    domain text COLLATE "C" NOT NULL,
    -- the charge that returned the lead, and its time
    seq bigint NOT NULL,
    at timestamptz NOT NULL,
    -- whether it took a credit; without, the lead had no address
    charged boolean NOT NULL,
    PRIMARY KEY (account_id, domain, seq)
);

-- The name is built in now. A list that an account made under this name keeps its domains, under another name.
UPDATE {schema}.lists SET name = 'received-' || id WHERE name = 'received' AND NOT built_in;
