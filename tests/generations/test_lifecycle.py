"""What becomes of generations: rolled back, kept, dropped, killed half-way, and their leads grown old."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import expiry, generations
from siteglass.index.generations import GenerationError
from siteglass.index.index import Index as LiveIndex
from siteglass.index.load import load
from siteglass.index.mapping import SCHEMA_VERSION
from siteglass.index.names import IndexNames, written_as
from siteglass.platform.backends import Clock
from siteglass.privacy import opt_out
from siteglass.settings import Settings
from siteglass.suppression.values import read_value
from siteglass_demo.leads import generate
from testing.api_calls import enrich
from testing.service import add, run, serving
from tests.generations.commands import Index, refusals

LEADS = list(generate(200, seed=31))
DAY_MS = 86_400_000


@pytest.mark.promise("feature.generations")
def test_a_rollback_loses_no_change_and_is_done_once(index: Index) -> None:
    assert "no generation to roll back to" in index("rollback", code=2)
    old = index.built(LEADS, "--promote")
    assert "no generation to roll back to" in index("rollback", code=2)
    new = index.built(LEADS, "--promote")
    assert [g.previous for g in index.all()] == [True, False]
    changed = msgspec.structs.replace(LEADS[0], crawled_at_ms=LEADS[0].crawled_at_ms + 1, title="Changed meanwhile")
    add(index.settings, [changed], index.folder)
    assert f"{old} is live again" in index("rollback")
    assert index.live() == old
    with serving(index.settings) as client:
        (item,) = enrich(client, [LEADS[0].domain], select=["title"])
        assert item["data"]["title"] == "Changed meanwhile"
    # Run again by mistake, it must not bring back what was bad.
    assert "no generation to roll back to" in index("rollback", code=2)
    assert refusals(index("promote", new)) == []
    assert index.live() == new


def test_a_generation_promoted_twice_still_knows_the_way_back(index: Index) -> None:
    old = index.built(LEADS, "--promote")
    new = index.built(LEADS, "--promote")
    index("promote", new)
    index("rollback")
    assert index.live() == old


def test_retention_keeps_the_way_back_and_what_is_newer(index: Index) -> None:
    killed, first, second, third = (index("create").strip() for _ in range(4))
    run(index.settings, lambda live_index: generations.note(live_index, killed, unfinished=True))

    async def promoted(live_index: LiveIndex) -> None:
        for name in (first, second, first, third):
            await generations.promote(live_index, name)

    run(index.settings, promoted)
    newer = index("create").strip()
    # The first was live before the third: the second is older than live and no way back.
    told = index("retain", "--keep", "1")
    assert f"{second} was no longer needed and was dropped" in told
    assert "1 generations dropped" in told
    assert [g.name for g in index.all()] == [killed, first, third, newer]
    index.use(replace(index.settings, search_timeout_ms=100))
    assert "1 generations dropped" in index("retain", "--keep", "0")
    assert [g.name for g in index.all()] == [killed, third, newer]
    add(index.settings, LEADS, index.folder)
    index("promote", newer, "--keep", "0")
    assert [g.name for g in index.all()] == [killed, newer]


def test_workers_hold_opt_outs_since_a_day_before_the_oldest_that_may_be_searched(index: Index) -> None:
    """The clock may have been wrong when it was made. One abandoned half-way does not count, unless it is live."""
    names = IndexNames(index.settings.index_prefix)

    def since(name: str) -> None:
        held_since = run(index.settings, generations.oldest_made_at)
        made_at = names.made_at(name)
        assert made_at is not None
        assert held_since == made_at - timedelta(days=1)

    assert run(index.settings, generations.oldest_made_at) is None
    killed, first, second = (run(index.settings, _made_on(day)) for day in (1, 2, 3))
    since(killed)
    run(index.settings, lambda live_index: generations.note(live_index, killed, unfinished=True))
    since(first)
    run(index.settings, lambda live_index: generations.promote(live_index, second))
    since(first)
    index("drop", first)
    since(second)
    run(index.settings, lambda live_index: generations.promote(live_index, killed))
    since(killed)


def _made_on(day: int) -> Callable[[LiveIndex], Awaitable[str]]:
    async def action(live_index: LiveIndex) -> str:
        live_index = replace(live_index, clock=TheDay(day))
        return await generations.create(live_index, generations.Shape())

    return action


class TheDay(Clock):
    """A clock that does not move."""

    def __init__(self, day: int) -> None:
        self._now_ms = day * DAY_MS

    def now_ms(self) -> int:
        return self._now_ms


def test_a_killed_rebuild_is_marked_and_refused(index: Index, leads_path: Path) -> None:
    live = index.built(LEADS, "--promote")
    rebuilding = index.start("rebuild", str(leads_path), "--promote")
    _until(lambda: len(index.all()) == 2)
    os.kill(rebuilding.pid, signal.SIGKILL)
    rebuilding.communicate()
    name = index.all()[-1].name
    assert f"schema {SCHEMA_VERSION}  unfinished writes\n" in index("status")
    told = refusals(index("promote", name, code=1))
    assert [" ".join(line.split()) for line in told if line.startswith("finished")] == [
        "finished yes no: a rebuild is still filling it, or was killed; siteglass index drop"
    ]
    assert "0 generations dropped" in index("retain", "--keep", "0")
    assert index("drop", name) == f"{name} was dropped\n"
    assert index.live() == live


def test_a_generation_has_its_replicas_while_it_is_filled(index: Index, leads_path: Path) -> None:
    rebuilding = index.start("rebuild", str(leads_path), "--replicas", "1")
    _until(index.all)
    os.kill(rebuilding.pid, signal.SIGKILL)
    rebuilding.communicate()
    (generation,) = index.all()
    assert generation.unfinished
    assert _replicas(index, generation.name) == "1"


def test_without_all_copies_of_its_shards_it_is_promoted_only_with_a_reason(index: Index) -> None:
    name = index.built(LEADS, "--replicas", "1")  # there is one node, and so no place for a copy
    told = index("promote", name, code=2)
    assert f"{name} is yellow: 1 of its shards or copies of them are missing" in told
    assert f"siteglass index promote {name} --accept-yellow REASON" in told
    assert not any(one.live for one in index.all())
    index("promote", name, "--accept-yellow", "the second node comes tomorrow")
    assert index.live() == name
    assert "the second node comes tomorrow" in index("status")


def test_on_one_node_a_generation_has_no_replicas(index: Index) -> None:
    assert _replicas(index, index.built(LEADS)) == "0"


def _replicas(index: Index, name: str) -> Any:
    settings: Any = index.engine("GET", f"/{name}/_settings")
    return settings[name]["settings"]["index"]["number_of_replicas"]


def test_an_interrupted_rebuild_cleans_up(index: Index, leads_path: Path) -> None:
    rebuilding = index.start("rebuild", str(leads_path), "--promote")
    _until(lambda: list(index.settings.lead_store.glob("*.parquet")))
    assert [generation.unfinished for generation in index.all()] == [True]
    rebuilding.send_signal(signal.SIGINT)
    told, _ = rebuilding.communicate(timeout=30)
    assert rebuilding.returncode == 1
    assert "Traceback" not in told
    assert index.all() == []


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_rebuild_that_fails_says_what_is_left(index: Index) -> None:
    (index.folder / "broken.parquet").write_text("no such file")
    told = index("rebuild", str(index.folder / "broken.parquet"), code=1)
    assert told.startswith(f"The rebuild failed: {index.folder}/broken.parquet: not a Parquet file")
    assert "was dropped; the live generation is unchanged" in told
    assert index.all() == []
    kept = index("rebuild", str(index.folder / "broken.parquet"), "--keep-failed", code=1)
    assert f"Remove it: siteglass index drop {index.all()[0].name}" in kept
    empty = index.folder / "empty"
    empty.mkdir()
    assert index("rebuild", str(empty), code=2) == f"{empty}: there is no .parquet file in this folder"
    assert "the files contain no leads" in index("rebuild", index.file([]), code=1).lower()


def test_of_equal_crawls_the_newest_file_and_the_writer_win(index: Index) -> None:
    """A better extractor over the same crawl comes in a later file, or from a writer while the rebuild runs."""
    folder = index.folder / "many"
    folder.mkdir()
    for number, title in enumerate(("first", "second")):
        write_parquet(folder / f"{'ba'[number]}.parquet", _titled(LEADS[:2], title))
        os.utime(folder / f"{'ba'[number]}.parquet", (1_000 + number, 1_000 + number))
    name = index("create").strip()
    add(index.settings, _titled(LEADS[:1], "written meanwhile"), index.folder)

    async def filled(live_index: LiveIndex) -> None:
        for path in (folder / "a.parquet", folder / "b.parquet"):
            await load(live_index, path, lambda _: None, only=name)

    run(index.settings, filled)
    assert _titles(index, name) == ["written meanwhile", "second"]
    rebuilt = index("rebuild", str(folder), "--promote")
    assert "4 leads read from 2 files; 2 written, 2 not newer than what was there" in rebuilt
    assert _titles(index, index.live()) == ["second", "second"]


def _titled(leads: list[Lead], title: str) -> list[Lead]:
    return [msgspec.structs.replace(lead, title=title) for lead in leads]


def _titles(index: Index, name: str) -> list[str]:
    found: Any = index.engine("POST", f"/{name}/_mget", {"ids": [lead.domain for lead in LEADS[:2]]})
    return [document["_source"]["title"] for document in found["docs"]]


def test_a_generation_opened_while_a_batch_is_written_gets_it_too(index: Index) -> None:
    """And one that was dropped meanwhile is not brought back by it."""
    first = index("create").strip()
    path = Path(index.file(LEADS))
    opened: list[str] = []

    async def writing(live_index: LiveIndex) -> None:
        send = live_index.opensearch.request

        async def between(method: str, where: str, *rest: Any, **options: Any) -> Any:
            # A cluster may create indices by itself, if they are written to by name.
            assert not where.endswith("/_bulk") or options["params"]["require_alias"] == "true"
            if where.endswith("/_bulk") and not opened:
                opened.append(await generations.create(live_index, generations.Shape()))
                await generations.promote(live_index, opened[0])
                await generations.drop(live_index, first)
            return await send(method, where, *rest, **options)

        live_index.opensearch.request = between  # type: ignore[method-assign, assignment]
        loaded = await load(live_index, path, lambda _: None)
        assert (loaded.read, loaded.written, loaded.failed) == (200, 200, 0)
        await generations.refresh(live_index, opened)

    run(index.settings, writing)
    assert [(g.name, g.documents) for g in index.all()] == [(opened[0], 200)]


def test_a_generation_without_its_own_alias_is_told_and_not_passed_over(index: Index) -> None:
    """Neither a lead nor an opt-out may be lost in silence."""
    # Other tests share the list: what is put on it is nobody else's.
    lead = Lead(domain="without-alias.example", crawled_at_ms=time.time_ns() // 1_000_000)
    name = index.built([lead], "--promote")
    alias = written_as(name)
    index.engine("DELETE", f"/{name}/_alias/{alias}")
    told = (
        f"{name} receives writes, but its alias {alias} is missing, so they would be lost. Rebuild it: siteglass "
        f"index rebuild SOURCE --promote, or drop it: siteglass index drop {name}"
    )
    assert index("load", index.file([lead]), code=2) == told
    values = [read_value(lead.domain)]
    with pytest.raises(GenerationError) as refused:
        run(index.settings, lambda live_index: opt_out.suppress(live_index, values, reason="asked to", actor="tests"))
    assert str(refused.value) == told


@pytest.mark.parametrize(("days", "oldest_ms"), [(0, None), (-1, None), (1, 9 * DAY_MS), (10, 0)])
def test_what_is_too_old(days: int, oldest_ms: int | None) -> None:
    assert expiry.oldest_fact_ms(Settings(lead_max_age_days=days), 10 * DAY_MS) == oldest_ms


@pytest.mark.promise("feature.lead_age")
def test_leads_that_grew_too_old_are_deleted_everywhere(index: Index) -> None:
    now_ms = time.time_ns() // 1_000_000
    # Odd ones were never fetched, or long ago, and imported since: the newest counts.
    crawled = {1: 0, 3: now_ms - 900 * DAY_MS}
    aged = [
        msgspec.structs.replace(
            lead,
            crawled_at_ms=crawled.get(age % 4, now_ms - age * DAY_MS),
            newest_fact_ms=now_ms - age * DAY_MS,
            updated_at_ms=None,
        )
        for age, lead in enumerate(LEADS)
    ]
    index.built(aged, "--promote")
    index.built(aged, "--promote")
    assert "SITEGLASS_LEAD_MAX_AGE_DAYS is not set" in index("expire", code=2)
    index.use(replace(index.settings, lead_max_age_days=150))
    told = [line.split("  ") for line in index("expire").splitlines() if line.endswith("deleted")]
    assert told == [[generation.name, "50 leads deleted"] for generation in index.all()]
    assert [generation.documents for generation in index.all()] == [150, 150]
    assert "0 leads deleted" in index("expire")
    # Nor does a rebuild from both files that still have them bring them back.
    assert ", 100 too old, 0 failed" in index("rebuild", str(index.settings.lead_store), "--promote")
    assert [generation.documents for generation in index.all()] == [150, 150]
    index.use(replace(index.settings, lead_max_age_days=1))
    assert "149 of the 150 leads" in index("expire", code=2)
    assert "149 leads deleted" in index("expire", "--force")
    with serving(index.settings) as client:
        assert client.post("/v1/leads/search", json={}).json()["total_results"] == 1
