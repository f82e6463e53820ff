"""The ledger in partitions by month."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0010_ledger_months"
down_revision = "0009_in_doubt"


def upgrade() -> None:
    run_script(op.get_bind(), "ledger_months.sql", str(op.get_context().version_table_schema))
