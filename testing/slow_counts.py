"""Nodes whose counts are slow: ports that lead to the engine and hold back what only counts matches."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Self
from urllib.parse import urlsplit

_CHUNK = 65_536


class SlowCounts:
    """So many ports that lead to the node of this URL; requests of a kind in `delays_s` are held back for so long."""

    def __init__(self, url: str, ports: int = 2) -> None:
        target = urlsplit(url)
        self._target = target.hostname or "", target.port or 9200
        self._ports = ports
        self.delays_s: dict[str, float] = {}
        """By kind: `count`, `sample` or `page`."""
        self.sent: Counter[str] = Counter()
        """The searches that came, by kind; `both` is a page with its count."""
        self.urls: tuple[str, ...] = ()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.urls = asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> tuple[str, ...]:
        self._servers = [await asyncio.start_server(self._serve, "127.0.0.1", 0) for _ in range(self._ports)]
        return tuple(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}" for server in self._servers)

    async def _stop(self) -> None:
        for server in self._servers:
            server.close()
        await asyncio.sleep(0)  # a connection that was just accepted begins, so that it also ends
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        engine, to_engine = await asyncio.open_connection(*self._target)
        ways = {
            asyncio.ensure_future(self._requests(client, to_engine)),
            asyncio.ensure_future(_copy(engine, to_client)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            pass  # asyncio would report a server's connection that was cancelled
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            to_client.transport.abort()
            to_engine.transport.abort()

    async def _requests(self, client: asyncio.StreamReader, to_engine: asyncio.StreamWriter) -> None:
        while True:
            head = await client.readuntil(b"\r\n\r\n")
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), 0)
            body = await client.readexactly(length)
            kind = _kind(head, body)
            if kind:
                self.sent[kind] += 1
            parts = ("page", "count") if kind == "both" else (kind,)
            await asyncio.sleep(max(self.delays_s.get(part, 0) for part in parts))
            to_engine.write(head + body)


def _kind(head: bytes, body: bytes) -> str:
    """Empty for what is not a search, such as a probe."""
    if b"search" not in head.split(b"\r\n", 1)[0]:
        return ""
    if b'"size":0,"track_total_hits":true' not in body or b'"aggs"' in body:
        return "page"
    if b'"sort"' in body:
        return "both"
    return "sample" if b'"bucket"' in body else "count"


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(_CHUNK):
        writer.write(chunk)
