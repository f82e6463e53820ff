"""The merge: the same leads and evidence as a plain one in Python, whatever the facts; what must not be in them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.parquet as pq
import pytest

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import LEAD_SCHEMA, batch_of, read_parquet
from siteglass.ingest.evidence_rows import NoEvidence, shown_evidence
from siteglass.ingest.facts import PageFacts
from siteglass.ingest.merge import MergeFailed, MergeReport, merge
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.settings import Settings
from siteglass.suppression.values import Hasher, read_value
from testing.random_facts import START_MS, plain_page, random_facts, write_facts
from tests.ingest.merge.reference_merge import Evidence, merged
from tests.ingest.stand_in_rules import RULES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("spark")]

SECRET = "a secret of the tests that is long enough"
STAND_IN = "tests.ingest.stand_in_rules:RULES"


def _leads(out: Path) -> list[Lead]:
    found = [lead for path in out.glob("*.parquet") for _, group in read_parquet(path) for lead in group]
    return sorted(found, key=lambda lead: lead.domain)


def _evidence(out: Path) -> list[Evidence]:
    rows = [row for path in out.glob("*.evidence") for row in pq.read_table(path).to_pylist()]
    return sorted(Evidence(**row) for row in rows)


def _run(spark: SparkSession, folder: Path, facts: list[PageFacts], **options: Any) -> MergeReport:
    write_facts(folder / "facts", facts)
    return merge(spark, folder / "facts", folder / "out", rules=STAND_IN, **{"parts": 3, **options})


@pytest.fixture(scope="module")
def facts() -> list[PageFacts]:
    """Captures of all kinds, more of one domain than are read."""
    return random_facts(random.Random(11), 300, crowd=200)


@pytest.fixture(scope="module")
def out(spark: SparkSession, facts: list[PageFacts], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a merge made of them; `merged.json` beside it is what it said."""
    folder = tmp_path_factory.mktemp("merge")
    (folder / "merged.json").write_bytes(msgspec.json.encode(_run(spark, folder, facts)))
    return folder / "out"


def test_spark_and_plain_python_say_the_same(facts: list[PageFacts], out: Path) -> None:
    leads, evidence, dropped = merged(facts, RULES)
    ours = _leads(out)
    assert [lead.domain for lead in ours] == [lead.domain for lead in leads]
    for mine, theirs in zip(ours, leads, strict=True):
        for name in Lead.__struct_fields__:
            assert (theirs.domain, name, getattr(mine, name)) == (theirs.domain, name, getattr(theirs, name))
    assert _evidence(out) == evidence
    assert msgspec.json.decode((out.parent / "merged.json").read_bytes(), type=MergeReport) == MergeReport(
        leads=len(leads), evidence=len(evidence), unchanged=0, dropped=dict(sorted(dropped.items()))
    )
    assert set(dropped) == {"parked", "alias", "noindex", "no_page", "name"}
    assert len(leads) > 150


def test_files_are_those_of_leads(out: Path) -> None:
    """Their columns, nothing null that must not be, all limits kept, each file in order, and a domain in one file."""
    decoder = msgspec.json.Decoder(Lead)
    seen: list[str] = []
    for path in out.glob("*.parquet"):
        assert pq.read_schema(path).remove_metadata() == LEAD_SCHEMA
        leads = [lead for _, group in read_parquet(path) for lead in group]
        domains = [lead.domain for lead in leads]
        assert domains == sorted(domains)
        seen += domains
        for lead in leads:
            assert decoder.decode(msgspec.json.encode(lead)) == lead
    assert len(seen) == len(set(seen))
    for path in out.glob("*.evidence"):
        assert pq.read_schema(path).remove_metadata() == EVIDENCE_SCHEMA
    assert {path.suffix for path in out.iterdir()} == {".parquet", ".evidence"}


def _page(path: str = "/", **values: Any) -> PageFacts:
    return plain_page(
        values.pop("domain", "one.example"), path, **{"digest": path, "url": f"https://one.example{path}", **values}
    )


def _changed(facts: list[PageFacts], domain: str, **values: Any) -> list[PageFacts]:
    return [msgspec.structs.replace(one, **values) if one.domain == domain else one for one in facts]


def test_a_rerun_makes_the_same_bytes_and_only_changed_leads_get_a_new_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A second crawl, a day later: one site changed its title, one is new, one is gone, the others say the same."""
    later_ms = START_MS + 86_400_000
    first = [_page(domain=f"site-{number}.example", title="Old", text=f"{number}") for number in range(20)]
    second = [msgspec.structs.replace(one, captured_at_ms=later_ms) for one in first[1:]]
    second = [*_changed(second, "site-7.example", title="New"), _page(domain="new.example", captured_at_ms=later_ms)]
    write_facts(tmp_path / "first", first)
    write_facts(tmp_path / "second", second)
    options: dict[str, Any] = {"rules": STAND_IN, "parts": 3}

    merge(spark, tmp_path / "first", tmp_path / "out", **options)
    found = merge(spark, tmp_path / "second", tmp_path / "out", previous=tmp_path / "out", **options)

    leads = {lead.domain: lead for lead in _leads(tmp_path / "out")}
    assert {lead.crawled_at_ms for lead in leads.values()} == {later_ms}
    fresh = {domain for domain, lead in leads.items() if lead.updated_at_ms == later_ms}
    assert fresh == {"site-7.example", "new.example"}
    assert {lead.updated_at_ms for lead in leads.values()} == {START_MS, later_ms}
    assert (found.leads, found.unchanged) == (20, 18)

    again = tmp_path / "again"
    merge(spark, tmp_path / "second", again, previous=tmp_path / "out", **options)
    for path in sorted((tmp_path / "out").iterdir()):
        assert (again / path.relative_to(tmp_path / "out")).read_bytes() == path.read_bytes()


def test_what_is_suppressed_never_comes_back(spark: SparkSession, tmp_path: Path) -> None:
    """Facts of before the opt-outs hold the values; leads and evidence of every later merge do not, in no field."""
    facts = random_facts(random.Random(13), 80)
    known, _, _ = merged(facts, RULES)
    emails = sorted({address for lead in known for address in lead.emails})[::3]
    phones = sorted({phone for lead in known for phone in lead.phones})[::3]
    domains = frozenset(lead.domain for lead in known[::10])
    facts = [
        msgspec.structs.replace(
            one,
            title=f"ask {emails[0]}",
            links=(f"https://x.example/?to={emails[1]}",),
            url=f"{one.url}?to={emails[2]}",
        )
        for one in facts
    ]
    hasher = Hasher(Settings(suppression_secret=SECRET))
    hashes = frozenset(hasher.of_value(read_value(text)) for text in (*emails, *phones))

    found = _run(spark, tmp_path, facts, suppressed=SuppressionSnapshot(domains, hashes, SECRET))

    leads, evidence = _leads(tmp_path / "out"), _evidence(tmp_path / "out")
    assert (found.leads, found.dropped["suppressed"]) == (len(known) - len(domains), len(domains))
    assert not domains & {lead.domain for lead in leads}
    assert not domains & {row.domain for row in evidence}
    held = set(emails) | set(phones)
    whole = msgspec.json.encode(leads).decode() + msgspec.json.encode(evidence).decode()
    assert [
        value for value in sorted(held) if f'"{value}"' in whole or f" {value}" in whole or f"={value}" in whole
    ] == []
    assert {row.value for row in evidence} == {value for lead in leads for value in (*lead.emails, *lead.phones)}
    assert any(lead.emails for lead in leads)


def test_an_address_without_evidence_fails_the_run() -> None:
    leads = batch_of([Lead(domain="one.example", crawled_at_ms=1, emails=("me@one.example",))])
    with pytest.raises(NoEvidence, match=r"1 values without evidence, one of them in a lead of one\.example"):
        shown_evidence(EVIDENCE_SCHEMA.empty_table(), leads)


def test_a_merge_that_fails_leaves_what_was_there(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(MergeFailed, match=r"there is no \.parquet file in this folder"):
        merge(spark, tmp_path, tmp_path / "out", rules=STAND_IN)
    write_facts(tmp_path / "facts", [_page()])
    with pytest.raises(MergeFailed, match="Omit it for a first run"):
        merge(spark, tmp_path / "facts", tmp_path / "out", rules=STAND_IN, previous=tmp_path / "nowhere")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts", "out"]
