"""Saved searches."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0004_saved_searches"
down_revision = "0003_lists"


def upgrade() -> None:
    run_script(op.get_bind(), "saved_searches.sql", str(op.get_context().version_table_schema))
