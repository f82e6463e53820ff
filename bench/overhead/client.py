"""The load generator: a separate process that sends recorded bytes over kept connections, the same way to all sides.

    python -m bench.overhead.client FILE

FILE holds the requests (see Plan). It reads orders from its input and answers each with a line, both JSON. It reads no
more of an answer than its status and length, so that it takes little of the two cores that everything shares.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import math
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec
import uvloop

from bench.overhead.wire import HEAD_END, LENGTH, OK, UNFILLED_KEY, Address

REFUSAL_BYTES = 1_000
# Each key is sent once, whatever happens: a second request with it would get the first one's answer.
_IDEMPOTENCY_KEYS = (f"bench-{secrets.token_hex(8)}-{number}".encode() for number in itertools.count())


class Plan(msgspec.Struct):
    """Where each side listens, and by side and kind the requests of each unit of work, sent one after the other."""

    addresses: dict[str, Address]
    units: dict[str, dict[str, list[list[bytes]]]]


class Order(msgspec.Struct):
    """Send `units` units from number `first` on, so many times over, over so many connections."""

    side: str
    kind: str
    connections: int
    first: int
    units: int
    times: int = 1


class Driven(msgspec.Struct):
    """What became of an order."""

    seconds: float
    requests: int
    """Requests sent; a unit may have several on the engine's side."""
    refused: int
    bytes_sent: int
    bytes_received: int
    p50_ms: float
    p99_ms: float
    refusal: str
    """Start of the first answer that was not 200."""


class _Tally:
    def __init__(self) -> None:
        self.took_s: list[float] = []
        self.requests = self.refused = self.bytes_sent = self.bytes_received = 0
        self.refusal = b""


class _Connection(asyncio.Protocol):
    """Sends a unit's requests one after the other, then takes the next unit."""

    def __init__(self, units: Iterator[list[bytes]], tally: _Tally) -> None:
        self._units = units
        self._tally = tally
        self._unit: Iterator[bytes] = iter(())
        self._head = b""
        self._left = 0
        self._started = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport
        self._next_unit()

    def _next_unit(self) -> None:
        unit = next(self._units, None)
        if unit is None:
            self._transport.close()
            self.done.set_result(None)
            return
        self._unit = iter(unit)
        self._started = time.perf_counter()
        self._send(next(self._unit))

    def _send(self, request: bytes) -> None:
        if UNFILLED_KEY in request:
            request = request.replace(UNFILLED_KEY, next(_IDEMPOTENCY_KEYS), 1)
        self._tally.requests += 1
        self._tally.bytes_sent += len(request)
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._tally.bytes_received += len(data)
        if self._left:
            self._left -= len(data)
        else:
            self._head += data
            end = self._head.find(HEAD_END)
            if end < 0:
                return
            length = LENGTH.search(self._head, 0, end)
            if not self._head.startswith(OK) or not length:
                self._tally.refused += 1
                self._tally.refusal = self._tally.refusal or self._head[:REFUSAL_BYTES]
            self._left = (int(length[1]) if length else 0) - (len(self._head) - end - len(HEAD_END))
            self._head = b""
        if self._left == 0:
            if (request := next(self._unit, None)) is not None:
                self._send(request)
            else:
                self._tally.took_s.append(time.perf_counter() - self._started)
                self._next_unit()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError("the other side hung up"))


def _percentile_ms(ordered: Sequence[float], part: float) -> float:
    return round(ordered[max(0, math.ceil(len(ordered) * part) - 1)] * 1e3, 4)


async def _drive(plan: Plan, order: Order) -> Driven:
    units, tally = plan.units[order.side][order.kind], _Tally()
    work = (units[(order.first + number % order.units) % len(units)] for number in range(order.units * order.times))
    loop = asyncio.get_running_loop()
    opened = [
        await loop.create_connection(lambda: _Connection(work, tally), *plan.addresses[order.side])
        for _ in range(order.connections)
    ]
    started = time.perf_counter()
    for transport, connection in opened:
        connection.start(transport)
    await asyncio.gather(*(connection.done for _, connection in opened))
    seconds = time.perf_counter() - started
    ordered = sorted(tally.took_s)
    return Driven(
        seconds,
        tally.requests,
        tally.refused,
        tally.bytes_sent,
        tally.bytes_received,
        _percentile_ms(ordered, 0.5),
        _percentile_ms(ordered, 0.99),
        tally.refusal.decode(errors="replace"),
    )


class LoadGenerator:
    """The process, from outside."""

    def __init__(self, plan: Plan, file: Path) -> None:
        file.write_bytes(msgspec.msgpack.encode(plan))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        with self._process:  # closes the pipes
            pass

    def drive(self, order: Order) -> Driven:
        """Have an order done; a refused request is an error."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the load generator has ended")
        driven = msgspec.json.decode(line, type=Driven)
        if driven.refused:
            raise RuntimeError(f"{driven.refused} of {driven.requests} requests of {order} failed: {driven.refusal}")
        return driven


def main() -> None:
    plan = msgspec.msgpack.decode(Path(sys.argv[1]).read_bytes(), type=Plan)
    # Nothing here makes cycles, and a collection would be taken for a slow answer.
    gc.disable()
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        answer = msgspec.json.encode(uvloop.run(_drive(plan, order)))
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
