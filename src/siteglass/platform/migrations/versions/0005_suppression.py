"""Who must not be shown: domains by name, addresses and phones by a keyed hash; and the leads that carry them.

The service's role can add to these tables and never take away: an opt-out is for good.
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

KINDS = "CREATE TYPE {schema}.suppressed_kind AS ENUM ('domain', 'email', 'phone')"

SUPPRESSED = """
CREATE TABLE {schema}.suppressed (
    kind {schema}.suppressed_kind NOT NULL,
    -- of a domain its name, else a keyed hash: nobody can read an address from it
    value bytea NOT NULL CHECK (octet_length(value) BETWEEN 1 AND 253),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- the row of the audit log that says by whom and why
    audit_id bigint NOT NULL REFERENCES {schema}.audit,
    -- when it was last begun to look for it once more, and when no writer could any more have missed it
    tried_at timestamptz,
    settled_at timestamptz,
    PRIMARY KEY (kind, value)
)
"""
BY_TIME = "CREATE INDEX suppressed_by_time ON {schema}.suppressed (at)"
UNSETTLED = "CREATE INDEX suppressed_unsettled ON {schema}.suppressed (at) WHERE settled_at IS NULL"

# What workers hold in memory: by the domain of a lead, so that an answer asks once per lead.
LEADS = """
CREATE TABLE {schema}.suppressed_leads (
    domain text COLLATE "C" NOT NULL,
    -- the hash of what it carries; empty: the whole lead
    value bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- a worker asks for what was written by transactions that had not ended when it asked last
    written_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (domain, value)
)
"""
LEADS_BY_TIME = "CREATE INDEX suppressed_leads_by_time ON {schema}.suppressed_leads (at)"
LEADS_BY_WRITER = "CREATE INDEX suppressed_leads_by_writer ON {schema}.suppressed_leads (written_by)"

# A hash under the secret that the list was begun with: another secret would make the list blind, unnoticed.
PROOF = """
CREATE TABLE {schema}.suppression_secret (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    proof bytea NOT NULL
)
"""


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    for step in (KINDS, SUPPRESSED, BY_TIME, UNSETTLED, LEADS, LEADS_BY_TIME, LEADS_BY_WRITER, PROOF):
        op.execute(step.replace("{schema}", schema))
