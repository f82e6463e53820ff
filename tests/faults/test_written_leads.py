"""Leads that were acknowledged stay, however often nodes are killed and the whole cluster is started again."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.generations import Shape
from siteglass.index.index import Index
from siteglass.index.load import load
from siteglass.index.scanning import scanned
from siteglass.platform.opensearch import EngineError
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.opensearch_cluster import Cluster, running_cluster
from testing.service import fill, run, settings_for

NIGHTLY = True

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]

LEADS, KILLS, RESTARTS = 100_000, 20, 3
PER_FILE = 500
ATTEMPTS = 60  # of one file; each takes up to its deadline
SEED = 29


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with running_cluster() as made:
        yield made


class Loader:
    """Loads one file after the other, each until it is acknowledged as a whole, as an operator would."""

    def __init__(self, settings: Settings, files: list[Path]) -> None:
        self._settings = settings
        self._files = files
        self.allowed = 0
        self.acknowledged = 0
        self.repeated = 0

    def run(self) -> None:
        """Load all files, as far as is allowed now: each fault is to meet writes."""
        for path in self._files:
            while self.acknowledged >= self.allowed:
                time.sleep(0.05)
            for _ in range(ATTEMPTS):
                if self._load(path):
                    break
                self.repeated += 1
                time.sleep(1)
            else:
                raise TimeoutError(f"{path.name} was not taken in {ATTEMPTS} attempts")
            self.acknowledged += PER_FILE

    def _load(self, path: Path) -> bool:
        try:
            report = run(self._settings, lambda index: load(index, path, lambda _: None))
        except Unavailable:
            return False
        except EngineError as error:
            if error.passing:
                return False
            raise
        assert (report.written, report.failed) == (PER_FILE, 0), report
        return True


async def _domains(index: Index) -> set[str]:
    live = next(one.name for one in await generations.status(index) if one.live)
    await index.opensearch.request("POST", f"/{live}/_refresh", timeout_ms=60_000)
    found: set[str] = set()
    async for hits in scanned(index, live, [], timeout_ms=60_000):
        found.update(hit["_id"] for hit in hits)
    return found


def test_no_acknowledged_lead_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    settings = settings_for("written-leads", opensearch_urls=cluster.urls)
    leads = list(generate(LEADS, SEED))
    first, *rest = _files(leads, tmp_path)
    fill(settings, first, Shape(shards=3, replicas=1))
    cluster.green()
    chosen = random.Random(SEED)
    steps = ["kill"] * KILLS + ["restart"] * RESTARTS
    chosen.shuffle(steps)
    loader = Loader(settings, rest)
    while_lost = 0
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(loader.run)
        for number, step in enumerate(steps):
            loader.allowed = len(rest) * PER_FILE * (number + 1) // len(steps)
            time.sleep(chosen.uniform(0.2, 3))
            lost = cluster.nodes if step == "restart" else [chosen.choice(cluster.nodes)]
            before = loader.acknowledged
            for node in lost:
                node.kill()
            time.sleep(5)
            while_lost += loader.acknowledged - before
            cluster.start()
            while loader.acknowledged < loader.allowed:
                if loading.done():
                    loading.result()  # raises what ended it
                time.sleep(0.1)
            print(f"{step}: {loader.acknowledged} acknowledged, {loader.repeated} loads repeated")
        loading.result()
    cluster.green()
    assert run(settings, _domains) == {lead.domain for lead in leads}
    assert while_lost > 0, "nothing was written while a node was lost"


def _files(leads: list[Lead], folder: Path) -> Iterator[Path]:
    for start in range(0, len(leads), PER_FILE):
        path = folder / f"{start}.parquet"
        write_parquet(path, leads[start : start + PER_FILE])
        yield path
