"""The minimum that any service in Python would do. It passes a search to the engine, reads the answer, writes a durable
row about it and answers with the leads.

    python -m bench.overhead.relay HOST PORT DSN TABLE

It never changes, and it waits, wakes and shares the cores as the service does. What it costs is therefore the unit in
which `regression` counts: on a slower or busier machine both cost more.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import asyncpg
import uvloop

from bench.overhead.wire import LARGEST_HEAD_BYTES, Address, Connection, read_message

# As many charges of one account as the service has under way.
POSTGRES_CONNECTIONS = 2


class _Relay:
    def __init__(self, engine: Address, pool: asyncpg.Pool[asyncpg.Record], table: str) -> None:
        self._engine = engine
        self._pool = pool
        self._insert = f"INSERT INTO {table} (domains) VALUES ($1)"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = await Connection.open(self._engine)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                _, answered = await connection.exchange(b"".join(await read_message(reader)))
                leads = _leads(json.loads(answered))
                await self._pool.execute(self._insert, "\n".join(lead["domain"] for lead in leads))
                body = json.dumps(leads).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()
        connection.close()
        writer.close()


def _leads(answer: dict[str, Any]) -> list[dict[str, Any]]:
    searches = answer.get("responses", [answer])
    return [{**hit["_source"]} for search in searches for hit in search["hits"]["hits"]]


@contextlib.contextmanager
def relaying(engine: Address, dsn: str, schema: str) -> Iterator[tuple[Address, int]]:
    """Its address and pid, while it runs as a separate process."""
    command = [sys.executable, "-m", __name__, engine.host, str(engine.port), dsn, f"{schema}.relayed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            yield Address("127.0.0.1", int(process.stdout.readline())), process.pid
        finally:
            process.kill()


async def main() -> None:
    host, port, dsn, table = sys.argv[1:]
    pool = await asyncpg.create_pool(dsn, min_size=POSTGRES_CONNECTIONS, max_size=POSTGRES_CONNECTIONS)
    await pool.execute(f"CREATE TABLE {table} (id bigserial PRIMARY KEY, domains text NOT NULL)")
    relay = _Relay(Address(host, int(port)), pool, table)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0, limit=LARGEST_HEAD_BYTES)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
