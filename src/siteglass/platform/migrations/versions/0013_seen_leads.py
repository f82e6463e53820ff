"""What an account sees of leads before it pays, and for how long a lead that it saw is not counted again."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0013_seen_leads"
down_revision = "0012_received"


def upgrade() -> None:
    run_script(op.get_bind(), "seen_leads.sql", str(op.get_context().version_table_schema))
