"""Nodes on loopback that fail in chosen ways: they refuse, stay silent, break off or answer with errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

HEAD = "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"


@dataclass
class LoopbackNode:
    """What a node does from now on, and what it was asked."""

    name: str
    server: asyncio.Server | None = None
    port: int = 0
    mode: str = "well"
    status: int = 200
    body: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Request lines, without those of probes."""
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    open: set[asyncio.StreamWriter] = field(default_factory=set)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=512)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Refuse connections, and break those that are open."""
        if self.server is not None:
            self.server.close()
            self.server = None
        for writer in self.open:
            writer.transport.abort()
        await asyncio.sleep(0.01)

    async def freeze(self) -> None:
        """Answer nothing until `thaw`."""
        self.mode = "silent"
        self.released.clear()

    async def thaw(self) -> None:
        """Answer what was asked meanwhile, too."""
        self.mode = "well"
        self.released.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        try:
            while True:
                line, _, headers = (await reader.readuntil(b"\r\n\r\n")).decode().partition("\r\n")
                answer = await self._answer(line, headers, await reader.readexactly(_length(headers)))
                if answer is None:
                    break
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
            self.open.discard(writer)

    async def _answer(self, line: str, headers: str, sent: bytes) -> bytes | None:
        path = line.split()[1]
        if self.mode == "silent":
            await self.released.wait()
        if path.startswith("/_cluster/health?local"):
            return _packed(200, {"discovered_cluster_manager": self.mode != "alone"})
        if path.startswith("/_nodes/_local"):
            return _packed(200, {"nodes": {f"id-{self.name}": {}}})
        self.asked.append(line)
        self.heads.append(headers)
        self.bodies.append(sent)
        if self.mode == "breaks":
            return None
        if self.mode == "garbage":
            return b"this is not HTTP\r\n\r\n"
        return _packed(self.status, self.body or {"from": self.name})


def _length(headers: str) -> int:
    named = (line.partition(": ") for line in headers.split("\r\n"))
    return next((int(value) for name, _, value in named if name == "Content-Length"), 0)


def _packed(status: int, body: dict[str, Any]) -> bytes:
    raw = json.dumps(body).encode()
    return HEAD.format(status=status, length=len(raw)).encode() + raw


@asynccontextmanager
async def nodes(count: int) -> AsyncIterator[list[LoopbackNode]]:
    """Nodes that listen."""
    made = [LoopbackNode(str(number)) for number in range(count)]
    for node in made:
        await node.start()
    try:
        yield made
    finally:
        for node in made:
            await node.thaw()
            await node.stop()
