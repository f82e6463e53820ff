"""Failed sign-ins by hour, mails that wait for one recipient, and received leads by time."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0018_limits"
down_revision = "0017_watches"


def upgrade() -> None:
    run_script(op.get_bind(), "limits.sql", str(op.get_context().version_table_schema))
