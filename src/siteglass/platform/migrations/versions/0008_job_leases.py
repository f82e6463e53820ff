"""Leases of jobs that one worker of all runs at a time."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0008_job_leases"
down_revision = "0007_downloads"


def upgrade() -> None:
    run_script(op.get_bind(), "job_leases.sql", str(op.get_context().version_table_schema))
