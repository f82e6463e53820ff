"""The number of a lead never changes, and no two domains share one: whatever is loaded, rebuilt, rolled back, restored
or lost on the way."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import textwrap
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet, write_parquet
from siteglass.corpus.lead_store import write_stored
from siteglass.index import entry, generations
from siteglass.index.administration import admin
from siteglass.index.entry import BLOCK_SIZE, enter_store
from siteglass.index.index import Index
from siteglass.index.load import load
from siteglass.index.names import IndexNames
from siteglass.index.rebuild import RebuildPlan, rebuild
from siteglass.settings import Settings, environment_of
from testing.accounts import drop_schema
from testing.service import RUN_PREFIX, apart, make_test_account, run, settings_for

LONG = bool(os.environ.get("SITEGLASS_LONG"))
EXAMPLES, STEPS = (60, 25) if LONG else (5, 10)
SITES = tuple(f"site{number}.example" for number in range(12))
CRAWL_MS = 1_780_000_000_000
SHAPE = generations.Shape()


@pytest.fixture(scope="module")
def own_schema() -> Iterator[Settings]:
    """Settings with tables of this module's own: its tests turn them back."""
    ours = settings_for("numbers", postgres_schema=f"{RUN_PREFIX}_numbers")
    make_test_account(ours.postgres_dsn, ours.postgres_schema)
    yield ours
    apart(drop_schema(ours.postgres_dsn, ours.postgres_schema))


@pytest.fixture
def ours(own_schema: Settings, tmp_path: Path) -> Settings:
    return replace(own_schema, lead_store=tmp_path / "store", index_prefix=f"{own_schema.index_prefix}-{_name()}")


def _name() -> str:
    return uuid.uuid4().hex[:8]


def _lead(domain: str, crawl: int = 0) -> Lead:
    return Lead(domain=domain, crawled_at_ms=CRAWL_MS + crawl)


def _entered(ours: Settings, *sources: Path) -> list[Path]:
    return [file.path for file in run(ours, lambda index: enter_store(index, sources))]


def _leads(*paths: Path) -> list[Lead]:
    return [lead for path in paths for _, group in read_parquet(path) for lead in group]


def _numbers(store: Path) -> dict[str, set[int | None]]:
    """The numbers of each domain in the store."""
    found: dict[str, set[int | None]] = {}
    for lead in _leads(*store.glob("*.parquet")):
        found.setdefault(lead.domain, set()).add(lead.lead_no)
    return found


def _set_next(ours: Settings, number: int) -> None:
    """The database as a backup had it."""
    statement = "UPDATE {schema}.lead_numbers SET next = $1"
    run(replace(ours, postgres_dsn=ours.postgres_owner_dsn), lambda index: index.postgres.fetch(statement, number))


def _next(ours: Settings) -> int:
    statement = "SELECT next FROM {schema}.lead_numbers"
    owner = replace(ours, postgres_dsn=ours.postgres_owner_dsn)
    (row,) = run(owner, lambda index: index.postgres.fetch(statement))
    return int(row["next"])


def test_a_file_gets_numbers_in_the_order_of_its_leads(ours: Settings, tmp_path: Path) -> None:
    first = _next(ours)
    write_parquet(tmp_path / "a.parquet", [_lead("b.example"), _lead("a.example"), _lead("b.example", 5)])
    (stored,) = _entered(ours, tmp_path / "a.parquet")
    assert [(lead.domain, lead.lead_no) for lead in _leads(stored)] == [
        ("b.example", first),
        ("a.example", first + 1),
        ("b.example", first),
    ]
    assert _next(ours) == first + BLOCK_SIZE


def test_files_that_are_entered_together_share_what_they_know(ours: Settings, tmp_path: Path) -> None:
    first = _next(ours)
    write_parquet(tmp_path / "a.parquet", [_lead("a.example", 9), _lead("b.example")])
    lines = [_lead("c.example"), _lead("a.example", 2)]
    (tmp_path / "b.ndjson").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    stored = _entered(ours, tmp_path / "a.parquet", tmp_path / "b.ndjson")
    assert [(lead.domain, lead.lead_no, (lead.first_seen_ms or 0) - CRAWL_MS) for lead in _leads(*stored)] == [
        ("a.example", first, 2),
        ("b.example", first + 1, 0),
        ("c.example", first + 2, 0),
        ("a.example", first, 2),
    ]


def test_a_newer_file_keeps_the_number_and_the_earliest_time(ours: Settings, tmp_path: Path) -> None:
    given = msgspec.structs.replace(_lead("a.example"), first_seen_ms=CRAWL_MS - 7)
    write_parquet(tmp_path / "a.parquet", [given])
    (old,) = _leads(*_entered(ours, tmp_path / "a.parquet"))
    write_parquet(tmp_path / "b.parquet", [_lead("a.example", 50), _lead("new.example", 50)])
    again, new = _leads(*_entered(ours, tmp_path / "b.parquet"))
    assert (again.lead_no, again.first_seen_ms) == (old.lead_no, CRAWL_MS - 7)
    assert new.lead_no != old.lead_no
    assert new.first_seen_ms == CRAWL_MS + 50


def test_numbers_in_files_outside_the_store_are_ignored(ours: Settings, tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", [_lead("a.example")])
    (own,) = _leads(*_entered(ours, tmp_path / "a.parquet"))
    foreign = msgspec.structs.replace(_lead("b.example"), lead_no=own.lead_no)
    write_parquet(tmp_path / "b.parquet", [foreign])
    (other,) = _leads(*_entered(ours, tmp_path / "b.parquet"))
    assert other.lead_no not in (None, own.lead_no)


def test_a_file_in_the_store_is_numbered_in_place_and_keeps_its_time(ours: Settings) -> None:
    ours.lead_store.mkdir()
    path = ours.lead_store / "old.parquet"
    write_parquet(path, [_lead(f"{name}.example") for name in "abcde"], row_group_size=2)
    os.utime(path, ns=(10**18, 10**18))
    assert _entered(ours, path) == [path]
    assert path.stat().st_mtime_ns == 10**18
    assert [len(group) for _, group in read_parquet(path)] == [2, 2, 1]
    numbers = [lead.lead_no for lead in _leads(path)]
    assert None not in numbers
    inode = path.stat().st_ino
    assert _entered(ours, path) == [path]
    assert path.stat().st_ino == inode  # once is enough


@pytest.mark.parametrize("lost", [True, False], ids=["lost", "older"])
def test_a_restored_database_goes_on_above_the_store(ours: Settings, tmp_path: Path, lost: bool) -> None:
    older = _next(ours)
    write_parquet(tmp_path / "a.parquet", [_lead("a.example"), _lead("b.example")])
    first, second = _leads(*_entered(ours, tmp_path / "a.parquet"))
    _set_next(ours, 1 if lost else older)
    write_parquet(tmp_path / "b.parquet", [_lead("c.example"), _lead("a.example", 1)])
    third, again = _leads(*_entered(ours, tmp_path / "b.parquet"))
    assert (third.lead_no, again.lead_no) == ((second.lead_no or 0) + 1, first.lead_no)


def test_a_database_without_room_for_a_block_says_so(ours: Settings, tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", [_lead("a.example")])
    before = _next(ours)
    try:
        _set_next(ours, 2**31 - BLOCK_SIZE + 1)
        with pytest.raises(generations.GenerationError, match="fewer than 1000 numbers left"):
            _entered(ours, tmp_path / "a.parquet")
        _set_next(ours, 2**31 - BLOCK_SIZE)
        (lead,) = _leads(*_entered(ours, tmp_path / "a.parquet"))
        assert lead.lead_no == 2**31 - BLOCK_SIZE
    finally:
        _set_next(ours, before)


def test_a_process_that_is_killed_wastes_its_block_and_frees_the_store(ours: Settings, tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", [_lead("a.example")])
    before = _next(ours)
    program = f"""
        import os
        from pathlib import Path
        from siteglass.index import entry
        from siteglass.settings import load_settings
        from testing.service import run
        entry.write_stored = lambda *_: os._exit(9)
        run(load_settings(), lambda index: entry.enter_store(index, [Path({str(tmp_path / "a.parquet")!r})]))
    """
    environment = {**os.environ, **environment_of(ours)}
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, check=False, timeout=60)
    assert ended.returncode == 9
    assert _next(ours) == before + BLOCK_SIZE
    assert _numbers(ours.lead_store) == {}
    (lead,) = _leads(*_entered(ours, tmp_path / "a.parquet"))
    assert lead.lead_no == before + BLOCK_SIZE


class LostWorker(Exception):
    """Stands for the end of the process."""


_stack = ExitStack()
_settings: list[Settings] = []


class Story(RuleBasedStateMachine):
    """What was loaded and what each domain was called then."""

    @initialize()
    def begin(self) -> None:
        folder = Path(_stack.enter_context(tempfile.TemporaryDirectory()))
        prefix = f"{_settings[0].index_prefix}-{_name()}"
        self.settings = replace(_settings[0], lead_store=folder / "store", index_prefix=prefix)
        self.folder = folder
        self.files = itertools.count()
        self.crawls = itertools.count()
        self.numbers: dict[str, int] = {}
        self.backups = [1]
        self.load(list(SITES[:3]), "parquet")
        self.rebuild()

    def _file(self, sites: list[str], kind: str) -> Path:
        leads = [_lead(site, next(self.crawls)) for site in sites]
        if kind == "stored":
            path = self.settings.lead_store / f"legacy-{next(self.files)}.parquet"
        else:
            path = self.folder / f"leads-{next(self.files)}.{kind}"
        if kind == "ndjson":
            path.write_bytes(b"\n".join(map(msgspec.json.encode, leads)))
        else:
            write_parquet(path, leads)
        return path

    @rule(
        sites=st.lists(st.sampled_from(SITES), min_size=1, max_size=4, unique=True),
        kind=st.sampled_from(("parquet", "ndjson", "stored")),
    )
    def load(self, sites: list[str], kind: str) -> None:
        path = self._file(sites, kind)

        async def action(index: Index) -> None:
            (stored,) = await enter_store(index, [path])
            if await generations.writable(index):
                await load(index, stored.path, lambda _: None)

        run(self.settings, action)

    @rule(sites=st.lists(st.sampled_from(SITES), min_size=1, max_size=4, unique=True))
    def lose_a_worker(self, sites: list[str]) -> None:
        """It has its numbers, and wrote the first of two files."""
        files = [self._file(sites, "parquet"), self._file(sites[::-1], "ndjson")]
        written = itertools.count()

        def write_once(*given: Any) -> Any:
            if next(written):
                raise LostWorker
            return write_stored(*given)

        with mock.patch.object(entry, "write_stored", write_once), pytest.raises(LostWorker):
            run(self.settings, lambda index: enter_store(index, files))

    @rule()
    def rebuild(self) -> None:
        plan = RebuildPlan(SHAPE, verify=False, promote=True, keep=1)
        run(self.settings, lambda index: rebuild(index, [self.settings.lead_store], plan))

    @rule()
    def roll_back(self) -> None:
        async def action(index: Index) -> None:
            if await generations.previous(index):
                await generations.rollback(index)

        run(self.settings, action)

    @rule()
    def back_up_the_database(self) -> None:
        self.backups.append(_next(self.settings))

    @rule(number=st.integers(0, 100))
    def restore_the_database(self, number: int) -> None:
        """An older one, or a new one, whose next number is 1."""
        _set_next(self.settings, self.backups[number % len(self.backups)])
        self.load([f"new{next(self.files)}.example"], "parquet")

    @invariant()
    def every_domain_keeps_its_own_number(self) -> None:
        stored = _numbers(self.settings.lead_store)
        assert all(len(numbers) == 1 for numbers in stored.values()), stored
        now = {domain: next(iter(numbers)) for domain, numbers in stored.items()}
        assert None not in now.values()
        assert len(set(now.values())) == len(now)
        assert {domain: now[domain] for domain in self.numbers} == self.numbers
        self.numbers = {domain: number for domain, number in now.items() if number}
        assert run(self.settings, self._indexed).items() <= self.numbers.items()

    async def _indexed(self, index: Index) -> dict[str, int]:
        """The number of each lead that searches find."""
        live = await generations.live(index)
        if live is None:
            return {}
        await generations.refresh(index, [live])
        body = {"size": 100, "_source": False, "docvalue_fields": ["lead_no"]}
        answer = await admin(index, "POST", f"/{live}/_search", body)
        hits = {hit["_id"]: hit["fields"]["lead_no"][0] for hit in answer["hits"]["hits"]}
        assert hits
        return hits

    def teardown(self) -> None:
        pattern = IndexNames(self.settings.index_prefix).generations
        run(self.settings, lambda index: admin(index, "DELETE", f"/{pattern}"))


def test_numbers_survive_every_order_of_events(own_schema: Settings) -> None:
    _settings.append(own_schema)
    with _stack:
        run_state_machine_as_test(
            Story,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
