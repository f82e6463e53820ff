"""How many customers received what is stored about somebody."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0011_received_counts"
down_revision = "0010_ledger_months"


def upgrade() -> None:
    run_script(op.get_bind(), "received_counts.sql", str(op.get_context().version_table_schema))
