"""A generation of the schema before is searched, written to and cleared of opt-outs by this release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead import ContactDetail, Lead
from siteglass.index import documents, generations, mapping
from siteglass.index.index import Index
from siteglass.index.lookup import look_up
from siteglass.privacy import opt_out
from siteglass.suppression.values import read_value
from testing.service import run, serving
from tests.suppression.world import World, world

CRAWLED_MS = 1_780_000_000_000
PAGE = "https://one.example/contact"
DETAILS = tuple(
    ContactDetail(
        value=value,
        owner="own",
        confidence=95,
        page=PAGE,
        crawled_at_ms=CRAWLED_MS,
        first_seen_ms=CRAWLED_MS - 1_000,
        last_seen_ms=CRAWLED_MS,
    )
    for value in ("jo@one.example", "kim@one.example")
)
NEW = Lead(
    domain="one.example",
    crawled_at_ms=CRAWLED_MS,
    emails=("jo@one.example", "kim@one.example"),
    emails_detail=DETAILS,
)


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A live generation as the release before made it, with a lead that it wrote."""
    properties, document = mapping.properties, documents.document
    before = {name: kind for name, kind in properties().items() if name not in mapping.ADDED_FIELDS}

    def written_before(*given: Any) -> dict[str, Any]:
        return {name: value for name, value in document(*given).items() if name in before}

    with monkeypatch.context() as patched:
        patched.setattr(mapping, "SCHEMA_VERSION", mapping.OLDEST_READABLE_SCHEMA)
        patched.setattr(mapping, "properties", lambda: before)
        patched.setattr(documents, "document", written_before)
        with world("older", [Lead(domain="old.example", crawled_at_ms=1, emails=("a@old.example",))], tmp_path) as made:
            patched.undo()
            yield made


def _details(world: World, domain: str) -> Any:
    with serving(world.settings) as client:
        body = {"domains": [domain], "select": ["emails_detail"]}
        (item,) = client.post("/v1/leads/enrich", json=body).raise_for_status().json()["results"]
    return [(one["value"], one["owner"], one["page"]) for one in item["data"]["emails_detail"]]


def _found(world: World, sort: str, *names: str) -> Any:
    """What a search without conditions returns, in several pages."""
    with serving(world.settings) as client:
        path = "/v1/leads/search"
        found: list[tuple[Any, ...]] = []
        while path:
            body = {"limit": 1, "sort": sort, "select": ["domain", *names]} if not found else {}
            page = client.post(path, json=body).raise_for_status().json()
            found += [tuple(lead[name] for name in ("domain", *names)) for lead in page["results"]]
            path = page["next"]
        return found


def test_a_generation_of_the_schema_before_is_read_and_written(older: World, tmp_path: Path) -> None:
    (status,) = run(older.settings, generations.status)
    assert (status.schema_version, status.live) == (mapping.OLDEST_READABLE_SCHEMA, True)
    assert run(older.settings, generations.readiness) is None
    assert _details(older, "old.example") == [("a@old.example", "unknown", None)]
    assert _found(older, "-score", "url", "emails") == [("old.example", "", ["a@old.example"])]

    source = tmp_path / "new.ndjson"
    source.write_bytes(_line(NEW))
    loaded = older.command("index", "load", str(source))
    assert "1 written" in loaded.stdout or "1 leads" in loaded.stdout, loaded.stdout
    run(older.settings, lambda index: generations.refresh(index, [status.name]))  # else it is seen within a second
    assert _details(older, "one.example") == [("jo@one.example", "own", PAGE), ("kim@one.example", "own", PAGE)]
    # The new lead has a card, the old one has none.
    for sort in ("domain", "score"):
        assert sorted(_found(older, sort, "emails")) == [
            ("old.example", ["a@old.example"]),
            ("one.example", ["jo@one.example", "kim@one.example"]),
        ]

    async def suppress(index: Index) -> opt_out.Outcome:
        return await opt_out.suppress(index, [read_value("jo@one.example")], reason="asked to", actor="tests")

    outcome = run(older.settings, suppress)
    assert (outcome.failed, outcome.domains) == (0, {"one.example"})
    record = run(older.settings, lambda index: look_up(index, ["one.example"])).records["one.example"]
    assert record["emails_detail"] == [DETAILS[1]]
    # What its other documents contain has not changed.
    (status,) = run(older.settings, generations.status)
    assert status.schema_version == mapping.OLDEST_READABLE_SCHEMA


def _line(lead: Lead) -> bytes:
    import msgspec

    return msgspec.json.encode(lead) + b"\n"
