"""What a request costs: no more CPU than when the reference was made; and what the comparison of checkouts records."""

from __future__ import annotations

import asyncio
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from bench import common
from bench.overhead import against, regression, report
from bench.overhead.measure import BARE, NEW, OLD, SEARCH, SIDES, Cell
from bench.overhead.mix import Mix
from bench.overhead.recorder import Proxy
from bench.overhead.wire import Address, Connection
from siteglass.corpus.lead import Lead
from siteglass.query.fields import DIRECTIVES, FILTERS, SORTS
from siteglass.settings import Settings
from testing.outcomes import judge_times


@pytest.mark.nightly
@pytest.mark.timing
def test_a_request_costs_no_more_cpu_than_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "FOLDER", tmp_path)
    measured = asyncio.run(regression.measure())
    times = regression.times_the_reference(measured["units"])
    assert len(times) == len(regression.CELLS) * len(regression.PROCESSES)
    judge_times(max(times.values()) <= regression.MOST_TIMES_THE_REFERENCE, (times, measured))


HISTORY = {"added", "dropped"}
"""The demo's leads have none, so nothing asks for it."""


@pytest.mark.nightly
@pytest.mark.no_cover  # the same lines over and over
def test_the_mix_is_repeatable_and_asks_for_everything_that_the_catalogue_offers(leads: list[Lead]) -> None:
    drawn = list(itertools.islice(Mix(leads, seed=1).searches(), 5_000))
    assert drawn[:500] == list(itertools.islice(Mix(leads, seed=1).searches(), 500))
    assert {name for search in drawn for name in search.body} == {
        *FILTERS.keys() - HISTORY,
        *("query", "wrapped_query", "sort", "limit", "select"),
    }  # fmt: skip
    said = " ".join(search.body.get("wrapped_query", "") for search in drawn)
    assert set(re.findall(r"(?<!\w)@(\w+)", said)) >= set(DIRECTIVES) - HISTORY
    assert {search.body.get("sort", "-score") for search in drawn} == set(SORTS)
    assert {search.body.get("limit", 20) for search in drawn} == {20, 100}
    assert 0.2 < sum(search.page > 1 for search in drawn) / len(drawn) < 0.4


def _engine_request(line: str, body: str = "") -> bytes:
    return (
        f"{line} HTTP/1.1\r\nHost: proxy\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def test_the_recorder_passes_on_what_a_service_asks_by_itself_without_recording_it() -> None:
    engine = Address.of_url(Settings().opensearch_urls[0])
    search = _engine_request("POST /_search?request_cache=false", '{"size": 0}')
    by_itself = [
        _engine_request("GET /_alias"),
        _engine_request("HEAD /"),
        _engine_request("POST /_refresh"),
        _engine_request("POST /_search", '{"size": 0, "aggs": {"some": {"missing": {"field": "x"}}}}'),
    ]

    async def send() -> tuple[list[bytes], tuple[bytes, ...]]:
        proxy = Proxy(engine)
        async with proxy.listening() as address:
            connection = await Connection.open(address)
            heads = [(await connection.exchange(request))[0] for request in (*by_itself, search, *by_itself)]
            await connection.close()
            return heads, proxy.take()

    heads, recorded = asyncio.run(send())
    assert [head[:13] for head in heads] == [b"HTTP/1.1 200 "] * 9
    assert recorded == (search.replace(b"Host: proxy", f"Host: {engine.host}:{engine.port}".encode()),)


def _sample(cell: Cell, side: str, number: int) -> dict[str, Any]:
    """Made up: the new service takes a quarter of the old one's CPU and time, in every round another one."""
    cost = {BARE: 1.0, OLD: 8.0, NEW: 2.0}[side] * (number + 1)
    cpu = dict.fromkeys(("service", "postgres", "redis", "opensearch", "client"), cost / 8)
    return {
        "kind": cell.kind,
        "connections": cell.connections,
        "round": number,
        "side": side,
        "per_second": 1000 / cost,
        "p50_ms": cost,
        "p99_ms": 3 * cost,
        "requests_each": 1.0,
        "bytes_sent_each": 1,
        "bytes_received_each": 1,
        "cpu_ms_each": {**cpu, "all": sum(cpu.values())},
    }


def test_the_report_compares_within_each_round_and_says_which_aims_are_reached() -> None:
    samples = [_sample(cell, side, number) for number in range(3) for cell in against.CELLS for side in SIDES]
    described = dict.fromkeys(
        ("distinct", "same_leads", "same_records", "without_leads", "leads_each", "engine_requests_each"), 1
    )
    result = common.stamped(
        {
            "summary": report.summary(samples),
            "size": {"leads": 500_000, "rounds": 3, "seconds": 5.0},
            "commits": {OLD: "0559360", NEW: "abc"},
            "recorded": {SEARCH: described},
            "dropped": {"refused by the new service": 2},
        },
        "test",
    )
    text = report.page(result)
    searches = report.summary(samples)[1]
    assert (searches["kind"], searches["connections"]) == (SEARCH, 8)
    assert searches["new_to_old"]["cpu"] == {"median": 0.25, "min": 0.25, "max": 0.25}
    assert searches[NEW]["times_bare_per_second"] == {"median": 0.5, "min": 0.5, "max": 0.5}
    assert searches[NEW]["added_p50_ms"] == {"median": 2.0, "min": 1.0, "max": 3.0}
    reached = [row.rsplit(" | ", 1)[1].rstrip(" |") for row in text.splitlines() if "| ≤ " in row or "| ≥ " in row]
    # By the made-up figures: half of bare's throughput and 2 ms above an enrichment of one are not enough.
    assert reached == ["yes"] * 5 + ["**no**"] + ["yes", "**no**", "yes", "**no**", "**no**"]
    assert "not measured: 2 (refused by the new service)." in text
