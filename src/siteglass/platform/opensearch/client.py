"""Every call to OpenSearch: which node is asked, how long, and what happens if it does not answer.

Requests go to nodes that answer their probes; if none does, all are tried. While a node is out, the others are asked to
search the copies that they have. A request that may be repeated gets one more attempt, on another node and within
its deadline. So the first attempt has only a part of the time. Second attempts are bounded by a budget, a tenth of the
requests, so that a cluster in trouble does not get twice the load.

A response can do without an optional request, such as a count. It has all of its time on one node: another node would
be as late. Only what fails at once is repeated. Optional requests have their own places, so that others never wait for
them.

The engine's query language is in `index`, not here.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from siteglass.errors import Unavailable
from siteglass.platform import metrics
from siteglass.platform.opensearch.connection import Address, ConnectionFailed, with_header
from siteglass.platform.opensearch.node import Node, Watch
from siteglass.platform.tracing import TRACEPARENT, timed_span
from siteglass.settings import Settings, SettingsError, variable

MAX_CONNECTIONS, MAX_OPTIONAL = 128, 64
FIRST_ATTEMPT = 0.4
"""Part of the deadline that the first of two attempts gets."""
MAX_RETRIES, RETRIES_PER_REQUEST = 64.0, 0.1
"""Of each worker. At once, as many as one of two nodes has under way when it is lost."""
LATE_S = 5.0

Head = Mapping[str, Any]
Decode = Callable[[bytes], Any]
"""Reads the body of a response. What it returns is a dictionary, or says by `is_whole` whether every shard answered."""
Build = Callable[[Node, int], bytes]
"""The request for a node, which has this many milliseconds."""


class EngineError(Exception):
    """The engine answered, with an error."""

    def __init__(self, status: int, body: Any) -> None:
        error = body.get("error", body) if isinstance(body, dict) else body
        kind = error.get("type") if isinstance(error, dict) else None
        reason = error.get("reason") if isinstance(error, dict) else error
        super().__init__(f"{status} {kind}: {reason}")
        self.status = status

    @property
    def passing(self) -> bool:
        """Whether the engine is unavailable or full, rather than refusing a wrong request."""
        return self.status in (404, 429) or self.status >= 500


class Pace:
    """Whether requests of a kind have been quick lately. After one was late, one in `LATE_S` seconds is tried."""

    def __init__(self) -> None:
        self._is_late = False
        self._again_at = 0.0

    def may_try(self) -> bool:
        """Whether to send one, whose outcome is then noted."""
        now = time.monotonic()
        if now < self._again_at:
            return False
        if self._is_late:
            self._again_at = now + LATE_S
        return True

    def note(self, *, quick: bool) -> None:
        """The outcome of one."""
        self._is_late = not quick
        self._again_at = 0.0 if quick else time.monotonic() + LATE_S


@dataclass(frozen=True, slots=True)
class _Attempt:
    node: Node
    ends: float
    last: bool
    optional: bool


class OpenSearch:
    """The nodes of one cluster."""

    def __init__(self, urls: tuple[str, ...], tls: ssl.SSLContext | None = None) -> None:
        try:
            self.nodes = [Node(Address.parse(url, tls)) for url in urls]
        except ValueError:
            self.nodes = []
        if not self.nodes:
            raise SettingsError(f"{variable('opensearch_urls')}: expected URLs such as http://127.0.0.1:9200.")
        self._watch = Watch(self.nodes)
        # Workers do not all begin with the same node.
        self._next = random.randrange(len(self.nodes))  # noqa: S311 -- guards nothing
        # By whether a request is optional.
        self._places = {False: asyncio.Semaphore(MAX_CONNECTIONS), True: asyncio.Semaphore(MAX_OPTIONAL)}
        self._running = {False: 0, True: 0}
        self._retries = MAX_RETRIES
        self.counted_pages = Pace()
        """Requests for a page and its total."""

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        timeout_ms: int,
        params: Mapping[str, str] | None = None,
        ndjson: bool = False,
        repeatable: bool | None = None,
    ) -> Any:
        """One call with one deadline; raises Unavailable if the engine does not answer, EngineError if it refuses.

        `body` is bytes as they go out, or what becomes JSON. A `repeatable` call gets a second attempt; GET is one.
        """
        raw = body if body is None or isinstance(body, bytes) else orjson.dumps(body)

        def build(node: Node, _: int) -> bytes:
            return node.address.request(method, path, dict(params or {}), raw, ndjson=ndjson)

        repeatable = method == "GET" if repeatable is None else repeatable
        return await self._call(f"{method} {path}", build, timeout_ms, repeatable=repeatable)

    async def search(
        self,
        path: str,
        body: Any,
        *,
        timeout_ms: int,
        params: Mapping[str, str] | None = None,
        cancels: bool = True,
        optional: bool = False,
        decode: Decode = orjson.loads,
    ) -> Any:
        """A read of documents: a search, a count or a look-up. It goes to copies on nodes that answer. Those that the
        engine can cancel end there when we stop waiting."""
        raw = body if isinstance(body, bytes) else orjson.dumps(body)

        def build(node: Node, attempt_ms: int) -> bytes:
            ends = {"cancel_after_time_interval": f"{attempt_ms}ms"} if cancels else {}
            asked = {**(params or {}), **ends, **self._preference()}
            return node.address.request("POST", path, asked, raw, ndjson=False)

        return await self._call(f"POST {path}", build, timeout_ms, repeatable=True, optional=optional, decode=decode)

    async def msearch(
        self,
        searches: Sequence[tuple[Head, bytes]],
        *,
        timeout_ms: int,
        optional: bool = False,
        decode: Decode = orjson.loads,
    ) -> Any:
        """Several searches in one request: a head and the bytes of a body for each. Returns the whole response."""

        def build(node: Node, attempt_ms: int) -> bytes:
            added = {"cancel_after_time_interval": f"{attempt_ms}ms", **self._preference()}
            lines = [line for head, body in searches for line in (orjson.dumps({**head, **added}), body)]
            return node.address.request("POST", "/_msearch", {}, b"\n".join((*lines, b"")), ndjson=True)

        return await self._call("POST /_msearch", build, timeout_ms, repeatable=True, optional=optional, decode=decode)

    async def _call(
        self,
        what: str,
        build: Build,
        timeout_ms: int,
        *,
        repeatable: bool,
        optional: bool = False,
        decode: Decode = orjson.loads,
    ) -> Any:
        self._watch.start()
        self._retries = min(MAX_RETRIES, self._retries + RETRIES_PER_REQUEST)
        problem = ""
        for attempt in self._attempts(timeout_ms / 1000, repeatable=repeatable, optional=optional):
            started, outcome = time.perf_counter(), "canceled"
            self._running[optional] += 1
            try:
                with timed_span("engine") as step:
                    answer = await self._ask(attempt, build, decode, step.traceparent, repeatable=repeatable)
            except TimeoutError:
                outcome = "timeout"
                problem = f"no response within {timeout_ms / 1000:g} s"
                if attempt.last or optional:
                    break
            except ConnectionFailed as error:
                outcome = "failed"
                problem = str(error)
                if attempt.node.is_in and len(self.nodes) > 1:
                    attempt.node.take_out(refuses=True)
            except EngineError as error:
                outcome = "error" if error.status >= 500 else "refused"
                if attempt.last or error.status < 500:
                    raise
                problem = str(error)
            else:
                outcome = "ok"
                if attempt.last or _is_whole(answer):
                    return answer
                outcome = "partial"
                problem = "a shard does not respond"
            finally:
                self._running[optional] -= 1
                metrics.opensearch_seconds(attempt.node.label, outcome).observe(time.perf_counter() - started)
        raise Unavailable(f"opensearch {what}: {problem}")

    def _attempts(self, timeout_s: float, *, repeatable: bool, optional: bool) -> Iterator[_Attempt]:
        """One attempt, and another after it failed; more only where no connection can be made, which costs nothing."""
        begun = time.monotonic()
        first, *others = self._order()
        if not repeatable or not others:
            yield _Attempt(first, begun + timeout_s, last=True, optional=optional)
            return
        first_s = timeout_s if optional else FIRST_ATTEMPT * timeout_s
        yield _Attempt(first, begun + first_s, last=False, optional=optional)
        if self._retries >= 1:
            self._retries -= 1
            metrics.OPENSEARCH_RETRIES.inc()
            for node in sorted(others, key=Node.doubt):
                yield _Attempt(node, begun + timeout_s, last=True, optional=optional)

    async def _ask(self, attempt: _Attempt, build: Build, decode: Decode, traceparent: str, *, repeatable: bool) -> Any:
        async with asyncio.timeout(attempt.ends - time.monotonic()), self._places[attempt.optional]:
            left_ms = max(1, round((attempt.ends - time.monotonic()) * 1000))
            request = build(attempt.node, left_ms)
            if traceparent:
                request = with_header(request, TRACEPARENT, traceparent)
            status, answered = await attempt.node.send(request, repeatable=repeatable, last=attempt.last)
        try:
            if status >= 400:
                raise EngineError(status, orjson.loads(answered) if answered else None)
            return decode(answered) if answered else None
        except msgspec.ValidationError:
            raise  # JSON of another shape is our fault, not the node's
        except (orjson.JSONDecodeError, msgspec.DecodeError) as error:
            raise ConnectionFailed(f"answered {status} with a body that is not JSON") from error

    def _order(self) -> list[Node]:
        """Whom to ask, and whom then: nodes that are in, in turn, one that has just returned less often. Then silent
        ones, and last those that refuse connections."""
        self._next = (self._next + 1) % len(self.nodes)
        turned = self.nodes[self._next :] + self.nodes[: self._next]
        luck = random.random()  # noqa: S311 -- guards nothing
        ready = [node for node in turned if node.is_in and luck <= node.share()]
        return [*ready, *sorted((node for node in turned if node not in ready), key=Node.doubt)]

    def _preference(self) -> dict[str, str]:
        """While a node is out, searches prefer the copies on those that answer; otherwise the engine chooses."""
        if all(node.is_in for node in self.nodes):
            return {}
        ids = [node.id for node in self.nodes if node.is_in and node.id]
        return {"preference": f"_prefer_nodes:{','.join(ids)}"} if ids else {}

    def report(self) -> None:
        """Set the metrics of the nodes, and of the calls that are under way."""
        for node in self.nodes:
            metrics.OPENSEARCH_NODE_IN.labels(node.label).set(node.is_in)
        needed, optional = self._running[False], self._running[True]
        metrics.OPENSEARCH_RUNNING.set(needed + optional)
        metrics.OPENSEARCH_WAITING.set(max(0, needed - MAX_CONNECTIONS) + max(0, optional - MAX_OPTIONAL))

    async def close(self) -> None:
        """Stop probing and end all connections."""
        await self._watch.close()
        for node in self.nodes:
            node.close()
        await asyncio.sleep(0)  # asyncio closes the sockets in its next round


def _is_whole(answer: Any) -> bool:
    """Whether every shard that was asked answered: of a search, each of several, or each document of a look-up."""
    if not isinstance(answer, dict):
        return answer is None or isinstance(answer, list) or answer.is_whole()
    if "responses" in answer:
        return all(one.get("status", 200) < 500 and _is_whole(one) for one in answer["responses"])
    if "docs" in answer:
        return not any("error" in one for one in answer["docs"])
    failed: int = answer.get("_shards", {}).get("failed", 0)
    return failed == 0


def open_opensearch(settings: Settings) -> OpenSearch:
    """The client for these settings."""
    return OpenSearch(settings.opensearch_urls, _tls(settings))


def _tls(settings: Settings) -> ssl.SSLContext | None:
    """Whom we trust and how we prove who we are; None where no node speaks TLS."""
    if not any(url.startswith("https:") for url in settings.opensearch_urls):
        return None
    try:
        context = ssl.create_default_context(cafile=settings.opensearch_ca or None)
        if settings.opensearch_certificate:
            context.load_cert_chain(settings.opensearch_certificate, settings.opensearch_key or None)
    except ssl.SSLError as error:
        names = " and ".join((variable("opensearch_certificate"), variable("opensearch_key")))
        raise SettingsError(f"{variable('opensearch_ca')}, {names}: expected PEM files ({error.reason}).") from error
    return context
