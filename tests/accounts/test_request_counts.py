"""Counted requests: each one once, on its own day, whatever happens to a write."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from datetime import UTC, date, datetime

import asyncpg
import pytest

from siteglass.access import request_counts
from siteglass.access.request_counts import RequestCounts, outcome
from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres
from testing.accounts import owner
from tests.accounts.test_key_uses import AWAY
from tests.accounts.test_keys import Watch

pytestmark = pytest.mark.anyio

DAY = date(2026, 3, 1)
_KEYS = itertools.count(10**9)


def counted_at(hour: int, minute: int = 0) -> float:
    """A time of DAY, or of the days after it."""
    return datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC).timestamp() + hour * 3_600 + minute * 60


async def _rows(postgres: Postgres, *key_ids: int) -> Sequence[tuple[object, ...]]:
    rows = await postgres.fetch(
        "SELECT key_id, day, operation, outcome, requests FROM {schema}.request_days WHERE key_id = ANY($1)"
        " ORDER BY 1, 2, 3, 4",
        key_ids,
    )
    return [tuple(row) for row in rows]


def test_outcomes() -> None:
    assert {status: outcome(status) for status in (200, 202, 304, 400, 404, 429, 499, 500, 503)} == {
        **dict.fromkeys((200, 202, 304), "ok"),
        **dict.fromkeys((400, 404, 499), "refused"),
        429: "limited",
        **dict.fromkeys((500, 503), "failed"),
    }


async def test_a_day_is_that_of_the_request_in_utc(postgres: Postgres) -> None:
    key, watch = next(_KEYS), Watch()
    counts = RequestCounts(postgres, watch)
    for watch.now in (counted_at(0), counted_at(23, 59), counted_at(24)):
        counts.count(key, "search", 200)
    watch.now = counted_at(30)
    await counts.write()
    await counts.write()  # nothing new
    assert await _rows(postgres, key) == [
        (key, DAY, "search", "ok", 2),
        (key, date(2026, 3, 2), "search", "ok", 1),
    ]


async def test_a_failed_write_is_kept_and_counts_once(postgres: Postgres, schema_name: str, dsn: str) -> None:
    key, other = next(_KEYS), next(_KEYS)
    counts = RequestCounts(postgres, lambda: counted_at(1))
    counts.count(key, "search", 200)
    for broken in (Postgres(AWAY, schema_name), Postgres(dsn, "nowhere")):
        counts._postgres = broken
        with pytest.raises(Unavailable):
            await counts.write()
        counts.count(key, "search", 200)
        await broken.close()
    counts.count(other, "page", 503)
    counts._postgres = postgres
    await counts.write()
    assert await _rows(postgres, key, other) == [(key, DAY, "search", "ok", 3), (other, DAY, "page", "failed", 1)]


async def test_a_write_that_is_stopped_is_undone_and_comes_again(
    postgres: Postgres, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is locked while it writes: past its deadline, and when the worker stops."""
    monkeypatch.setattr(request_counts, "WRITE_TIMEOUT_MS", 200)
    key = next(_KEYS)
    counts = RequestCounts(postgres, lambda: counted_at(1))
    counts.count(key, "search", 200)
    holder = await asyncpg.connect(owner(dsn), timeout=10)
    holding = holder.transaction()
    await holding.start()
    await holder.execute(f"LOCK TABLE {postgres.schema}.request_days IN EXCLUSIVE MODE")
    with pytest.raises(Unavailable):
        await counts.write()
    stopped = asyncio.create_task(counts.write())
    await asyncio.sleep(0.05)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    await holding.rollback()
    await holder.close()
    await counts.write()
    assert await _rows(postgres, key) == [(key, DAY, "search", "ok", 1)]


async def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch, schema_name: str) -> None:
    monkeypatch.setattr(request_counts, "MAX_REMEMBERED", 3)
    counts = RequestCounts(Postgres(AWAY, schema_name), lambda: counted_at(1))
    for key in (1, 2, 3, 4, 1):
        counts.count(key, "search", 200)
    with pytest.raises(Unavailable):
        await counts.write()
    assert [(key, requests) for (key, *_), requests in counts._counted.items()] == [(1, 2), (2, 1), (3, 1)]


@pytest.mark.race
async def test_workers_that_write_at_once_lose_nothing(dsn: str, schema_name: str) -> None:
    pools = [Postgres(dsn, schema_name, max_connections=1) for _ in range(4)]
    workers = [RequestCounts(pool, lambda: counted_at(1)) for pool in pools]
    keys = [next(_KEYS) for _ in range(30)]
    for _ in range(10):
        for place, worker in enumerate(workers):
            for key in keys[::-1] if place % 2 else keys:
                for operation in ("search", "enrich"):
                    worker.count(key, operation, 200)
        await asyncio.gather(*(worker.write() for worker in workers))
    assert await _rows(pools[0], *keys) == [
        (key, DAY, operation, "ok", 40) for key in keys for operation in ("enrich", "search")
    ]
    await asyncio.gather(*(pool.close() for pool in pools))
