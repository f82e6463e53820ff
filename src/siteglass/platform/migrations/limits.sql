-- The index of received leads by time is in indexes.py.

-- After a temporary error: when the number of customers is mailed to this recipient again. Others do not wait for it.
ALTER TABLE {schema}.received_counts ADD COLUMN mail_after timestamptz;

-- Failed sign-ins of an account's people in the hours that are not in the audit log yet.
CREATE TABLE {schema}.failed_sign_ins (
    account_id bigint NOT NULL REFERENCES {schema}.accounts,
    hour timestamptz NOT NULL,
    -- a /24 of IPv4, a /48 of IPv6
    network text COLLATE "C" NOT NULL,
    attempts bigint NOT NULL,
    PRIMARY KEY (account_id, hour, network)
);

-- Checked in a separate transaction, so that searches and changes of lists continue meanwhile.
ALTER TABLE {schema}.lists VALIDATE CONSTRAINT lists_run_id_fkey;
