"""The tables, step by step: SQL scripts, every name qualified by `{schema}`. A step runs with the release before it in
service, so it only adds; what nothing uses is removed a release later. Indexes on existing tables: `indexes.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.engine.interfaces import AdaptedConnection


def run_script(connection: Connection, name: str, schema: str) -> None:
    """Run an SQL file of this folder, which has several statements, in the transaction of the connection."""
    script = (Path(__file__).parent / name).read_text(encoding="utf-8").replace("{schema}", schema)
    # asyncpg itself runs scripts; through SQLAlchemy each statement would be prepared, which allows one at a time.
    asyncpg_connection = cast("AdaptedConnection", connection.connection.dbapi_connection)
    asyncpg_connection.run_async(lambda raw: raw.execute(script))
