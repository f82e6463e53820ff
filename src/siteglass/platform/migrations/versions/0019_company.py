"""Accounts within a company: plans whose pages don't mention credits, and sign-in with the company's account."""

from __future__ import annotations

from alembic import op

from siteglass.platform.migrations import run_script

revision = "0019_company"
down_revision = "0018_limits"


def upgrade() -> None:
    run_script(op.get_bind(), "company.sql", str(op.get_context().version_table_schema))
