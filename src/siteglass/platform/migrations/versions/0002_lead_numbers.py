"""The next number of a lead."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0002_lead_numbers"
down_revision = "0001_baseline"


def upgrade() -> None:
    run_script(op.get_bind(), "lead_numbers.sql", str(op.get_context().version_table_schema))
