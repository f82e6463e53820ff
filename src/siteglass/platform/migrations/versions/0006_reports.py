"""Reports of wrong values."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0006_reports"
down_revision = "0005_explore"


def upgrade() -> None:
    run_script(op.get_bind(), "reports.sql", str(op.get_context().version_table_schema))
