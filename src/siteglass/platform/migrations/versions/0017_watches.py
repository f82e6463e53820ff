"""Watches: saved searches that run again, their runs, and the new leads of each."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0017_watches"
down_revision = "0016_operators"


def upgrade() -> None:
    run_script(op.get_bind(), "watches.sql", str(op.get_context().version_table_schema))
