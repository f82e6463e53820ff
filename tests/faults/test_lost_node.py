"""A node of three is killed or frozen while searches and enrichments run: hardly any fails, none is wrong.

SITEGLASS_LONG=1 kills 30 times and freezes 10 times, instead of once each, and takes two nodes away.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index import rebuild as rebuilds
from siteglass.index.generations import Shape
from siteglass.index.lookup import look_up
from siteglass.index.rebuild import RebuildFailed, RebuildPlan, rebuild
from siteglass.index.verification import Tolerances
from siteglass.privacy.opt_out import PATIENCE_S, suppress
from siteglass.settings import Settings
from siteglass.suppression.values import Kind, read_value
from siteglass_demo.leads import generate
from testing.fault_runs import run as runs
from testing.fault_runs.verifier import verify
from testing.opensearch_cluster import Cluster, Node, running_cluster
from testing.service import fill, run, settings_for

NIGHTLY = True

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]

LONG = bool(os.environ.get("SITEGLASS_LONG"))
KILLS, FREEZES, LEADS = (30, 10, 20_000) if LONG else (1, 1, 3_000)
AFTER_S = 15.0 if LONG else 5.0
SEED = 28
KEPT = Path(os.environ["SITEGLASS_HISTORIES"]) if "SITEGLASS_HISTORIES" in os.environ else None


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as made:
        yield made


@pytest.fixture(scope="module")
def leads() -> list[Lead]:
    return list(generate(LEADS, SEED))


@pytest.fixture(scope="module")
def settings(cluster: Cluster, leads: list[Lead], tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Leads in three shards with a copy each, and the deadlines of production, not the long ones of other tests."""
    made = settings_for(
        "lost-node",
        opensearch_urls=cluster.urls,
        postgres_schema=settings_schema(),
        search_timeout_ms=5_000,
        postgres_timeout_ms=1_000,
        charge_timeout_ms=2_000,
        request_timeout_ms=10_000,
    )
    path = tmp_path_factory.mktemp("lost") / "leads.parquet"
    write_parquet(path, leads)
    fill(made, path, Shape(shards=3, replicas=1))
    cluster.green()
    return made


def settings_schema() -> str:
    """Tables of this module's own: its ledger is compared as a whole."""
    return f"{settings_for('').postgres_schema}_lost"


def test_a_killed_node_fails_hardly_any_request(
    cluster: Cluster, settings: Settings, leads: list[Lead], tmp_path: Path
) -> None:
    steps = [runs.kill(cluster, cluster.nodes[number % 3], lasts_s=10, after_s=3) for number in range(KILLS)]
    history = runs.run(settings, leads, steps, SEED, (KEPT or tmp_path) / "service.log")
    verdict = verify(history)
    print(runs.keep(history, "kills", KEPT or tmp_path), verdict)
    assert verdict.problems == []
    assert verdict.failed <= (20 if LONG else 2), verdict
    assert verdict.latest_failure_s <= 3


def test_a_frozen_node_fails_hardly_any_request(
    cluster: Cluster, settings: Settings, leads: list[Lead], tmp_path: Path
) -> None:
    steps = [runs.freeze(cluster, cluster.nodes[number % 3], lasts_s=15, after_s=AFTER_S) for number in range(FREEZES)]
    history = runs.run(settings, leads, steps, SEED + 1, (KEPT or tmp_path) / "service.log")
    verdict = verify(history)
    print(runs.keep(history, "freezes", KEPT or tmp_path), verdict)
    assert verdict.problems == []
    assert verdict.failed <= (20 if LONG else 4), verdict


def test_with_two_nodes_lost_every_answer_is_right_or_refused(
    cluster: Cluster, settings: Settings, leads: list[Lead], tmp_path: Path
) -> None:
    one, other = cluster.nodes[1:]

    def lose() -> None:
        one.kill()
        other.kill()

    def back() -> None:
        cluster.start()

    step = runs.Step("two killed", f"{one.node} and {other.node}", lose, back, lasts_s=20, after_s=AFTER_S)
    history = runs.run(settings, leads, [step], SEED + 2, (KEPT or tmp_path) / "service.log")
    verdict = verify(history)
    print(runs.keep(history, "two", KEPT or tmp_path), verdict)
    assert verdict.problems == []
    assert verdict.failed > 0, "with one node of three there is no majority, so nothing was tested"


PHASES = {
    "filling": "load",
    "laying out": "generations.finish",
    "verifying": "verify",
    "promoting": "generations.promote",
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_node_lost_during_a_rebuild(
    cluster: Cluster, settings: Settings, leads: list[Lead], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    """The rebuild ends well or leaves nothing behind, and an opt-out at that moment is applied within a minute."""
    lost = cluster.nodes[list(PHASES).index(phase) % 3]
    killed = threading.Event()
    _kill_before(monkeypatch, PHASES[phase], lost, killed)
    path = tmp_path / "leads.parquet"
    write_parquet(path, leads)
    settings = replace(settings, lead_store=tmp_path / "store")
    opted_out = leads[list(PHASES).index(phase)].domain
    plan = RebuildPlan(Shape(shards=3, replicas=1), promote=True, tolerances=Tolerances(most_gone_percent=50))
    try:
        with ThreadPoolExecutor(1) as pool:
            rebuilding = pool.submit(run, settings, lambda index: rebuild(index, [path], plan))
            assert killed.wait(120)
            began = time.monotonic()
            value = read_value(opted_out, Kind.DOMAIN)
            run(settings, lambda index: suppress(index, [value], reason="asked", actor="tests", patience_s=PATIENCE_S))
            applied_s = time.monotonic() - began
            try:
                promoted = rebuilding.result(600).promoted
            except RebuildFailed as error:
                promoted = False
                print(phase, error)
    finally:
        cluster.start_again(lost)
        cluster.green()
    print(f"{phase}: {'promoted' if promoted else 'given up'}, the opt-out took {applied_s:.1f} s")
    assert applied_s < 60
    left = run(settings, generations.status)
    assert not [one for one in left if one.unfinished and one.takes_writes]
    live = next(one for one in left if one.live)
    found = run(settings, lambda index: look_up(index, [opted_out, leads[-1].domain]))
    assert set(found.records) == {leads[-1].domain}, live


def _kill_before(monkeypatch: pytest.MonkeyPatch, step: str, node: Node, killed: threading.Event) -> None:
    """Kill the node when the rebuild comes to this step, once."""
    owner: Any = rebuilds
    *path, name = step.split(".")
    for part in path:
        owner = getattr(owner, part)
    really = getattr(owner, name)

    async def with_a_kill(*given: Any, **named: Any) -> Any:
        if not killed.is_set():
            node.kill()
            killed.set()
        return await really(*given, **named)

    monkeypatch.setattr(owner, name, with_a_kill)
