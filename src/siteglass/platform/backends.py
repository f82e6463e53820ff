"""Opens what the operations work on: OpenSearch, PostgreSQL and the clock. The only thing injected."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from siteglass.platform.opensearch import OpenSearch, open_opensearch
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings


class Clock:
    """The time of day; replaced in tests."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Backends:
    """What every operation takes first."""

    settings: Settings
    opensearch: OpenSearch
    postgres: Postgres
    clock: Clock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every engine."""
        await self.opensearch.close()
        await self.postgres.close()


def open_backends(settings: Settings, clock: Clock | None = None) -> Backends:
    """Backends for these settings; connections are made when first used."""
    return Backends(settings, open_opensearch(settings), open_postgres(settings), clock or Clock())


def open_postgres(settings: Settings, max_connections: int | None = None) -> Postgres:
    """The service's own tables, for commands that need PostgreSQL alone, too."""
    return Postgres(
        settings.postgres_dsn,
        settings.postgres_schema,
        timeout_ms=settings.postgres_timeout_ms,
        max_connections=max_connections or settings.postgres_pool,
        statement_cache=settings.postgres_statement_cache,
    )
