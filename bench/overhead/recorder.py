"""Turns drawn requests into the bytes that are sent while measuring, and checks that all sides return the same leads.

The frozen request is what the service of the other checkout sends to the engine. A copy of that service speaks to the
engine through a proxy that keeps these requests as bytes, headers and all. Only the Host line is changed, to what the
service under test sends.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from bench.overhead.mix import Search
from bench.overhead.wire import HEAD_END, Address, Connection, Refused, hang_up, post, read_message
from siteglass.leads.responses import SEARCH_PATH
from testing.progress import say

_HOST = re.compile(rb"\r\nHost: [^\r]*")
# What the engine is asked for leads. A service also asks by itself: which aliases there are, for the list of opt-outs,
# and how often values occur, with aggregations.
_FOR_LEADS = re.compile(rb"POST /(?:[^ ?]*/)?_(?:search|msearch|mget)[? ]")
_AGGREGATIONS = b'"aggs"'
ENRICH_PATH = "/v1/leads/enrich"


class Proxy:
    """A proxy in front of the engine that keeps the requests for leads that pass."""

    def __init__(self, engine: Address) -> None:
        self._engine = engine
        self._passed: list[bytes] = []
        self._serving: set[asyncio.Task[None]] = set()

    def take(self) -> tuple[bytes, ...]:
        """The requests since the last call."""
        passed, self._passed = tuple(self._passed), []
        return passed

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[Address]:
        """Where to reach it, while it runs."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        async with server:
            yield Address(*server.sockets[0].getsockname()[:2])
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine = await Connection.open(self._engine)
        host = f"\r\nHost: {self._engine.host}:{self._engine.port}".encode()
        try:
            # A client that hangs up, or a server that closes, ends the connection.
            with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
                while True:
                    head, body = await read_message(reader)
                    request = _HOST.sub(host, head, count=1) + body
                    if _FOR_LEADS.match(head) and _AGGREGATIONS not in body:
                        self._passed.append(request)
                    writer.write(b"".join(await engine.exchange(request)))
                    await writer.drain()
        finally:
            await engine.close()
            await hang_up(writer)


@dataclass(frozen=True, slots=True)
class Caller:
    """A customer of one side."""

    connection: Connection
    measured: Address
    """Where the requests are going to be sent."""
    key: str

    def request(self, path: str, body: dict[str, Any] | None) -> bytes:
        """A request as it is going to be sent."""
        return post(self.measured, path, self.key, body)

    async def ask(self, path: str, body: dict[str, Any] | None) -> tuple[bytes, Any]:
        """Send a request now; the request and its answer."""
        request = self.request(path, body)
        return request, await self.connection.ask(request)

    async def before(self, search: Search) -> tuple[str, dict[str, Any] | None] | None:
        """Path and body of the page that a search wants, after asking for those before it; None: it has no such page.

        Cursors belong to an account, so that each account has to ask for them.
        """
        path: str | None = SEARCH_PATH
        body: dict[str, Any] | None = search.body
        for towards in ["next"] * (search.page - 1) + ["previous"] * search.backward:
            assert path is not None
            _, answer = await self.ask(path, body)
            path, body = answer[towards], None
            if path is None:
                return None
        assert path is not None
        return path, body


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request to each service, and the frozen requests to the engine that belong to it, in their order."""

    old: bytes
    new: bytes
    bare: tuple[bytes, ...]
    leads: int
    same_records: bool
    """Whether the fields of the leads were the same too, and not just the leads."""
    search: Search | None = None


@dataclass(frozen=True, slots=True)
class Recorder:
    """Asks both services and the engine alone, and compares their answers. The old service's engine is the proxy."""

    proxy: Proxy
    engine: Connection
    old: Caller
    new: Caller
    dropped: Counter[str] = field(default_factory=Counter)
    """Searches that are not measured, by reason."""

    async def searches(self, drawn: Iterable[Search], count: int) -> list[Recorded]:
        """The first `count` searches that have the page wanted and mean the same to both services."""
        recorded: list[Recorded] = []
        for search in drawn:
            if (one := await self._search(search)) is not None:
                recorded.append(one)
                if len(recorded) % 1_000 == 0 or len(recorded) == count:
                    say(f"recorded and compared {len(recorded)} searches; dropped: {dict(self.dropped)}")
            if len(recorded) == count:
                return recorded
        raise RuntimeError(f"only {len(recorded)} of the searches drawn can be measured, {count} are needed")

    async def _search(self, search: Search) -> Recorded | None:
        place = await self.old.before(search)
        if place is None:
            return None
        self.proxy.take()
        old_request, old = await self.old.ask(*place)
        bare = self.proxy.take()
        leads = [lead["domain"] for lead in old["results"]]
        answers = [await self.engine.ask(sent) for sent in bare]
        if (alone := _domains(bare, answers, backward=search.backward)) != leads:
            raise RuntimeError(f"{search}: the old service found {leads}, the engine alone {alone}")
        try:
            place = await self.new.before(search)
            new_request, new = await self.new.ask(*place) if place else (b"", None)
        except Refused:
            self.dropped["refused by the new service"] += 1
            return None
        found = None if new is None else ([lead["domain"] for lead in new["results"]], new["total_results"])
        if found != (leads, old["total_results"]):
            if "query" not in search.body:
                raise RuntimeError(
                    f"{search}: the old service found {leads, old['total_results']}, the new one {found}"
                )
            self.dropped["a sentence that the new service reads differently"] += 1
            return None
        assert new is not None
        return Recorded(old_request, new_request, bare, len(leads), old["results"] == new["results"], search)

    async def enrichments(self, bodies: Iterable[dict[str, Any]]) -> list[Recorded]:
        """Enrichments, each checked against the other service and the engine alone."""
        recorded: list[Recorded] = []
        for body in bodies:
            self.proxy.take()
            old_request, old = await self.old.ask(ENRICH_PATH, body)
            bare = self.proxy.take()
            answers = [await self.engine.ask(sent) for sent in bare]
            # Later commits also search for aliases, for names without a lead; these leads have none.
            alone = {doc["_id"] for answer in answers for doc in answer.get("docs", ()) if doc["found"]}
            found = {_plain(item["domain"]) for item in old["results"] if item["status"] == "success"}
            if found != alone:
                raise RuntimeError(f"{body}: the old service found {found}, the engine alone {alone}")
            new_request, new = await self.new.ask(ENRICH_PATH, body)
            if _outcomes(new) != _outcomes(old):
                raise RuntimeError(f"{body}: the old service answered {_outcomes(old)}, the new one {_outcomes(new)}")
            recorded.append(Recorded(old_request, new_request, bare, len(found), old == new))
        return recorded

    async def of_accounts(
        self, recorded: Sequence[Recorded], old_keys: Sequence[str], new_keys: Sequence[str]
    ) -> list[Recorded]:
        """The same searches, sent by so many accounts in turn."""
        shared = []
        for number, one in enumerate(recorded):
            assert one.search
            requests = []
            for caller, keys in ((self.old, old_keys), (self.new, new_keys)):
                other = replace(caller, key=keys[number % len(keys)])
                place = await other.before(one.search)
                assert place
                requests.append(other.request(*place))
            shared.append(replace(one, old=requests[0], new=requests[1]))
        return shared


def _plain(domain: str) -> str:
    return domain.removeprefix("https://www.").removesuffix("/")


def _outcomes(answer: Any) -> list[tuple[str, str]]:
    return [(item["domain"], item["status"]) for item in answer["results"]]


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
