"""Runs that add to the facts store leave the index as a rebuild from the store makes it, whatever happened before.

Each run tells one history of each kind, `--nightly` 3, and with SITEGLASS_LONG=1 50.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from siteglass.corpus.lead import Lead
from siteglass.ingest.store.facts_store import open_store
from testing.outcomes import first_by_day
from tests.ingest.store.histories import DESIGNERS, KILLED, MIN_DOMAINS, History, leads_in

HISTORIES = 50 if os.environ.get("SITEGLASS_LONG") else 3
STEPS = 14


def _undated(leads: dict[str, Lead]) -> dict[str, Lead]:
    return {domain: msgspec.structs.replace(lead, updated_at_ms=None) for domain, lead in leads.items()}


@pytest.mark.parametrize("seed", first_by_day(range(HISTORIES)))
def test_runs_leave_what_a_rebuild_makes(tmp_path: Path, seed: int) -> None:
    """Pages change, go, move and lead to other sites. Runs come out of order or are killed, the store is compacted."""
    chance = random.Random(seed)
    history = History(tmp_path, chance)
    for _ in range(STEPS):
        if chance.random() < 0.2:
            history.compact()
        history.run(chance.choice(KILLED))
    history.finish()
    assert history.index.leads == history.rebuilt(), history.events
    assert len(history.index.leads) > 3


@pytest.mark.parametrize("seed", first_by_day(range(HISTORIES)))
def test_with_opt_outs_and_purges(tmp_path: Path, seed: int) -> None:
    """When the content of a lead changed is not compared: an opt-out is such a change to a rebuild alone."""
    chance = random.Random(1_000 + seed)
    history = History(tmp_path, chance)
    for _ in range(STEPS):
        history.run(chance.choice(KILLED))
        if chance.random() < 0.3:
            history.opt_out()
        if chance.random() < 0.2:
            history.purge()
    history.purge()
    history.finish()
    assert _undated(history.index.leads) == _undated(history.rebuilt()), history.events


@pytest.mark.parametrize("seed", first_by_day(range(HISTORIES)))
def test_the_order_of_runs_does_not_matter(tmp_path: Path, seed: int) -> None:
    """Only the time when a change was noticed depends on it."""
    chance = random.Random(2_000 + seed)
    history = History(tmp_path, chance)
    for _ in range(STEPS):
        history.run()
        if chance.random() < 0.2:
            history.compact()
    other = History(tmp_path / "other", chance)
    other.folder.mkdir()
    tasks = list(history.tasks.items())
    chance.shuffle(tasks)
    with other.store() as store:
        for name, path in tasks:
            store.append({name: path})
            store.commit()
            if chance.random() < 0.2:
                store.compact()
                store.commit()
        leads = leads_in(other.merged(store, is_whole=True).files)
    assert _undated(history.index.leads) == _undated({lead.domain: lead for lead in leads})


def test_values_of_many_domains_are_nobodys_own(tmp_path: Path) -> None:
    """Until the threshold is crossed they are shown. Then all domains that show them are merged again."""
    history = History(tmp_path, random.Random(1))
    shown_on: list[int] = []
    (designer, _) = DESIGNERS
    for number in range(MIN_DOMAINS):
        facts = tmp_path / f"{number}.parquet"
        _write_page(facts, f"shop-{number}.example", designer)
        history.tasks[f"shop-{number}"] = facts
        history.finish()
        shown_on.append(sum(designer in lead.emails for lead in history.index.leads.values()))
    assert shown_on == [*range(1, MIN_DOMAINS), 0]
    assert all(lead.emails == (f"info@{domain}",) for domain, lead in history.index.leads.items())
    assert history.index.leads == history.rebuilt()


def _write_page(path: Path, domain: str, designer: str) -> None:
    from siteglass.ingest.facts import FACTS_SCHEMA, ContactSighting, PageFacts, to_batch

    page = PageFacts(
        domain=domain,
        url=f"https://{domain}/",
        path="/",
        is_home=True,
        kind="page",
        status=200,
        captured_at_ms=1_790_000_000_000,
        archive=path.name,
        offset=0,
        digest=domain,
        text="some words",
        emails=(ContactSighting(f"info@{domain}", "text"), ContactSighting(designer, "text")),
    )
    batch = to_batch([page])
    with pq.ParquetWriter(path, FACTS_SCHEMA) as writer:
        writer.write_batch(batch)


def test_what_a_killed_command_left_is_deleted(tmp_path: Path) -> None:
    history = History(tmp_path, random.Random(1))
    history.run()
    before = {path for path in (tmp_path / "store").rglob("*") if path.is_file()}
    history.run("while adding")
    assert {path for path in (tmp_path / "store").rglob("*") if path.is_file()} != before
    with open_store(tmp_path / "store") as store:
        assert len(store.manifest.tasks) == 1
    assert {path for path in (tmp_path / "store").rglob("*") if path.is_file()} == before
