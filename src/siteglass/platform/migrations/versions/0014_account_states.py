"""Accounts that are suspended or closed, and what was done about reports."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0014_account_states"
down_revision = "0013_seen_leads"


def upgrade() -> None:
    run_script(op.get_bind(), "account_states.sql", str(op.get_context().version_table_schema))
