"""Opens what the operations work on: OpenSearch, PostgreSQL and the clock. The only thing injected.

The hot reads go through this small client. It has one deadline for the whole call, no retries, and no gzip, which costs
the engine up to 0.9 ms per page. The engine's query language is in `index`, not here.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson

from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, variable

MAX_CONNECTIONS = 128
LARGE_BODY_BYTES = 1024 * 1024


class EngineError(Exception):
    """The engine answered, with an error."""

    def __init__(self, status: int, body: Any) -> None:
        error = body.get("error", body) if isinstance(body, dict) else body
        kind = error.get("type") if isinstance(error, dict) else None
        reason = error.get("reason") if isinstance(error, dict) else error
        super().__init__(f"{status} {kind}: {reason}")
        self.status = status

    @property
    def passing(self) -> bool:
        """Whether the engine is unavailable or full, rather than refusing a wrong request."""
        return self.status in (404, 429) or self.status >= 500


class OpenSearch:
    """A connection pool to the nodes of one cluster."""

    def __init__(self, urls: tuple[str, ...]) -> None:
        if not urls or not all(url.startswith(("http://", "https://")) for url in urls):
            raise SettingsError(f"{variable('opensearch_urls')}: expected URLs such as http://127.0.0.1:9200.")
        self._urls = itertools.cycle([url.rstrip("/") for url in urls])
        self._session: aiohttp.ClientSession | None = None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS, keepalive_timeout=60),
                headers={"Accept-Encoding": "identity", "Content-Type": "application/json"},
                auto_decompress=False,
            )
        return self._session

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        timeout_ms: int,
        params: Mapping[str, str] | None = None,
        ndjson: bool = False,
    ) -> Any:
        """One call with one deadline; raises Unavailable if the engine does not answer, EngineError if it refuses.

        `body` is bytes as they go out, or what becomes JSON.
        """
        raw = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        # A large body is sent in pieces, so that other calls continue meanwhile.
        data = io.BytesIO(raw) if raw is not None and len(raw) > LARGE_BODY_BYTES else raw
        headers = {"Content-Type": "application/x-ndjson"} if ndjson else None
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                call = self._open_session().request(
                    method, next(self._urls) + path, data=data, params=params, headers=headers
                )
                async with call as response:
                    status, answered = response.status, await response.read()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            late = isinstance(error, TimeoutError)
            problem = f"no response within {timeout_ms / 1000:g} s" if late else type(error).__name__
            raise Unavailable(f"opensearch {method} {path.split('?')[0]}: {problem}") from error
        try:
            answer = orjson.loads(answered) if answered else None
        except orjson.JSONDecodeError as error:
            raise Unavailable(f"opensearch answered {status} with a body that is not JSON") from error
        if status >= 400:
            raise EngineError(status, answer)
        return answer

    async def close(self) -> None:
        """Give the connections back."""
        if self._session is not None:
            await self._session.close()
            self._session = None


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
    postgres = Postgres(
        settings.postgres_dsn,
        settings.postgres_schema,
        timeout_ms=settings.postgres_timeout_ms,
        max_connections=settings.postgres_pool,
        statement_cache=settings.postgres_statement_cache,
    )
    return Backends(settings, OpenSearch(settings.opensearch_urls), postgres, clock or Clock())
