"""A schema of this worker's own, with all tables, dropped afterwards; and a pool to it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from siteglass.platform.postgres import Postgres
from siteglass.settings import load_settings
from testing.accounts import drop_schema, make_schema


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def dsn() -> str:
    return load_settings().postgres_dsn


@pytest.fixture(scope="session")
def schema_name(dsn: str) -> Iterator[str]:
    name = f"test_{secrets.token_hex(6)}"
    asyncio.run(make_schema(dsn, name))
    yield name
    asyncio.run(drop_schema(dsn, name))


@pytest.fixture
async def postgres(dsn: str, schema_name: str) -> AsyncIterator[Postgres]:
    pool = Postgres(dsn, schema_name)
    yield pool
    await pool.close()
