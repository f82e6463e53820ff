"""Accounts whose people need a second factor."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0015_required_second_factor"
down_revision = "0014_account_states"


def upgrade() -> None:
    run_script(op.get_bind(), "required_second_factor.sql", str(op.get_context().version_table_schema))
