"""All tables, types and indexes."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0001_baseline"
down_revision = None


def upgrade() -> None:
    run_script(op.get_bind(), "baseline.sql", str(op.get_context().version_table_schema))
