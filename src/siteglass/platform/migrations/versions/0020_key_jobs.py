"""Jobs of API keys: enrichments and searches that are worked off in batches."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0020_key_jobs"
down_revision = "0019_company"


def upgrade() -> None:
    run_script(op.get_bind(), "key_jobs.sql", str(op.get_context().version_table_schema))
