"""A purge of the lead store: nothing opted out is left, and records stay where documents look for them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow.parquet as pq

from siteglass.corpus.evidence_files import EvidenceWriter, Sighting, evidence_of, read_evidence
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_records, write_parquet
from siteglass.corpus.lead_store import stored_file
from siteglass.ingest.purge_leads import purge_lead_store
from siteglass.ingest.suppression_snapshot import SuppressionSnapshot
from siteglass.settings import Settings
from siteglass.suppression.values import Hasher, read_value
from testing.lead_store import entered
from tests.ingest.store.histories import SECRET

ADDRESS, DOMAIN = "jane.doe@shop.example", "opted-out.example"


def _lead(domain: str, *emails: str) -> Lead:
    return Lead(domain=domain, crawled_at_ms=1_790_000_000_000, emails=emails, description=" ".join(emails))


def _sighting(domain: str, value: str) -> Sighting:
    page = f"https://{domain}/{value}"
    return Sighting(domain=domain, kind="email", value=value, page=page, method="text", first_seen_ms=1, last_seen_ms=2)


def test_nothing_is_left_and_records_stay_where_they_are(tmp_path: Path) -> None:
    groups = [
        [_lead("shop.example", ADDRESS, "info@shop.example"), _lead("other.example", "jo@other.example")],
        [_lead(DOMAIN, f"info@{DOMAIN}")],
        [_lead("last.example", "jo@last.example")],
    ]
    source, store = tmp_path / "leads.parquet", tmp_path / "store"
    write_parquet(source, [lead for group in groups for lead in group], row_group_size=1)
    with EvidenceWriter(source) as writer:
        for group in groups:
            for lead in group:
                writer.write_group(_sighting(lead.domain, value) for value in lead.emails)
    stored = entered(source, store)
    rejects = [
        {"row": 1, "domain": DOMAIN, "field": "country", "value": "Germny", "reason": "not a known country"},
        {"row": 2, "domain": "shop.example", "field": "city", "value": f"<{ADDRESS}>", "reason": "not a city"},
        {"row": 3, "domain": "other.example", "field": "country", "value": "Germny", "reason": "not a known country"},
    ]
    stored.rejects.write_bytes(b"".join(msgspec.json.encode(reject) + b"\n" for reject in rejects))
    written_at = stored.path.stat().st_mtime_ns
    hasher = Hasher(Settings(suppression_secret=SECRET))
    suppressed = SuppressionSnapshot(frozenset({DOMAIN}), frozenset(hasher.all_of(read_value(ADDRESS))), SECRET)

    assert purge_lead_store(store, suppressed) == 1

    texts = [str(pq.read_table(path).to_pylist()) for path in (stored.path, evidence_of(stored.path))]
    texts.append(stored.rejects.read_text())
    assert [(ADDRESS in text, DOMAIN in text) for text in texts] == [(False, False)] * 3
    (shop,) = read_records(store, f"{stored.path.name}#0", ["shop.example"])
    assert (shop.emails, shop.lead_no) == (("info@shop.example",), 1)
    (other,) = read_records(store, f"{stored.path.name}#1", ["other.example"])
    assert other.emails == ("jo@other.example",)
    assert read_records(store, f"{stored.path.name}#2", [DOMAIN]) == []
    (last,) = read_records(store, f"{stored.path.name}#3", ["last.example"])
    assert (last.emails, last.lead_no) == (("jo@last.example",), 4)
    (sighting,) = read_evidence(store, f"{stored.path.name}#3", "last.example")
    assert sighting == _sighting("last.example", "jo@last.example")
    assert [one.value for one in read_evidence(store, f"{stored.path.name}#0", "shop.example")] == ["info@shop.example"]
    assert [msgspec.json.decode(line)["row"] for line in stored.rejects.read_text().splitlines()] == [3]
    assert stored.path.stat().st_mtime_ns == written_at
    assert stored_file(stored.path) == stored
    assert purge_lead_store(store, suppressed) == 0
