"""What an account received, so that people get it again free of charge."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0012_received"
down_revision = "0011_received_counts"


def upgrade() -> None:
    run_script(op.get_bind(), "received.sql", str(op.get_context().version_table_schema))
