"""One node of the cluster: its connections, and whether it answers.

A node that refuses or breaks a connection is out at once. One that is silent may only be slow: it is out if another
node answered its probe meanwhile, several times as fast. So when all are slow, all stay in.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from typing import Any

import orjson

from siteglass.platform.opensearch.connection import Address, Connection, ConnectionFailed

PROBE_EVERY_S = 0.5
SILENT_AFTER_S, TIMES_SLOWER = 1.0, 5
PROBE_LASTS_S = 5.0
"""Then the next one begins on a new connection: a machine that was switched off does not end the old one."""
RAMP_S = 3.0
"""How long a node that returns gets fewer requests than the others: its caches are cold."""
MAX_IDLE = 32

_IDENTITY = ("/_nodes/_local", {"filter_path": "nodes.*.name"})
# Answered from the node's own state: one that has lost its cluster says that it knows no manager.
_PROBE = ("/_cluster/health", {"local": "true", "filter_path": "discovered_cluster_manager"})


class Node:
    """A node, its kept connections and what its probes say."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.label = f"{address.host}:{address.port}"
        """In metrics."""
        self.id = ""
        """As the cluster names it; known once a probe was answered."""
        self.is_in = True
        self.refuses = False
        """It is out because connections fail, not because it is silent."""
        self._returned_at = 0.0
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._last: set[Connection] = set()
        self._probed_on: Connection | None = None

    def share(self) -> float:
        """How much of its part of the requests it gets, 0 to 1."""
        return min(1.0, (time.monotonic() - self._returned_at) / RAMP_S)

    def doubt(self) -> int:
        """The higher, the less an answer can be expected."""
        return 0 if self.is_in else 2 if self.refuses else 1

    async def send(self, request: bytes, *, repeatable: bool, last: bool) -> tuple[int, bytes]:
        """Status and body of the answer; raises ConnectionFailed. Attempts before the `last` end with the node.

        The node may close a kept connection at the moment when we use it, which says nothing about the node: the
        request is sent again on a new one. What must not be sent twice gets a new one from the start.
        """
        while repeatable and self._idle:
            kept = self._idle.pop()
            if kept.usable:
                try:
                    return await self._send_on(kept, request, last=last)
                except ConnectionFailed:
                    if not self.is_in:
                        raise
                    break
        return await self._send_on(await Connection.open(self.address), request, last=last)

    async def _send_on(self, connection: Connection, request: bytes, *, last: bool) -> tuple[int, bytes]:
        (self._last if last else self._busy).add(connection)
        try:
            answer = await connection.send(request)
        finally:
            self._busy.discard(connection)
            self._last.discard(connection)
        if connection.usable and len(self._idle) < MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def take_out(self, *, refuses: bool) -> None:
        """Send it nothing more, and let those who wait for it and may ask another node do so."""
        self.is_in, self.refuses = False, refuses
        self._end(self._idle, self._busy)

    def take_in(self) -> None:
        """Requests may go to it again, few at first."""
        self.is_in, self.refuses = True, False
        self._returned_at = time.monotonic()

    def close(self) -> None:
        """End all its connections."""
        self._end(self._idle, self._busy, self._last, () if self._probed_on is None else (self._probed_on,))

    def _end(self, *some: Collection[Connection]) -> None:
        for connection in [connection for connections in some for connection in connections]:
            connection.close()
        self._idle.clear()

    async def probe(self) -> bool | None:
        """Whether it answers and belongs to a cluster; None if it is silent. Learns its id on the way."""
        try:
            async with asyncio.timeout(PROBE_LASTS_S):
                if not self.is_in or not self.id:
                    found = await self._ask(*_IDENTITY)
                    self.id = next(iter(found["nodes"]))
                state = await self._ask(*_PROBE)
        except TimeoutError:
            return None
        except (ConnectionFailed, orjson.JSONDecodeError, KeyError, StopIteration, TypeError):
            return False
        return bool(state.get("discovered_cluster_manager"))

    async def _ask(self, path: str, params: dict[str, str]) -> dict[str, Any]:
        # A separate connection, so that taking the node out does not end the probe that may bring it back.
        if self._probed_on is None or not self._probed_on.usable:
            self._probed_on = await Connection.open(self.address)
        _, body = await self._probed_on.send(self.address.request("GET", path, params, None, ndjson=False))
        answer: dict[str, Any] = orjson.loads(body)
        return answer


class Watch:
    """Probes nodes while the client is open."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._answered: dict[Node, tuple[float, float]] = {}
        """When each node last answered a probe, and how long it took."""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin, if it has not."""
        if not self._tasks and len(self._nodes) > 1:
            self._tasks = [asyncio.create_task(self._watch(node)) for node in self._nodes]

    async def close(self) -> None:
        """Stop probing."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []

    async def _watch(self, node: Node) -> None:
        while True:
            begun = time.monotonic()
            probe = asyncio.create_task(node.probe())
            try:
                while not probe.done():
                    await asyncio.wait({probe}, timeout=SILENT_AFTER_S)
                    if not probe.done() and node.is_in and self._is_silent(node, begun):
                        node.take_out(refuses=False)
            finally:
                probe.cancel()
            self._judge(node, begun, well=probe.result())
            await asyncio.sleep(max(0.0, begun + PROBE_EVERY_S - time.monotonic()))

    def _is_silent(self, node: Node, begun: float) -> bool:
        waited_s = time.monotonic() - begun
        others = [one for other, one in self._answered.items() if other is not node]
        return any(at > begun and waited_s > TIMES_SLOWER * took_s for at, took_s in others)

    def _judge(self, node: Node, begun: float, *, well: bool | None) -> None:
        now = time.monotonic()
        if well:
            self._answered[node] = now, now - begun
        if well and not node.is_in:
            node.take_in()
        elif well is False and node.is_in:
            node.take_out(refuses=True)
