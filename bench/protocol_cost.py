"""What the bounds of a connection cost a request: CPU of uvicorn's protocol with and without them, in turn.

    python -m bench.protocol_cost

Both are given the same bytes without a socket, and the least possible application answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import statistics
import time
from collections.abc import Callable
from typing import Any

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from bench.common import RESULTS
from siteglass.settings import Settings
from siteglass.web.server import server_options

BODY = b'{"technologies": ["Shopify"], "country": "Germany", "limit": 20, "select": ["domain", "emails"]}'
REQUEST = (
    b"POST /v1/leads/search HTTP/1.1\r\nHost: api.example.com\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
    b"Connection: keep-alive\r\nUser-Agent: python-httpx/0.28.1\r\nX-API-Key: sg_live_" + b"a" * 36 + b"\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
) + BODY


class _Transport(asyncio.Transport):
    """Drops what is written."""

    def __init__(self, socket_: socket.socket) -> None:
        super().__init__()
        self._socket = socket_

    def write(self, data: Any) -> None: ...

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket if name == "socket" else default


async def _application(_scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"{}"})


async def _microseconds(make: Callable[..., HttpToolsProtocol], requests: int) -> float:
    config = uvicorn.Config(_application, log_config=None, access_log=False, ws="none")
    protocol = make(config=config, server_state=ServerState(), app_state={}, _loop=asyncio.get_running_loop())
    with socket.socket() as unused:
        protocol.connection_made(_Transport(unused))
        started = time.process_time()
        for _ in range(requests):
            protocol.data_received(REQUEST)
            await asyncio.sleep(0)  # one turn of the loop: the application answers without waiting
            assert protocol.cycle.response_complete
        taken = time.process_time() - started
        protocol.connection_lost(None)
    return taken / requests * 1e6


async def measure(requests: int, rounds: int) -> dict[str, float]:
    """Medians of the rounds; the sides take turns at going first."""
    bounded = server_options(Settings())["http"]
    sides: dict[str, Callable[..., HttpToolsProtocol]] = {"bare": HttpToolsProtocol, "bounded": bounded}
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        for name in list(sides) if number % 2 else reversed(list(sides)):
            taken[name].append(await _microseconds(sides[name], requests))
    ratios = [bounded / bare for bare, bounded in zip(taken["bare"], taken["bounded"], strict=True)]
    return {
        "bare_us": round(statistics.median(taken["bare"]), 2),
        "bounded_us": round(statistics.median(taken["bounded"]), 2),
        "ratio": round(statistics.median(ratios), 3),
        "least_ratio": round(min(ratios), 3),
        "most_ratio": round(max(ratios), 3),
    }


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--rounds", type=int, default=11)
    given = arguments.parse_args()
    result = uvloop.run(measure(given.requests, given.rounds))
    (RESULTS / "protocol_cost.json").write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result))
