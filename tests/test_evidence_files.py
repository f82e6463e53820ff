"""Files of evidence beside files of leads: what was seen of a lead is found by where its record is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA, Sighting, evidence_of, read_evidence, write_evidence
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import LeadFileError, record_place, write_parquet
from testing.lead_store import entered


def _seen(domain: str, number: int = 0) -> Sighting:
    return Sighting(
        domain=domain,
        kind="email",
        value=f"info@{domain}",
        page=f"https://{domain}/{number}",
        method="text",
        first_seen_ms=1,
        last_seen_ms=2 + number,
        archive="a.warc.gz",
        offset=number,
    )


def _table(sightings: list[Sighting]) -> pa.Table:
    return pa.Table.from_pylist([msgspec.structs.asdict(one) for one in sightings], EVIDENCE_SCHEMA)


@pytest.fixture
def leads(tmp_path: Path) -> Path:
    """Five leads in row groups of two."""
    path = tmp_path / "leads.parquet"
    domains = ["a.com", "b.com", "c.com", "d.com", "e.com"]
    write_parquet(path, [Lead(domain=domain, crawled_at_ms=1) for domain in domains], row_group_size=2)
    return path


def test_what_is_written_is_found_by_the_place_of_the_lead(leads: Path) -> None:
    seen = [_seen("a.com"), _seen("b.com", 1), _seen("b.com", 2), _seen("e.com")]
    write_evidence(leads, _table(seen))
    found = [
        read_evidence(leads.parent, record_place(leads, group), domain)
        for group, domain in ((0, "a.com"), (0, "b.com"), (1, "c.com"), (2, "e.com"))
    ]
    assert found == [seen[:1], seen[1:3], [], seen[3:]]


def test_without_a_file_there_is_none(leads: Path) -> None:
    assert read_evidence(leads.parent, record_place(leads, 0), "a.com") == []


def test_evidence_of_no_lead_is_refused(leads: Path) -> None:
    with pytest.raises(LeadFileError, match="1 evidence rows belong to leads that are not in it"):
        write_evidence(leads, _table([_seen("a.com"), _seen("nobody.com")]))
    assert not evidence_of(leads).exists()


def test_other_columns_are_refused(leads: Path) -> None:
    with pytest.raises(LeadFileError, match="expected the columns domain, kind"):
        write_evidence(leads, pa.table({"domain": ["a.com"]}))


@pytest.mark.parametrize("place", ["leads.parquet#9", "leads.parquet#x", "leads.parquet"])
def test_a_place_that_is_none(leads: Path, place: str) -> None:
    write_evidence(leads, _table([_seen("a.com")]))
    with pytest.raises(LeadFileError, match=r"has no row group 9|is not the position of a record"):
        read_evidence(leads.parent, place, "a.com")


def test_it_comes_along_into_the_store(leads: Path, tmp_path: Path) -> None:
    write_evidence(leads, _table([_seen("a.com"), _seen("c.com")]))
    stored = entered(leads, tmp_path / "store").path
    assert read_evidence(tmp_path / "store", record_place(stored, 0), "a.com") == [_seen("a.com")]
    assert read_evidence(tmp_path / "store", record_place(stored, 1), "c.com") == [_seen("c.com")]
