"""A fixed piece of work for Python and one for PostgreSQL. Their CPU time is the unit in which `regression` counts.

A slower machine, or one whose cores are shared, takes more CPU time for a request of the service and for this work
alike. The work resembles that of a request, so that both slow down by about as much, but it uses nothing of the service
and must never change: the committed reference counts in it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

import asyncpg

from bench.overhead.processes import own_cpu_s

PASSES = 100
INSERTS = 200
_RECORDS = [
    {
        "domain": f"example-{number}.com",
        "title": f"Example number {number}, a business with a name",
        "description": "One sentence about what the business does, and another one about where it does that. " * 3,
        "emails": [f"info@example-{number}.com", f"person.{number}@example-{number}.com"],
        "phones": [f"+1555{number:07}"],
        "technologies": [f"Technology {number * step % 97}" for step in range(1, 13)],
        "links": [f"https://www.example-{number}.com/page/{step}" for step in range(12)],
        "score": number * 37 % 101,
    }
    for number in range(20)
]
_PAGE = json.dumps({"hits": [{"_id": record["domain"], "_source": record} for record in _RECORDS]})


def python_ms() -> float:
    """CPU of one pass of the work in Python, ms: a page of records is read, picked from, written, packed and hashed."""
    started = time.thread_time()
    for _ in range(PASSES):
        records = [hit["_source"] for hit in json.loads(_PAGE)["hits"]]
        shown = [{name: record[name] for name in sorted(record) if name != "links"} for record in records]
        words = {word.lower() for record in shown for word in record["description"].split()}
        body = json.dumps({"results": shown, "words": sorted(words)}).encode()
        hashlib.sha256(zlib.compress(body, 1)).hexdigest()
    return (time.thread_time() - started) * 1e3 / PASSES


@contextlib.asynccontextmanager
async def postgres_ms(dsn: str, schema: str) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """A function for the CPU of one durable insert, ms, in the process of PostgreSQL that does it."""
    connection = await asyncpg.connect(dsn)
    table = f"{schema}.yardstick"
    await connection.execute(f"CREATE TABLE {table} (id bigserial PRIMARY KEY, page text NOT NULL)")
    insert = await connection.prepare(f"INSERT INTO {table} (page) VALUES ($1)")

    async def measure() -> float:
        pid = connection.get_server_pid()
        before = own_cpu_s(pid)
        for _ in range(INSERTS):
            await insert.fetch(_PAGE[:1_000])
        return (own_cpu_s(pid) - before) * 1e3 / INSERTS

    try:
        yield measure
    finally:
        await connection.close()
