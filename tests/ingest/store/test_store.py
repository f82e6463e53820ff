"""Files of the facts store: which row groups are read, sorting in small pieces, stores at an address, one writer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, from_table, page_digest, to_batch
from siteglass.ingest.store import files as store_files
from siteglass.ingest.store.facts_store import FactsStore, open_store
from siteglass.ingest.store.manifest import StoreError
from siteglass.ingest.store.sorting import folded_files
from testing.outcomes import by_night
from testing.random_facts import write_facts
from tests.ingest.store.reference_fold import folded
from tests.ingest.store.test_folding import random_captures


def pages_of(store: FactsStore, domains: list[str] | None = None) -> list[PageFacts]:
    """The pages of a store, of all domains or of some."""
    return [page for table in store.pages(domains) for page in from_table(table)]


@pytest.fixture
def captures(tmp_path: Path) -> list[PageFacts]:
    found = random_captures(random.Random(5), 60)
    write_facts(tmp_path / "facts", found)
    return found


def tasks_in(folder: Path) -> dict[str, Path]:
    """The files of facts that `write_facts` wrote, by their names."""
    return {path.stem: path for path in sorted((folder / "facts").glob("*.parquet"))}


@pytest.mark.parametrize("rows", [7, 1_000, *by_night(1)])
def test_sorting_with_few_rows_in_memory(tmp_path: Path, captures: list[PageFacts], rows: int) -> None:
    tables = list(folded_files(sorted(tasks_in(tmp_path).values()), rows))
    assert [page for table in tables for page in from_table(table)] == folded(captures)
    assert [path.name for path in (tmp_path / "facts").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("rows", [20, 1_000, *by_night(1)])
def test_pages_of_some_domains(
    tmp_path: Path, captures: list[PageFacts], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a base and three deltas, in row groups of any size."""
    monkeypatch.setattr(store_files, "ROW_GROUP_SIZE", 4)
    expected = folded(captures)
    some = ["nodots", "site-11.example", "site-7.example", "unknown.example"]
    with open_store(tmp_path / "store", rows_at_once=rows) as store:
        for name, path in tasks_in(tmp_path).items():
            store.append({name: path})
            store.commit()
        for _ in range(2):
            assert pages_of(store) == expected
            assert pages_of(store, some) == [page for page in expected if page.domain in some]
            store.compact()
            store.commit()
        assert store.manifest.deltas == {}


def test_row_groups_of_other_domains_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_files, "ROW_GROUP_SIZE", 10)
    pages = [
        PageFacts(
            domain=f"site-{number:04}.example",
            url="https://site.example/",
            path="/",
            is_home=True,
            kind="page",
            captured_at_ms=1,
            archive="a",
            offset=number,
            digest="",
        )
        for number in range(500)
    ]
    write_facts(tmp_path / "facts", pages)
    read: list[int] = []
    with open_store(tmp_path / "store") as store:
        store.append(tasks_in(tmp_path))
        true = pq.ParquetFile.read_row_group

        def counted(file: pq.ParquetFile, number: int, **options: Any) -> pa.Table:
            read.append(number)
            return true(file, number, **options)

        monkeypatch.setattr(pq.ParquetFile, "read_row_group", counted)
        found = pages_of(store, ["site-0123.example", "site-0321.example", "site-0321a.example"])
    assert [page.domain for page in found] == ["site-0123.example", "site-0321.example"]
    assert set(read) == {12, 32}


def test_a_page_of_a_domain_with_many_is_found_by_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of one domain come in several tables, so that not all of them are in memory."""
    monkeypatch.setattr(store_files, "ROW_GROUP_SIZE", 10)
    crowd = [page for page in random_captures(random.Random(1), 1) if page.domain == "site-0.example"][:1]
    pages = [
        PageFacts(
            domain="crowd.example",
            url=f"https://crowd.example/{number:03}",
            path="/",
            is_home=False,
            kind="page",
            captured_at_ms=1,
            archive="a",
            offset=number,
            digest="",
        )
        for number in range(200)
    ]
    write_facts(tmp_path / "facts", [*crowd, *pages])
    with open_store(tmp_path / "store", rows_at_once=20) as store:
        store.append(tasks_in(tmp_path))
        tables = list(store.pages())
    assert max(table.num_rows for table in tables) <= 30
    assert sum(table.num_rows for table in tables) == len(pages) + len(crowd)


def test_a_store_at_an_address(tmp_path: Path, captures: list[PageFacts]) -> None:
    """As at one of S3: without locks and without renaming."""
    address = (tmp_path / "store").as_uri()
    with open_store(address) as store:
        store.append(tasks_in(tmp_path))
        store.commit()
    with open_store(address) as store:
        assert pages_of(store) == folded(captures)
        store.compact()
        store.commit()
    assert not any((tmp_path / "store" / "deltas").rglob("*.parquet"))


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with open_store(tmp_path), pytest.raises(StoreError, match="Another command is using the store"):
        open_store(tmp_path).__enter__()


def test_an_answer_without_a_page_does_not_take_its_place(tmp_path: Path) -> None:
    """304 Not Modified that nobody asked for: without a digest, nobody knows which page it confirms."""
    page = next(page for page in random_captures(random.Random(1)) if page.kind == "page")
    at_ms = page.captured_at_ms + 1
    later = {"kind": "redirect", "status": 304, "captured_at_ms": at_ms, "text": "", "digest": page_digest(b"")}
    write_facts(tmp_path / "facts", [page, msgspec.structs.replace(page, **later)])
    with open_store(tmp_path / "store") as store:
        store.append(tasks_in(tmp_path))
        assert pages_of(store) == folded([page])


def test_archives_are_added_once(tmp_path: Path, captures: list[PageFacts]) -> None:
    with open_store(tmp_path / "store") as store:
        assert store.append(tasks_in(tmp_path)) == 3
        assert store.append(tasks_in(tmp_path)) == 0
        assert pages_of(store) == folded(captures)


def test_a_manifest_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"version": 2}')
    with pytest.raises(StoreError, match="has version 2, and this build reads 1"):
        open_store(tmp_path).__enter__()
    (tmp_path / "manifest.json").write_text('{"version"')
    with pytest.raises(StoreError, match="cannot be read"):
        open_store(tmp_path).__enter__()


def test_facts_come_back_as_they_were(captures: list[PageFacts]) -> None:
    assert from_table(pa.Table.from_batches([to_batch(captures)], FACTS_SCHEMA)) == captures
