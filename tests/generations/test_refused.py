"""A bad generation is not promoted, and the report says why; a good one is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index import mapping, sampling
from siteglass.index.administration import admin
from siteglass.index.index import Index as LiveIndex
from siteglass.index.names import written_as
from siteglass_demo.leads import generate
from testing.service import run
from tests.generations.commands import Index, refusals

LEADS = list(generate(1_000, seed=21))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index with 1,000 leads; whatever tests build beside it, it stays live."""
    index = Index("refused", tmp_path_factory.mktemp("refused"))
    index.built(LEADS, "--promote")
    return index


def changed(**fields: Any) -> list[Lead]:
    return [msgspec.structs.replace(lead, **fields) for lead in LEADS]


def promoting(index: Index, name: str, *options: str) -> list[str]:
    """Why a promotion is refused; the generation is dropped then."""
    was_live = index.live()
    told = index("promote", name, *options, code=1)
    assert f"{name} was not promoted: see REFUSED above" in told
    assert index.live() == was_live
    index("drop", name)
    return refusals(told)


@pytest.mark.promise("feature.generation_refused")
def test_half_the_leads_missing(index: Index) -> None:
    count, same, *others = promoting(index, index.built(LEADS[::2]))
    assert count.split() == ["count", "at", "least", "900:", "90", "%", "of", "the", "live", "1,000", "500"]
    assert "at most 5 % of 1,000 live leads gone" in same
    assert f"50.0 % gone, such as {', '.join(sorted(lead.domain for lead in LEADS[1::2])[:5])}" in same
    assert others == []


# Some are had by nearly all leads, some by few; what is lost takes others with it.
EMPTIED: list[tuple[dict[str, Any], set[str]]] = [
    ({"emails": (), "emails_personal": ()}, {"emails", "emails_personal", "contacts"}),
    (
        {"country": "", "state": "", "city": ""},
        {"country", "state", "city", "region", "subregion", "subdivision"},
    ),
    (
        {"technologies": None, "score": None, "load_time_ms": None, "spending": None, "language": ""},
        {"technologies", "score", "load_time_ms", "spending", "e.spending", "language", "parts"},
    ),
]


@pytest.mark.promise("feature.generation_refused")
@pytest.mark.parametrize(("emptied", "named"), EMPTIED)
def test_a_field_empty(index: Index, emptied: dict[str, Any], named: set[str]) -> None:
    """What only searches use counts, too."""
    reasons = promoting(index, index.built(changed(**emptied)))
    told = [line for line in reasons if line.startswith("empty field")]
    assert {line.split()[2] for line in told} == named
    assert all(line.endswith("% before, 100.0 % now") for line in told if " contacts: " not in line), told


def test_a_field_that_few_leads_have_is_missed_too(index: Index) -> None:
    """It rises by less than the tolerance, yet it is lost."""
    rare = [msgspec.structs.replace(lead, updated_at_ms=1_000 if n % 30 == 0 else None) for n, lead in enumerate(LEADS)]
    lost = [msgspec.structs.replace(lead, updated_at_ms=None) for lead in LEADS]
    with_rare = index.built(rare, "--promote")
    (line,) = promoting(index, index.built(lost))
    assert "updated_at: 96.6 % before, 100.0 % now" in line
    index("rollback")
    index("drop", with_rare)


def test_leads_of_an_older_crawl(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "CATCH_UP_TRIES", 1)
    older = [msgspec.structs.replace(lead, crawled_at_ms=lead.crawled_at_ms - 1) for lead in LEADS[:3]]
    (line,) = promoting(index, index.built([*older, *LEADS[3:]]))
    assert f"3 older, such as {', '.join(sorted(lead.domain for lead in older))}" in line


def _edited(change: Callable[[dict[str, Any]], None]) -> Callable[[LiveIndex], Any]:
    """Makes a generation of another shape."""

    async def action(live_index: LiveIndex) -> str:
        name = live_index.names.generation(live_index.clock.now_ms())
        body = mapping.index_body(
            shards=1, replicas=0, codec="default", refresh_interval="1s", build="another", source=""
        )
        body["aliases"] = {live_index.names.write: {}, written_as(name): {}}
        change(body)
        await admin(live_index, "PUT", f"/{name}", body)
        return name

    return action


def _old_version(body: dict[str, Any]) -> None:
    body["mappings"]["_meta"]["schema_version"] = 0


def _other_fields(body: dict[str, Any]) -> None:
    fields = body["mappings"]["properties"]
    del fields["city"]
    fields["country"] = {"type": "text"}
    fields["e"]["properties"]["spending"] = {"type": "integer"}
    fields["surprise"] = {"type": "keyword"}


def _no_writes(body: dict[str, Any]) -> None:
    del body["aliases"]


@pytest.mark.promise("feature.generation_refused")
@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        (_old_version, [f"schema version {mapping.SCHEMA_VERSION} version 0"]),
        (
            _other_fields,
            [
                "fields the fields of this build city is missing; country is {'type': 'text'} instead of {'type': "
                "'keyword', 'normalizer': 'folded', 'ignore_above': 512}; e is {'properties': {'social_accounts': "
                "{'type': 'keyword', 'index': False, 'doc_values': False}, 'spending': {'type': 'integer'}}} instead "
                "of {'properties': {'spending': {'type': 'long', 'doc_values': False}, 'social_accounts': {'type': "
                "'keyword', 'index': False, 'doc_values': False}}}; surprise is unknown to this build"
            ],
        ),
        (
            _no_writes,
            [
                "takes writes yes no: changes do not reach it",
                "count at least 900: 90 % of the live 1,000 0",
            ],
        ),
    ],
)
def test_a_wrong_schema(index: Index, change: Callable[[dict[str, Any]], None], reasons: list[str]) -> None:
    name = run(index.settings, _edited(change))
    if change is _no_writes:
        assert "does not receive writes" in index("promote", name, "--force", "--reason", "none is good enough", code=2)
    told = promoting(index, name)
    assert [" ".join(line.split()) for line in told][: len(reasons)] == reasons


@pytest.mark.promise("feature.generation_refused")
def test_a_golden_domain_and_a_golden_query(index: Index, tmp_path: Path) -> None:
    golden = tmp_path / "golden.json"
    there = sum(lead.country == "USA" for lead in LEADS)
    query = {"search": {"country": "United States"}, "least": there + 1, "most": there + 9}
    golden.write_text(json.dumps({"domains": [LEADS[0].domain, "golden.example"], "queries": [query]}))
    name = index.built(LEADS)
    told = index("verify", name, "--golden", str(golden), code=1)
    domains, queries = (" ".join(line.split()) for line in refusals(told))
    assert domains == "golden domains all 2 exist 1 missing, such as golden.example"
    assert queries == f'golden query {{"country":"United States"}}: at least {there + 1}, at most {there + 9} {there}'
    query["least"] = there
    golden.write_text(json.dumps({"domains": [LEADS[0].domain], "queries": [query]}))
    report = json.loads(index("verify", name, "--golden", str(golden), "--json"))
    assert report["ok"]
    assert report["generation"] == name
    index("drop", name)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "Input data was truncated"),
        ('{"domain": []}', "Object contains unknown field `domain`"),
        ('{"queries": [{"search": {"contry": "USA"}}]}', "queries[0].search: contry: not a search filter"),
        ('{"queries": [{"search": {"country": "Nowhere"}}]}', "queries[0].search: country: "),
    ],
)
def test_a_golden_file_that_cannot_be_read(index: Index, tmp_path: Path, text: str, told: str) -> None:
    golden = tmp_path / "golden.json"
    golden.write_text(text)
    message = index("verify", index.live(), "--golden", str(golden), code=2)
    assert message.startswith(f"{golden}: {told}")


def test_a_rebuild_that_is_refused_is_dropped_and_changes_nothing(index: Index) -> None:
    before = [generation.name for generation in index.all()]
    path = index.file(LEADS[::2])
    told = index("rebuild", path, "--promote", code=1)
    assert refusals(told)[0].startswith("count")
    assert (
        "500 leads read from 1 files; 500 written, 0 not newer than what was there, 0 suppressed, 0 too old, 0 failed"
        in told
    )
    assert "it was dropped. The live generation is unchanged." in told
    assert [generation.name for generation in index.all()] == before
    kept = index("rebuild", path, "--promote", "--keep-failed", code=1)
    name = index.all()[-1].name
    assert f"{name} was refused, see above; it is kept: siteglass index drop {name}" in kept
    assert not index.all()[-1].live
    index("drop", name)


def test_force_needs_a_reason_which_is_kept(index: Index) -> None:
    was_live, name = index.live(), index.built(LEADS[::2])
    assert "--force needs --reason" in index("promote", name, "--force", code=2)
    told = index("promote", name, "--force", "--reason", "half of it is better than none")
    assert refusals(told)
    assert f"{name} is live" in told
    assert "by force: half of it is better than none" in index("status")
    assert f"{was_live} is live again" in index("rollback")
    index("drop", name)


def test_promotion_without_verification_needs_a_reason_which_is_kept(index: Index) -> None:
    before, path = index.all(), index.file(LEADS[::2])
    assert "--no-verify with --promote needs --reason" in index("rebuild", path, "--no-verify", "--promote", code=2)
    assert index.all() == before
    index("rebuild", path, "--no-verify", "--promote", "--reason", "the live one is broken")
    name = index.live()
    (line,) = (line for line in index("status").splitlines() if line.startswith(name))
    assert "by force: the live one is broken" in line
    index("rollback")
    index("drop", name)


def test_wider_tolerances(index: Index) -> None:
    name = index.built(LEADS[::2])
    assert refusals(index("verify", name, "--least-count", "50", "--most-gone", "50")) == []
    index("drop", name)


def test_a_good_one(index: Index) -> None:
    """Some leads gone, some new, some changed: as it is every day."""
    day = [msgspec.structs.replace(lead, crawled_at_ms=lead.crawled_at_ms + 1, title="New") for lead in LEADS[20:40]]
    was_live, name = index.live(), index.built([*day, *LEADS[40:], *generate(50, seed=22)])
    assert refusals(index("promote", name)) == []
    assert index.live() == name
    index("rollback")
    assert index.live() == was_live
