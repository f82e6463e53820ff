"""Run by Alembic inside `upgrade_tables`, on its connection and in its transaction."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
schema = context.config.attributes["schema"]

context.configure(connection=connection, version_table_schema=schema, transactional_ddl=True)
context.run_migrations()
