"""People who run the service in the console, failed jobs, and signed heads of ledger and audit log."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0016_operators"
down_revision = "0015_required_second_factor"


def upgrade() -> None:
    run_script(op.get_bind(), "operators.sql", str(op.get_context().version_table_schema))
