"""The client of OpenSearch: which node it asks, how long it waits, when it asks another one."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from siteglass.errors import Unavailable
from siteglass.platform.opensearch import EngineError, OpenSearch
from siteglass.platform.opensearch import client as clients
from siteglass.platform.opensearch.node import Node
from siteglass.settings import SettingsError
from tests.engine.nodes import LoopbackNode, nodes

Body = Callable[[OpenSearch, list[LoopbackNode]], Awaitable[None]]


@asynccontextmanager
async def client_of(count: int) -> AsyncIterator[tuple[OpenSearch, list[LoopbackNode]]]:
    async with nodes(count) as there:
        client = OpenSearch(tuple(node.url for node in there))
        try:
            yield client, there
        finally:
            await client.close()


def run(count: int, body: Body) -> None:
    async def inside() -> None:
        async with client_of(count) as (client, there):
            await body(client, there)

    asyncio.run(inside())


async def search(client: OpenSearch, timeout_ms: int = 2_000) -> Any:
    return await client.search("/x/_search", {}, timeout_ms=timeout_ms)


async def until(holds: Callable[[], bool], within_s: float = 10) -> None:
    ends = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < ends, "it did not come to that"
        await asyncio.sleep(0.02)


def test_nodes_are_asked_in_turn() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        answers = Counter([(await search(client))["from"] for _ in range(30)])
        assert set(answers) == {"0", "1", "2"}
        assert min(answers.values()) >= 5

    run(3, body)


def test_a_refused_connection_is_tried_elsewhere_and_the_node_left_out() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await there[0].stop()
        assert {(await search(client))["from"] for _ in range(20)} == {"1", "2"}
        assert not client.nodes[0].is_in

    run(3, body)


def test_a_broken_connection_is_tried_elsewhere() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        there[1].mode = "breaks"
        assert {(await search(client))["from"] for _ in range(10)} == {"0", "2"}

    run(3, body)


def test_an_answer_that_is_not_http_is_tried_elsewhere() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        there[1].mode = "garbage"
        assert {(await search(client))["from"] for _ in range(10)} == {"0", "2"}

    run(3, body)


def test_a_node_that_stops_answering_is_left_out_and_its_requests_go_elsewhere() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await search(client)
        await until(lambda: all(node.id for node in client.nodes))
        await there[2].freeze()
        begun = time.monotonic()
        # Long deadlines: only the probes can tell so soon that the node is frozen.
        answers = await asyncio.gather(*(search(client, 60_000) for _ in range(9)))
        assert {one["from"] for one in answers} == {"0", "1"}
        assert time.monotonic() - begun < 10
        assert not client.nodes[2].is_in

    run(3, body)


def test_a_silent_node_gets_less_than_half_of_the_deadline() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await there[0].freeze()
        answers = await asyncio.gather(*(search(client, 1_000) for _ in range(4)))
        assert {one["from"] for one in answers} == {"1"}

    run(2, body)


def test_if_all_nodes_are_slow_none_is_left_out() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await search(client)
        await until(lambda: all(node.id for node in client.nodes))
        for node in there:
            await node.freeze()
        await asyncio.sleep(2.5)
        assert all(node.is_in for node in client.nodes)
        for node in there:
            await node.thaw()
        assert (await search(client))["from"] in "01"

    run(2, body)


def test_a_node_without_its_cluster_is_left_out() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        there[0].mode = "alone"
        await search(client)
        await until(lambda: not client.nodes[0].is_in)
        assert {(await search(client))["from"] for _ in range(10)} == {"1"}

    run(2, body)


def test_a_node_that_returns_is_asked_again_within_five_seconds() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await there[0].stop()
        await search(client)
        await until(lambda: not client.nodes[0].is_in)
        await there[0].start()
        returned = time.monotonic()
        while (await search(client))["from"] != "0":
            assert time.monotonic() - returned < 5
        assert client.nodes[0].share() < 1, "it gets few requests at first"

    run(2, body)


def test_while_a_node_is_out_searches_prefer_the_others() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await search(client)
        await until(lambda: all(node.id for node in client.nodes))
        assert not any("preference" in line for line in (*there[0].asked, *there[1].asked))
        await there[0].stop()
        await until(lambda: not client.nodes[0].is_in)
        there[1].asked.clear()
        await search(client)
        assert "preference=_prefer_nodes%3Aid-1" in there[1].asked[-1]
        there[1].body = {"responses": []}
        await client.msearch([({"index": "x"}, b"{}")], timeout_ms=1_000)
        assert b'"preference":"_prefer_nodes:id-1"' in there[1].bodies[-1]

    run(2, body)


def test_the_deadline_goes_along() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await search(client, 2_000)
        (line,) = there[0].asked
        assert "cancel_after_time_interval=2000ms" in line or "cancel_after_time_interval=1999ms" in line

    run(1, body)


@pytest.mark.parametrize(
    "lost",
    [
        {"_shards": {"failed": 1}},
        {"responses": [{"status": 200, "_shards": {"failed": 0}}, {"status": 503, "error": {}}]},
        {"responses": [{"status": 200, "_shards": {"failed": 1}}]},
        {"docs": [{"_id": "a", "error": {}}]},
    ],
)
def test_an_answer_without_some_shards_is_asked_for_elsewhere(lost: dict[str, Any]) -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        there[0].body = lost
        assert {(await search(client)).get("from") for _ in range(4)} == {"1"}

    run(2, body)


@pytest.mark.parametrize("status", [400, 404, 429])
def test_a_refusal_is_not_asked_elsewhere(status: int) -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        for node in there:
            node.status = status
        with pytest.raises(EngineError) as refused:
            await search(client)
        assert refused.value.status == status
        assert len(there[0].asked) + len(there[1].asked) == 1

    run(2, body)


def test_an_engine_in_trouble_is_asked_elsewhere() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        there[0].status = 503
        assert {(await search(client))["from"] for _ in range(4)} == {"1"}

    run(2, body)


def test_what_must_not_be_repeated_is_sent_once() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        for node in there:
            node.mode = "breaks"
        with pytest.raises(Unavailable):
            await client.request("PUT", "/x", {}, timeout_ms=1_000)
        assert len(there[0].asked) + len(there[1].asked) == 1

    run(2, body)


def test_retries_come_out_of_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_RETRIES", 3.0)

    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        for node in there:
            node.status = 503
        for _ in range(20):
            with pytest.raises((Unavailable, EngineError)):
                await search(client)
        # 20 first attempts, 3 in the budget and one more for each 10 requests.
        assert 20 + 3 <= len(there[0].asked) + len(there[1].asked) <= 20 + 3 + 2

    run(2, body)


def test_one_silent_node_ends_at_the_deadline() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await there[0].freeze()
        begun = time.monotonic()
        with pytest.raises(Unavailable) as late:
            await search(client, 300)
        assert late.value.reason == "opensearch POST /x/_search: no response within 0.3 s"
        assert 0.25 < time.monotonic() - begun < 1.3

    run(1, body)


def test_a_late_optional_request_goes_nowhere_else_and_harms_no_node() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        for node in there:
            await node.freeze()
        begun = time.monotonic()
        with pytest.raises(Unavailable):
            await client.search("/x/_search", {}, timeout_ms=300, optional=True)
        assert time.monotonic() - begun > 0.25, "all of its time is for one node"
        assert all(node.is_in for node in client.nodes)
        for node in there:
            await node.thaw()
        await asyncio.sleep(0.1)
        assert len(there[0].asked) + len(there[1].asked) == 1

    run(2, body)


def test_an_optional_request_that_fails_at_once_is_repeated() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await there[0].stop()
        for _ in range(4):
            answer = await client.search("/x/_search", {}, timeout_ms=2_000, optional=True)
            assert answer["from"] == "1"

    run(2, body)


def test_nothing_waits_for_optional_requests() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await there[0].freeze()
        late = [
            asyncio.create_task(client.search("/x/_search", {}, timeout_ms=5_000, optional=True)) for _ in range(300)
        ]
        await until(lambda: len(there[0].open) == clients.MAX_OPTIONAL)
        there[0].mode = "well"
        assert (await search(client))["from"] == "0"
        for one in late:
            one.cancel()

    run(1, body)


def test_a_kept_connection_that_the_node_closed_is_replaced() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await search(client)
        await there[0].stop()
        await there[0].start()
        assert (await search(client))["from"] == "0"

    run(1, body)


def test_connections_are_kept_and_bounded() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        for _ in range(20):
            await search(client)
        assert len(there[0].open) == 1
        await there[0].freeze()
        many = asyncio.gather(*(search(client, 10_000) for _ in range(300)))
        await until(lambda: len(there[0].open) == clients.MAX_CONNECTIONS)
        await asyncio.sleep(0.2)
        assert len(there[0].open) == clients.MAX_CONNECTIONS
        await there[0].thaw()
        assert len(await many) == 300

    run(1, body)


def test_user_and_password_of_the_url_are_sent() -> None:
    async def inside() -> None:
        async with nodes(1) as (node,):
            client = OpenSearch((node.url.replace("http://", "http://reader:p%40ss@"),))
            try:
                await search(client)
            finally:
                await client.close()
            assert "Authorization: Basic cmVhZGVyOnBAc3M=" in node.heads[0]

    asyncio.run(inside())


@pytest.mark.parametrize("urls", [(), ("ftp://127.0.0.1",), ("127.0.0.1:9200",)])
def test_addresses_that_are_none_are_refused(urls: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match="SITEGLASS_OPENSEARCH_URLS"):
        OpenSearch(urls)


def test_a_second_attempt_is_not_ended_when_its_node_is_slow() -> None:
    """On a busy machine the last node that is left may be slow to answer its probes, too."""

    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        await search(client)
        await until(lambda: all(node.id for node in client.nodes))
        await there[0].stop()
        await there[1].freeze()
        asked = [asyncio.create_task(search(client, 20_000)) for _ in range(6)]
        await until(lambda: not client.nodes[1].is_in)
        await asyncio.wait(asked, timeout=1)  # those that left the slow node are answered by the third
        asked += [asyncio.create_task(search(client, 20_000)) for _ in range(6)]
        there[2].status = 503  # so that all come to the slow one
        await asyncio.sleep(0.5)
        there[2].status = 200
        await there[1].thaw()
        assert len(await asyncio.gather(*asked)) == 12

    run(3, body)


def test_silent_nodes_are_asked_before_those_that_refuse() -> None:
    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        client.nodes[0].take_out(refuses=True)
        client.nodes[1].take_out(refuses=False)
        assert sorted(client.nodes, key=Node.doubt) == [client.nodes[2], client.nodes[1], client.nodes[0]]

    run(3, body)


def test_a_refused_connection_does_not_use_up_the_second_attempt() -> None:
    """A node has just been killed: the first answer lacks its shards, and nobody knows yet that it is gone."""

    async def body(client: OpenSearch, there: list[LoopbackNode]) -> None:
        there[0].body = {"_shards": {"failed": 1}}
        await there[1].stop()
        for _ in range(6):
            client.nodes[1].take_in()
            assert (await search(client))["from"] == "2"

    run(3, body)
