"""The merge: the same leads and evidence as a plain one in Python, whatever the facts; and what must never be in them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow.parquet as pq
import pytest

from siteglass.ingest.facts import PageFacts
from siteglass.ingest.finishing import EVIDENCE_SCHEMA
from siteglass.ingest.merge import Merged, merge
from siteglass.lead import Lead
from siteglass.lead_files import LEAD_SCHEMA, read_parquet
from tests.ingest.merge.random_facts import random_facts, write_facts
from tests.ingest.merge.reference_merge import Evidence, merged
from tests.ingest.stand_in_rules import RULES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.xdist_group("spark")

STAND_IN = "tests.ingest.stand_in_rules:RULES"


def _leads(out: Path) -> list[Lead]:
    found = [lead for path in (out / "leads").iterdir() for _, group in read_parquet(path) for lead in group]
    return sorted(found, key=lambda lead: lead.domain)


def _evidence(out: Path) -> list[Evidence]:
    rows = [row for path in (out / "evidence").iterdir() for row in pq.read_table(path).to_pylist()]
    return sorted(Evidence(**row) for row in rows)


def _run(spark: SparkSession, folder: Path, facts: list[PageFacts], **options: Any) -> Merged:
    write_facts(folder / "facts", facts)
    return merge(spark, folder / "facts", folder / "out", rules=STAND_IN, **{"parts": 3, **options})


def test_spark_and_plain_python_say_the_same(spark: SparkSession, tmp_path: Path) -> None:
    facts = random_facts(random.Random(11), 400, crowd=300)
    found = _run(spark, tmp_path, facts)
    leads, evidence, dropped = merged(facts, RULES)
    ours = _leads(tmp_path / "out")
    assert [lead.domain for lead in ours] == [lead.domain for lead in leads]
    for mine, theirs in zip(ours, leads, strict=True):
        for name in Lead.__struct_fields__:
            assert (theirs.domain, name, getattr(mine, name)) == (theirs.domain, name, getattr(theirs, name))
    assert _evidence(tmp_path / "out") == evidence
    assert found == Merged(
        leads=len(leads), evidence=len(evidence), unchanged=0, dropped=dict(sorted(dropped.items()))
    )
    assert set(dropped) == {"parked", "alias", "noindex", "no_page", "name"}
    assert len(leads) > 200


def test_files_are_those_of_leads(spark: SparkSession, tmp_path: Path) -> None:
    """Their columns, nothing null that must not be, all limits kept, each file in order, and a domain in one file."""
    _run(spark, tmp_path, random_facts(random.Random(12), 60, crowd=60))
    decoder = msgspec.json.Decoder(Lead)
    seen: list[str] = []
    for path in (tmp_path / "out" / "leads").iterdir():
        assert pq.read_schema(path).remove_metadata() == LEAD_SCHEMA
        leads = [lead for _, group in read_parquet(path) for lead in group]
        domains = [lead.domain for lead in leads]
        assert domains == sorted(domains)
        seen += domains
        for lead in leads:
            assert decoder.decode(msgspec.json.encode(lead)) == lead
    assert len(seen) == len(set(seen))
    for path in (tmp_path / "out" / "evidence").iterdir():
        assert pq.read_schema(path).remove_metadata() == EVIDENCE_SCHEMA
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["evidence", "leads"]
