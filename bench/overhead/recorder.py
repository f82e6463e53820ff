"""Records what the service sends to the engine for each request, and checks that the engine alone gives the same leads.

A copy of the service speaks to the engine through a proxy that keeps every request as bytes, headers and all. Only the
Host line is changed, to what the service under test sends.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from bench.overhead.mix import Search
from bench.overhead.wire import HEAD_END, Address, Connection, post, read_message
from siteglass.leads.responses import SEARCH_PATH
from testing.progress import say

_HOST = re.compile(rb"\r\nHost: [^\r]*")
ENRICH_PATH = "/v1/leads/enrich"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request to the service, and those to the engine that belong to it, in their order."""

    service: bytes
    bare: tuple[bytes, ...]
    leads: int


class Proxy:
    """A proxy in front of the engine that keeps the requests that pass."""

    def __init__(self, engine: Address) -> None:
        self._engine = engine
        self._passed: list[bytes] = []

    def take(self) -> tuple[bytes, ...]:
        """The requests since the last call."""
        passed, self._passed = tuple(self._passed), []
        return passed

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Address]:
        """Where to reach it, while it runs."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield Address(*server.sockets[0].getsockname()[:2])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine = await Connection.open(self._engine)
        host = f"\r\nHost: {self._engine.host}:{self._engine.port}".encode()
        # A client that hangs up, or a server that closes, ends the connection.
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            while True:
                head, body = await read_message(reader)
                request = _HOST.sub(host, head, count=1) + body
                if head.startswith(b"POST "):  # not what the service asks by itself, such as which aliases there are
                    self._passed.append(request)
                writer.write(b"".join(await engine.exchange(request)))
                await writer.drain()
        engine.close()
        writer.close()


@dataclass(frozen=True, slots=True)
class Recorder:
    """Asks the copy of the service, whose engine is the proxy."""

    proxy: Proxy
    service: Connection
    engine: Connection
    key: str
    measured: Address
    """Where the requests are going to be sent."""

    async def searches(self, drawn: Iterable[Search], count: int) -> list[Recorded]:
        """The first `count` searches that have the page wanted, each checked against the engine alone."""
        recorded: list[Recorded] = []
        for search in drawn:
            if (made := await self._search(search)) is not None:
                recorded.append(made)
                if len(recorded) % 1_000 == 0 or len(recorded) == count:
                    say(f"recorded and compared {len(recorded)} searches")
            if len(recorded) == count:
                break
        return recorded

    async def _search(self, search: Search) -> Recorded | None:
        request, answer = await self._ask(SEARCH_PATH, search.body)
        for _ in range(search.page - 1):
            if answer["next"] is None:
                return None
            request, answer = await self._ask(answer["next"], None)
        if search.backward:
            request, answer = await self._ask(answer["previous"], None)
        bare = self.proxy.take()
        answers = [await self.engine.ask(sent) for sent in bare]
        found = [lead["domain"] for lead in answer["results"]]
        if (alone := _domains(bare, answers, backward=search.backward)) != found:
            raise RuntimeError(f"{search}: the service found {found}, the engine alone {alone}")
        return Recorded(request, bare, len(found))

    async def enrichments(self, bodies: Iterable[dict[str, Any]], count: int) -> list[Recorded]:
        """`count` enrichments, each checked against the engine alone."""
        recorded: list[Recorded] = []
        for body in bodies:
            request, answer = await self._ask(ENRICH_PATH, body)
            bare = self.proxy.take()
            answers = [await self.engine.ask(sent) for sent in bare]
            # For names without a lead, a search for aliases follows; these leads have none.
            alone = {doc["_id"] for one in answers for doc in one.get("docs", ()) if doc["found"]}
            found = {_plain(item["domain"]) for item in answer["results"] if item["status"] == "success"}
            if found != alone:
                raise RuntimeError(f"{body}: the service found {found}, the engine alone {alone}")
            recorded.append(Recorded(request, bare, len(found)))
            if len(recorded) == count:
                break
        return recorded

    async def _ask(self, path: str, body: dict[str, Any] | None) -> tuple[bytes, Any]:
        self.proxy.take()
        request = post(self.measured, path, self.key, body)
        return request, await self.service.ask(request)


def _plain(domain: str) -> str:
    return domain.removeprefix("https://www.").removesuffix("/")


def _domains(requests: Sequence[bytes], answers: Sequence[Any], *, backward: bool) -> list[str]:
    """The leads of a search as the engine alone gives them.

    The page is in the last answer that has one (earlier ones were looked for in too small a window, others are counts).
    The service asks for one lead more than it shows, to know whether there is another page; a page that is travelled
    to backward comes in reverse.
    """
    page: list[str] = []
    for request, answer in zip(requests, answers, strict=True):
        head, _, body = request.partition(HEAD_END)
        if b"/_msearch" in head.split(b"\r\n", 1)[0]:
            asked, given = [orjson.loads(line) for line in body.splitlines()][1::2], answer["responses"]
        else:
            asked, given = [orjson.loads(body)], [answer]
        for one, part in zip(asked, given, strict=True):
            if one["size"] > 0:
                page = [hit["_source"]["domain"] for hit in part["hits"]["hits"][: one["size"] - 1]]
    return page[::-1] if backward else page
