"""`siteglass ingest run` a second time: it updates the leads of its domains, deletes those that are gone, and leaves
the others. Then an opt-out, and a purge."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet, write_parquet
from siteglass.index import generations, updates
from siteglass.index.verification import Tolerances
from siteglass.settings import Settings, environment_of, load_settings
from testing.accounts import drop_schema
from testing.service import RUN_PREFIX, filled, make_test_account, run, settings_for
from testing.warc_files import response, write_warc

pytestmark = pytest.mark.private_engines
SITEGLASS = Path(sys.executable).parent / "siteglass"
DAYS = ("2026-10-01T12:00:00Z", "2026-10-02T12:00:00Z", "2026-10-03T12:00:00Z")


def _ran(settings: Settings, *words: str | Path, ends_with: int = 0) -> str:
    done = subprocess.run(
        [str(SITEGLASS), *map(str, words)],
        env={**os.environ, **environment_of(settings)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == ends_with, done.stdout + done.stderr
    return done.stdout + done.stderr


def _page(title: str, words: str = "") -> bytes:
    return f"<html><title>{title}</title><body><h1>{title}</h1><p>We make tables of oak. {words}</p></body>".encode()


def _contents(settings: Settings) -> dict[str, tuple[str, list[str]]]:
    """Title and addresses of the leads that searches see."""

    async def read(index: Any) -> dict[str, Any]:
        body = {"size": 1_000, "query": {"match_all": {}}}
        answer = await index.opensearch.request("POST", f"/{index.names.read}/_search", body, timeout_ms=30_000)
        return {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}

    return {domain: (one["title"], one["emails"]) for domain, one in run(settings, read).items()}


def _settings(name: str, folder: Path, **changes: Any) -> Settings:
    """An index of the test's own, without a generation."""
    ours = settings_for(name, lead_store=folder / "leads", **changes)
    make_test_account(ours.postgres_dsn, ours.postgres_schema)
    return ours


@pytest.fixture
def own_schema() -> Iterator[str]:
    """For opt-outs: runs of other tests depend on the list of the shared schema, and would merge their pages again."""
    name = f"{RUN_PREFIX}_updates"
    yield name
    asyncio.run(drop_schema(load_settings().postgres_dsn, name))


@pytest.mark.nightly
def test_a_second_run_updates_and_deletes(tmp_path: Path, own_schema: str) -> None:
    settings = _settings("updates", tmp_path, postgres_schema=own_schema)
    first, second, third = (tmp_path / f"{number}.warc.gz" for number in range(3))
    write_warc(
        first,
        [
            response("https://oak-house.org/", _page("Oak House"), date=DAYS[0]),
            response("https://oak-house.org/contact", _page("Contact", "jo@oak-house.org"), date=DAYS[0]),
            response("https://elm-house.org/", _page("Elm House"), date=DAYS[0]),
            response("https://elm-house.org/contact", _page("Contact", "jo@elm-house.org"), date=DAYS[0]),
            response("https://ash-house.org/", _page("Ash House"), date=DAYS[0]),
            response("https://fir-house.org/", _page("Fir House"), date=DAYS[0]),
        ],
    )
    write_warc(
        second,
        [
            response("https://oak-house.org/", _page("New Oak House"), date=DAYS[2]),
            response("https://elm-house.org/contact", b"", date=DAYS[2], status="404 Not Found"),
            response("https://ash-house.org/", b"", date=DAYS[2], status="410 Gone"),
            response("https://yew-house.org/", _page("Yew House"), date=DAYS[2]),
        ],
    )
    # It was crawled between the two, and comes last.
    write_warc(third, [response("https://oak-house.org/", _page("Old Oak House", "old@oak-house.org"), date=DAYS[1])])
    work = tmp_path / "work"

    assert "is live" in _ran(settings, "ingest", "run", first, "--work", work, "--promote")
    (live,) = [one.name for one in run(settings, generations.status)]
    assert _contents(settings) == {
        "oak-house.org": ("Oak House", ["jo@oak-house.org"]),
        "elm-house.org": ("Elm House", ["jo@elm-house.org"]),
        "ash-house.org": ("Ash House", []),
        "fir-house.org": ("Fir House", []),
    }

    told = _ran(settings, "ingest", "run", second, "--work", work)
    assert "1 deleted" in told
    assert "REFUSED" not in told
    expected = {
        "oak-house.org": ("New Oak House", ["jo@oak-house.org"]),
        "elm-house.org": ("Elm House", []),
        "fir-house.org": ("Fir House", []),
        "yew-house.org": ("Yew House", []),
    }
    assert _contents(settings) == expected
    assert "no new facts" in _ran(settings, "ingest", "run", first, second, "--work", work)

    _ran(settings, "ingest", "run", third, "--work", work)
    assert _contents(settings) == expected
    assert [one.name for one in run(settings, generations.status)] == [live]

    assert "3 deltas are in the base now" in _ran(settings, "ingest", "compact", "--work", work)
    assert "is live" in _ran(settings, "ingest", "rebuild", "--work", work, "--promote")
    assert _contents(settings) == expected

    _ran(settings, "suppress", "add", "jo@oak-house.org", "--reason", "asked for it")
    assert "of 1 domains from the facts store" in _ran(settings, "ingest", "purge", "--work", work)
    expected["oak-house.org"] = ("New Oak House", [])
    assert _contents(settings) == expected
    for path in (path for path in work.rglob("*") if path.suffix in (".json", ".ndjson")):
        assert "jo@oak-house.org" not in path.read_text()

    # The first crawl alone is older than what is live. It is refused, and the store keeps all.
    replacing = ("ingest", "run", "--work", work, "--replace", "--promote")
    assert "REFUSED" in _ran(settings, *replacing, first, ends_with=1)
    assert len(_manifest(work)["tasks"]) == 3
    assert _contents(settings) == expected
    assert "is live" in _ran(settings, *replacing, first, second)
    assert len(_manifest(work)["tasks"]) == 2
    assert _contents(settings) == expected


def _manifest(work: Path) -> Any:
    return json.loads((work / "store" / "manifest.json").read_bytes())


def test_a_crawl_that_was_blocked_deletes_nothing(tmp_path: Path) -> None:
    settings = _settings("blocked", tmp_path)
    good, blocked, work = tmp_path / "good.warc.gz", tmp_path / "blocked.warc.gz", tmp_path / "work"
    hosts = [f"house-{number}.org" for number in range(30)]
    write_warc(good, [response(f"https://{host}/", _page(host), date=DAYS[0]) for host in hosts])
    write_warc(
        blocked, [response(f"https://{host}/", b"", date=DAYS[1], status="404 Not Found") for host in hosts[:25]]
    )
    _ran(settings, "ingest", "run", good, "--work", work, "--promote")
    told = _ran(settings, "ingest", "run", blocked, "--work", work, ends_with=1)
    assert "25 of the 30 live leads would be deleted" in told
    assert len(_contents(settings)) == 30
    _ran(settings, "ingest", "run", blocked, "--work", work, "--most-gone", "100")
    assert len(_contents(settings)) == 5


def test_of_very_many_leads_the_first_ones_are_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files they are in: a look-up of all would take as long as the load."""
    monkeypatch.setattr(updates, "MAX_CHECKED", 3)
    settings = replace(filled("checked", [], tmp_path), lead_store=tmp_path / "leads")
    files = [tmp_path / f"part-{number}.parquet" for number in range(3)]
    for path in files:
        write_parquet(path, [Lead(domain=f"{name}.{path.stem}.example", crawled_at_ms=1) for name in "ab"])
    done = run(settings, lambda index: updates.update(index, files, {}, Tolerances()))
    assert done.loaded.written == 6
    assert [(check.name, check.expected, check.ok) for check in done.report.checks] == [
        ("written leads", "all of 3 leads", True),
        ("deleted leads", "none of 0 domains", True),
    ]


def test_without_a_database_or_a_secret(tmp_path: Path) -> None:
    archive, work = tmp_path / "one.warc.gz", tmp_path / "work"
    write_warc(archive, [response("https://oak-house.org/", _page("Oak House"))])
    away = replace(settings_for("away"), postgres_dsn="postgresql://127.0.0.1:1/none", suppression_secret="")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SITEGLASS_")}
    nowhere = environment | {
        "SITEGLASS_POSTGRES_DSN": away.postgres_dsn,
        "SITEGLASS_OPENSEARCH_URLS": "http://127.0.0.1:1",
    }
    secret = {"SITEGLASS_SUPPRESSION_SECRET": "a secret of the tests that is long enough"}
    for extra in ({}, secret):
        done = subprocess.run(
            [str(SITEGLASS), "ingest", "run", str(archive), "--no-load", "--work", str(work)],
            env=nowhere | extra,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert ("opt-outs cannot be read" in done.stderr) == bool(extra)
        (file,) = Path(done.stdout.strip()).glob("*.parquet")
        ((lead,),) = [leads for _, leads in read_parquet(file)]
        assert (lead.domain, lead.title) == ("oak-house.org", "Oak House")
