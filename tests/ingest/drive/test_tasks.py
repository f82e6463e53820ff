"""Tasks: what is written, that it is written once and always the same, and that no page stops an archive."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from siteglass.ingest import tasks
from siteglass.ingest.archives import QuarantinedRecord
from siteglass.ingest.facts import FACTS_SCHEMA, ContactSighting
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.ingest.tasks import Plan, TaskSummary, run_task, task_id_of
from siteglass.settings import Settings
from siteglass.suppression.values import Hasher, read_value
from testing.warc_files import response, write_warc

EXTRACT = "tests.ingest.stand_in:facts_of"
SECRET = "a secret of the tests that is long enough"


def _plan(folder: Path, **more: object) -> Plan:
    return msgspec.structs.replace(Plan(folder=folder, extract=EXTRACT), **more)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Three good pages, and three that fail in their own ways."""
    path = tmp_path / "some.warc.gz"
    bodies = (b"<title>One</title>", b"FAIL OURS", b"two", b"FAIL", b"LARGE", b"three me@three.example")
    write_warc(path, [response(f"http://s{number}.example/", body) for number, body in enumerate(bodies)])
    return path


def test_facts_and_what_failed_are_written_side_by_side(archive: Path, tmp_path: Path) -> None:
    plan = _plan(tmp_path / "facts")
    summary = run_task(archive, plan)
    assert summary == TaskSummary(
        archive="some.warc.gz",
        task_id=task_id_of(archive),
        pages=3,
        quarantined={"extract: KeyError": 1, "extract: MemoryError": 1, "extract: fails as it should": 1},
        was_done=False,
    )
    assert summary.records == 6
    table = pq.read_table(plan.folder / f"{summary.task_id}.parquet")
    assert table.schema.remove_metadata() == FACTS_SCHEMA
    assert table.column("domain").to_pylist() == ["s0.example", "s2.example", "s5.example"]
    found = ContactSighting(value="me@three.example", method="text")
    assert table.column("emails").to_pylist() == [[], [], [msgspec.to_builtins(found)]]
    lines = (plan.folder / f"{summary.task_id}.quarantine.ndjson").read_bytes().splitlines()
    told = [msgspec.json.decode(line, type=QuarantinedRecord) for line in lines]
    assert [one.url for one in told] == ["http://s1.example/", "http://s3.example/", "http://s4.example/"]
    assert sorted(path.suffix for path in plan.folder.iterdir()) == [".ndjson", ".parquet"]


def test_the_same_archive_makes_the_same_bytes(archive: Path, tmp_path: Path) -> None:
    first, second = _plan(tmp_path / "first"), _plan(tmp_path / "second")
    run_task(archive, first)
    run_task(archive, second)
    files = sorted(path.name for path in first.folder.iterdir())
    assert files == sorted(path.name for path in second.folder.iterdir())
    assert [(first.folder / name).read_bytes() for name in files] == [
        (second.folder / name).read_bytes() for name in files
    ]


def test_a_task_that_is_done_is_not_run_again(archive: Path, tmp_path: Path) -> None:
    done = run_task(archive, _plan(tmp_path / "facts"))
    again = run_task(archive, _plan(tmp_path / "facts", extract="nobody.has:this"))
    assert again == msgspec.structs.replace(done, was_done=True)


def test_the_name_of_a_task_says_what_went_in(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {task_id_of(archive), task_id_of(archive, "an etag")}
    archive.write_bytes(archive.read_bytes() + b"\n")
    names.add(task_id_of(archive))
    moved = archive.rename(archive.with_name("other.warc.gz"))
    names.add(task_id_of(moved))
    monkeypatch.setattr(tasks, "EXTRACTOR_VERSION", "another")
    names.add(task_id_of(moved))
    assert len(names) == 5
    assert {len(name) for name in names} == {32}


def test_a_page_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "some.warc.gz"
    write_warc(path, [response("http://slow.example/", b"SLOW"), response("http://good.example/", b"good")])
    summary = run_task(path, _plan(tmp_path / "facts", page_timeout_s=0.05))
    assert (summary.pages, summary.quarantined) == (1, {"extract: took too long": 1})


def test_a_failed_task_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        run_task(archive, _plan(tmp_path / "facts", extract="nobody.has:this"))
    assert list((tmp_path / "facts").iterdir()) == []


def test_what_is_suppressed_is_not_even_in_the_facts(tmp_path: Path) -> None:
    path = tmp_path / "some.warc.gz"
    body = b"<title>ask out@listed.example</title> out@listed.example in@listed.example +49301234567 +49307654321"
    write_warc(path, [response("http://a.example/", body), response("http://below.gone.example/", b"gone")])
    hasher = Hasher(Settings(suppression_secret=SECRET))
    hashes = frozenset(hasher.of_value(read_value(text)) for text in ("out@listed.example", "+49301234567"))
    suppressed = SuppressionSnapshot(frozenset({"gone.example"}), hashes, SECRET)
    summary = run_task(path, _plan(tmp_path / "facts", suppressed=suppressed))
    (row,) = pq.read_table(tmp_path / "facts" / f"{summary.task_id}.parquet").to_pylist()
    assert row["title"] == "ask "
    assert [found["value"] for found in row["emails"]] == ["in@listed.example"]
    assert [found["value"] for found in row["phones"]] == ["+49307654321"]
    assert "out@" not in row["text"]
    assert "+4930123" not in row["text"]
    assert SECRET not in repr(suppressed)
