-- Accounts can be suspended and closed, and reports be resolved.
ALTER TABLE {schema}.accounts
    -- erased: it was closed, and its data is removed
    ADD COLUMN state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'closed', 'erased')),
    -- since when; null: since it was created
    ADD COLUMN state_at timestamptz,
    -- why it is suspended or closed, as its people and callers see it
    ADD COLUMN state_reason text NOT NULL DEFAULT '' CHECK (length(state_reason) <= 200);

-- What operators did about a report; empty while it is open.
ALTER TABLE {schema}.reports ADD COLUMN effects text[] NOT NULL DEFAULT '{}';
