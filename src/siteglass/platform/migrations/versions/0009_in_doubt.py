"""Charges whose confirmation was lost."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0009_in_doubt"
down_revision = "0008_job_leases"


def upgrade() -> None:
    run_script(op.get_bind(), "in_doubt.sql", str(op.get_context().version_table_schema))
