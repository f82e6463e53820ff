"""Previews, and charges by people in the browser."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0005_explore"
down_revision = "0004_saved_searches"


def upgrade() -> None:
    run_script(op.get_bind(), "explore.sql", str(op.get_context().version_table_schema))
