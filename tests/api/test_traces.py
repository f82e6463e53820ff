"""Traces of requests, as a collector receives them: the steps, `traceparent` in and out, and a dead collector."""

from __future__ import annotations

import asyncio
import secrets
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from siteglass import __version__
from siteglass.index.index import Index
from siteglass.platform.opensearch import OpenSearch
from siteglass.platform.otlp import MAX_QUEUE, Collector
from siteglass.platform.tracing import Tracing, span
from siteglass.settings import Settings
from testing.api_calls import ENRICH, SEARCH, answered
from testing.collector import ReceivedSpans, attributes, collecting
from testing.customers import IN_ORDER, STOCK, Bank, Customer
from testing.ports import free_port
from testing.service import run, serving
from testing.traced_steps import STEPS, TIMED_STEPS

PARENT_ID = "00f067aa0ba902b7"
INTERNAL, SERVER, CLIENT = Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT
TREE = [*((name, INTERNAL) for name in STEPS), *((name, CLIENT) for name in TIMED_STEPS)]
"""The steps of a search in their order."""


@pytest.fixture(scope="module")
def collector() -> Iterator[ReceivedSpans]:
    """A collector that listens."""
    with collecting() as received:
        yield received


@pytest.fixture(scope="module")
def traced(stock_settings: Settings, collector: ReceivedSpans) -> Iterator[httpx.Client]:
    """A service that traces every request."""
    with serving(replace(stock_settings, traces_endpoint=collector.endpoint, traces_ratio=1.0)) as client:
        yield client


def _sent(path: str, body: object, customer: Customer, at: httpx.Client, traceparent: str) -> httpx.Response:
    return at.post(path, json=body, headers={"X-API-Key": customer.key, "traceparent": traceparent})


@pytest.mark.parametrize(
    ("operation", "path", "body", "tree"),
    [
        ("search", SEARCH, {**IN_ORDER, "limit": 4, "country": "Germany"}, TREE),
        ("enrich", ENRICH, {"domains": [STOCK[1].domain]}, TREE),
        # The one that is not found may be an alias, which is a second question.
        ("enrich", ENRICH, {"domains": [STOCK[1].domain, "stock-secret.com"]}, [*TREE[:4], *TREE[3:]]),
    ],
    ids=["search", "enrich", "enrich-alias"],
)
def test_a_request_is_a_tree_of_steps(
    operation: str,
    path: str,
    body: object,
    tree: list[tuple[str, int]],
    traced: httpx.Client,
    collector: ReceivedSpans,
    bank: Bank,
) -> None:
    customer = bank.customer(api=10, lead=10)
    trace_id = secrets.token_hex(16)
    response = _sent(path, body, customer, traced, f"00-{trace_id}-{PARENT_ID}-01")
    answered(response)
    root, *steps = collector.of_trace(trace_id, count=1 + len(tree))
    assert (root.name, root.kind, root.parent_span_id.hex()) == (operation, SERVER, PARENT_ID)
    assert [(step.name, step.kind) for step in steps] == tree
    assert {step.parent_span_id for step in steps} == {root.span_id}
    assert all(root.start_time_unix_nano <= step.start_time_unix_nano for step in steps)
    assert all(step.end_time_unix_nano <= root.end_time_unix_nano for step in steps)
    assert response.headers["traceparent"] == f"00-{trace_id}-{root.span_id.hex()}-01"
    assert attributes(root) == {
        "http.response.status_code": 200,
        "siteglass.request_id": response.headers["x-request-id"],
        "siteglass.account_id": customer.account_id,
        "siteglass.key_id": customer.key_id,
    }
    assert [attributes(step) for step in steps] == [{}] * len(tree)
    assert (collector.resource["service.name"], collector.resource["service.version"]) == ("siteglass", __version__)
    whole = b"".join(one.SerializeToString() for one in (root, *steps))
    assert not any(word in whole for word in (b"stock-", b"Germany", customer.key.encode()))


def test_a_later_page_has_the_same_steps(traced: httpx.Client, collector: ReceivedSpans, bank: Bank) -> None:
    customer, trace_id = bank.customer(api=10, lead=10), secrets.token_hex(16)
    following = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 2}, traced))["next"]
    answered(_sent(following, {}, customer, traced, f"00-{trace_id}-{PARENT_ID}-01"))
    root, *steps = collector.of_trace(trace_id, count=1 + len(TREE))
    assert (root.name, [(step.name, step.kind) for step in steps]) == ("page", TREE)


def test_a_refusal_names_the_step_and_the_kind_of_error(
    traced: httpx.Client, collector: ReceivedSpans, bank: Bank
) -> None:
    trace_id = secrets.token_hex(16)
    response = _sent(SEARCH, {"country": "Kowalski"}, bank.customer(), traced, f"00-{trace_id}-{PARENT_ID}-01")
    assert response.status_code == 400
    root, *steps = collector.of_trace(trace_id, count=1 + len(STEPS))
    assert [step.name for step in steps] == list(STEPS)
    assert (attributes(steps[-1]), steps[-1].status.code) == ({"error.type": "BadRequest"}, Status.STATUS_CODE_ERROR)
    # A wrong request is not a failure of the service.
    assert (attributes(root)["http.response.status_code"], root.status.code) == (400, Status.STATUS_CODE_UNSET)
    assert b"Kowalski" not in steps[-1].SerializeToString()


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "nonsense",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ],
)
def test_an_invalid_traceparent_is_ignored(
    sent: str, traced: httpx.Client, collector: ReceivedSpans, bank: Bank
) -> None:
    response = _sent(SEARCH, {**IN_ORDER, "limit": 1}, bank.customer(lead=1), traced, sent)
    answered(response)
    _version, trace_id, span_id, flags = response.headers["traceparent"].split("-")
    assert (trace_id != "4bf92f3577b34da6a3ce929d0e0e4736", flags) == (True, "01")
    root, *_steps = collector.of_trace(trace_id, count=1 + len(TREE))
    assert (root.span_id.hex(), root.parent_span_id) == (span_id, b"")


def test_a_later_version_of_traceparent_is_read(traced: httpx.Client, bank: Bank) -> None:
    trace_id = secrets.token_hex(16)
    sent = f"cc-{trace_id}-{PARENT_ID}-01-what-the-future-adds"
    response = _sent(SEARCH, {**IN_ORDER, "limit": 1}, bank.customer(lead=1), traced, sent)
    assert response.headers["traceparent"].split("-")[1] == trace_id


def test_a_caller_can_keep_a_request_out_but_not_get_one_in(
    traced: httpx.Client, stock_settings: Settings, collector: ReceivedSpans, bank: Bank
) -> None:
    customer = bank.customer(lead=10)
    kept_out, not_let_in, known = (secrets.token_hex(16) for _ in range(3))
    response = _sent(SEARCH, {**IN_ORDER, "limit": 1}, customer, traced, f"00-{kept_out}-{PARENT_ID}-00")
    assert "traceparent" not in response.headers
    with serving(replace(stock_settings, traces_endpoint=collector.endpoint, traces_ratio=0.0)) as untraced:
        response = _sent(SEARCH, {**IN_ORDER, "limit": 1}, customer, untraced, f"00-{not_let_in}-{PARENT_ID}-01")
        assert "traceparent" not in response.headers
    # When the next trace is here, those before it would be, too.
    _sent(SEARCH, {**IN_ORDER, "limit": 1}, customer, traced, f"00-{known}-{PARENT_ID}-01")
    assert len(collector.of_trace(known, count=1 + len(TREE))) == 1 + len(TREE)
    assert {received.trace_id.hex() for received in collector.spans}.isdisjoint({kept_out, not_let_in})


def test_probes_and_pages_without_a_key_are_not_traced(traced: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/metrics", "/docs"):
        assert "traceparent" not in traced.get(path).headers


def test_the_engine_gets_the_span_of_its_call(stock_settings: Settings, collector: ReceivedSpans) -> None:
    tracing = Tracing(Collector(collector.endpoint), ratio=1.0)
    tracing.start()

    engine_at = urlsplit(stock_settings.opensearch_urls[0])
    sent = bytearray()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kept: bytearray) -> None:
        while chunk := await reader.read(65_536):
            kept += chunk
            writer.write(chunk)
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_engine, to_engine = await asyncio.open_connection(engine_at.hostname, engine_at.port)
        await asyncio.gather(pass_on(reader, to_engine, sent), pass_on(from_engine, writer, bytearray()))

    async def search(index: Index) -> str:
        async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
            engine = OpenSearch((f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}",))
            with tracing.begin("search", None) as trace:
                await engine.search(f"/{index.names.read}/_search", {"size": 0}, timeout_ms=5_000)
            await engine.close()
        await tracing.close()
        return trace.trace_id

    trace_id = run(stock_settings, search)
    (step,) = [one for one in collector.of_trace(trace_id, count=2) if one.name == "engine"]
    assert f"\r\ntraceparent: 00-{trace_id}-{step.span_id.hex()}-01\r\n".encode() in sent


@pytest.mark.alone
@pytest.mark.parametrize("is_silent", [False, True])
def test_a_dead_collector_neither_slows_nor_fails_requests(
    is_silent: bool, stock_settings: Settings, bank: Bank
) -> None:
    customer = bank.customer(api=1_000, lead=1_000)

    def median_s(client: httpx.Client) -> float:
        taken = []
        for _ in range(60):
            started = time.perf_counter()
            answered(customer.post(SEARCH, {**IN_ORDER, "limit": 1}, client))
            taken.append(time.perf_counter() - started)
        return statistics.median(taken)

    with collecting() as silent:
        silent.delay_s = 60
        endpoint = silent.endpoint if is_silent else f"http://127.0.0.1:{free_port()}"
        with serving(stock_settings) as off:
            without_s = median_s(off)
        with serving(replace(stock_settings, traces_endpoint=endpoint, traces_ratio=1.0)) as on:
            with_s = median_s(on)
            stopped = time.monotonic()
        # What is left is dropped: the worker does not wait for the collector.
        assert time.monotonic() - stopped < 12
    assert with_s < 2 * without_s + 0.01


def test_spans_that_nobody_takes_push_out_the_oldest() -> None:
    with collecting() as silent:
        silent.delay_s = 60
        tracing = Tracing(Collector(silent.endpoint), ratio=1.0)
        tracing.start()
        started = time.monotonic()
        for _ in range(2 * MAX_QUEUE):
            with tracing.begin("search", None), span("query"):
                pass
        assert time.monotonic() - started < 10
        started = time.monotonic()
        asyncio.run(tracing.close())
        assert time.monotonic() - started < 10
