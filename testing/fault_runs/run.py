"""One run: traffic through the service, faults one after the other, then the history with the ledger's rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from siteglass.corpus.lead import Lead
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.fault_runs.history import Charge, Fault, History
from testing.fault_runs.traffic import Traffic, questions, warm_up
from testing.opensearch_cluster import Cluster, Node
from testing.service import ServiceProcess

RATE = 20.0
QUESTIONS = 60


@dataclass(frozen=True, slots=True)
class Step:
    """A fault: how it begins, how long it lasts, how it ends, and how long to look on."""

    kind: str
    target: str
    begin: Callable[[], None]
    end: Callable[[], None]
    lasts_s: float
    after_s: float


def kill(cluster: Cluster, node: Node, *, lasts_s: float, after_s: float) -> Step:
    """A node ends without warning and is started again."""

    def back() -> None:
        cluster.start_again(node)
        cluster.green()

    return Step("kill", node.node, node.kill, back, lasts_s, after_s)


def freeze(cluster: Cluster, node: Node, *, lasts_s: float, after_s: float) -> Step:
    """A node stops, its connections stay open, and it runs on later."""

    def back() -> None:
        node.thaw()
        cluster.green()

    return Step("freeze", node.node, node.freeze, back, lasts_s, after_s)


def run(
    settings: Settings,
    leads: list[Lead],
    steps: Sequence[Step],
    seed: int,
    log: Path,
    *,
    before_s: float = 5.0,
    rate: float = RATE,
) -> History:
    """The history of the steps, each under the same traffic."""
    asked = questions(leads, QUESTIONS, seed)
    service = ServiceProcess(settings, log=log)
    service.start()
    warm_up(service.url, asked)
    before = asyncio.run(charges(settings))
    faults: list[Fault] = []
    try:
        with Traffic(service.url, asked, rate, seed) as traffic:
            for step in steps:
                time.sleep(before_s)
                at_s = traffic.now_s()
                step.begin()
                time.sleep(step.lasts_s)
                step.end()
                faults.append(Fault(step.kind, step.target, at_s, traffic.now_s()))
                time.sleep(step.after_s)
    finally:
        service.kill()
    exchanges = sorted(traffic.exchanges, key=lambda one: one.sent_s)
    return History(seed, asked, exchanges, faults, asyncio.run(charges(settings))[len(before) :])


def keep(history: History, name: str, folder: Path) -> Path:
    """Store a history, so that the verifier can be run on it again."""
    path = folder / f"{name}.jsonl"
    history.write(path)
    return path


async def charges(settings: Settings) -> list[Charge]:
    """All charges of the tests' account, in their order."""
    postgres = Postgres(settings.postgres_dsn, settings.postgres_schema, max_connections=1, timeout_ms=60_000)
    try:
        rows = await postgres.fetch(
            "SELECT request_id, lead FROM {schema}.ledger WHERE kind = 'charge' AND account_id = 1 ORDER BY seq"
        )
    finally:
        await postgres.close()
    return [Charge(row["request_id"], -row["lead"]) for row in rows]
