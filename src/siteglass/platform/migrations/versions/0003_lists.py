"""Lists of domains."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0003_lists"
down_revision = "0002_lead_numbers"


def upgrade() -> None:
    run_script(op.get_bind(), "lists.sql", str(op.get_context().version_table_schema))
