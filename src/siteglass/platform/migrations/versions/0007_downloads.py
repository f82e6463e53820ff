"""Downloads of leads as files, and files of domains that people upload."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0007_downloads"
down_revision = "0006_reports"


def upgrade() -> None:
    run_script(op.get_bind(), "downloads.sql", str(op.get_context().version_table_schema))
