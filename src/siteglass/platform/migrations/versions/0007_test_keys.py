"""Test keys: they see made-up leads and are charged nothing."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"

KEYS = "ALTER TABLE {schema}.keys ADD COLUMN test boolean NOT NULL DEFAULT false"


def upgrade() -> None:
    schema = str(op.get_context().version_table_schema)
    op.execute(KEYS.replace("{schema}", schema))
