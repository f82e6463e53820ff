"""Keys that can be rotated and bound to addresses, and the log of every action on keys and credits."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

KEYS = """
ALTER TABLE {schema}.keys
    -- the first key of a chain of rotations, null for that one itself: caps and rate are those of the whole chain
    ADD COLUMN family bigint REFERENCES {schema}.keys,
    -- written now and then, never by a request
    ADD COLUMN last_used_at timestamptz,
    -- null: may be used from anywhere
    ADD COLUMN allowed_networks cidr[] CHECK (cardinality(allowed_networks) BETWEEN 1 AND 100)
"""

# No contact data, no key: numbers, names of fields, and what an operator wrote as reason.
AUDIT = """
CREATE TABLE {schema}.audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind {schema}.actor_kind NOT NULL,
    actor_id text NOT NULL CHECK (length(actor_id) BETWEEN 1 AND 200),
    action text NOT NULL CHECK (action ~ '^[a-z]+\\.[a-z_]+$'),
    account_id bigint,
    key_id bigint,
    entry_seq bigint,
    details jsonb NOT NULL DEFAULT '{}' CHECK (length(details::text) <= 10000)
)
"""
AUDIT_BY_ACCOUNT = "CREATE INDEX audit_by_account ON {schema}.audit (account_id, id)"

# One function for both tables: whoever wants to change history is told what to do instead.
REFUSE_CHANGE = """
CREATE OR REPLACE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the % is never changed: write a new row that corrects it', TG_TABLE_NAME;
END
$$
"""
AUDIT_NO_CHANGE = """
CREATE TRIGGER no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.audit
FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change()
"""


# Run with the rights of the owner, so that the service's role needs none of its own on what they write.
OWNERS = """
ALTER FUNCTION {schema}.{name} SECURITY DEFINER SET search_path = pg_catalog, pg_temp
"""


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    for step in (KEYS, AUDIT, AUDIT_BY_ACCOUNT, REFUSE_CHANGE, AUDIT_NO_CHANGE):
        op.execute(step.replace("{schema}", schema))
    for name in ("charge", "grant_credits"):
        op.execute(OWNERS.replace("{schema}", schema).replace("{name}", name))
