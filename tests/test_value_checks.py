"""Values of leads on their way into the lead store: corrected, or left out and listed with place and reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from siteglass.corpus import lead_store, rejects
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import LeadFileError, read_parquet, write_parquet
from siteglass.corpus.lead_store import StoredFile, stored_file
from siteglass_demo.leads import generate
from testing.lead_store import entered


def _lead(number: int, **fields: Any) -> dict[str, Any]:
    return {"domain": f"site{number}.example", "crawled_at_ms": 5, **fields}


def _ndjson(tmp_path: Path, *records: dict[str, Any] | str) -> Path:
    path = tmp_path / "leads.ndjson"
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in records) + "\n")
    return path


def _leads(stored: StoredFile) -> list[Lead]:
    return [lead for _, group in read_parquet(stored.path) for lead in group]


def _rejects(stored: StoredFile) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stored.rejects.read_text().splitlines()] if stored.rejects.exists() else []


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"country": "GER"}, {"country": "DEU"}),
        ({"country": "de"}, {"country": "DEU"}),
        ({"country": "Deutschland"}, {"country": "DEU"}),
        ({"country": "DEU"}, {"country": "DEU"}),
        ({"language": "Deutsch"}, {"language": "de"}),
        ({"language": "en-US"}, {"language": "en"}),
        ({"country": "USA", "state": "US-CA"}, {"country": "USA", "state": "CA"}),
        ({"country": "United States", "state": "California"}, {"country": "USA", "state": "CA"}),
        ({"country": "PAK", "state": "Punjab"}, {"country": "PAK", "state": "PB"}),
        ({"state": "Bayern"}, {"state": "BY"}),
        ({"country": "DEU", "city": "München"}, {"city": "Munich"}),
        ({"city": "Nowhere on Sea"}, {"city": "Nowhere on Sea"}),
        ({"service_type": "ngo"}, {"service_type": "Non-Profit"}),
        ({"technologies": ["GA4", "Google Analytics", "My CMS"]}, {"technologies": ("Google Analytics", "My CMS")}),
        ({"technologies": None}, {"technologies": None}),
        ({"categories_uses": ["live chat", "of its own"]}, {"categories_uses": ("customer_support", "of its own")}),
        ({"offers": ["Werbung"]}, {"offers": ("advertising",)}),
        ({"trades": ["Zahnarzt", "dentist", "roofer"]}, {"trades": ("dentist", "roofer")}),
        (
            {"trades": ["Dachdecker"], "trade_sources": {"Dachdecker": "title", "dentist": "text"}},
            {"trades": ("roofer",), "trade_sources": {"roofer": "title"}},
        ),
    ],
)
def test_other_names_become_the_value_that_searches_use(
    tmp_path: Path, given: dict[str, Any], stored: dict[str, Any]
) -> None:
    file = entered(_ndjson(tmp_path, _lead(1, **given)), tmp_path / "store")
    (lead,) = _leads(file)
    assert {name: getattr(lead, name) for name in stored} == stored
    assert (file.rejected, _rejects(file)) == (0, [])


def test_what_no_search_could_find_is_left_out_and_listed(tmp_path: Path) -> None:
    source = _ndjson(
        tmp_path,
        _lead(1, country="Germny", title="kept"),
        "",
        _lead(2, country="DEU", state="TX", language="xx"),
        _lead(3, service_type="Shopp", trades=["roofr", "dentist"]),
        {"domain": "site4.example"},
        "{",
        _lead(5, state="Punjab"),
        _lead(6, country="USA"),
    )
    file = entered(source, tmp_path / "store")
    leads = _leads(file)
    assert [(lead.domain, lead.country, lead.state, lead.trades) for lead in leads] == [
        ("site1.example", "", "", ()),
        ("site2.example", "DEU", "", ()),
        ("site3.example", "", "", ("dentist",)),
        ("site5.example", "", "PB", ()),
        ("site6.example", "USA", "", ()),
    ]
    assert leads[0].title == "kept"
    found = [tuple(one[name] for name in ("line", "domain", "field", "value", "nearest")) for one in _rejects(file)]
    assert found == [
        (5, "", "", "", None),
        (6, "", "", "", None),
        (3, "site2.example", "language", "xx", None),
        (1, "site1.example", "country", "Germny", "DEU"),
        (4, "site3.example", "service_type", "Shopp", "Ecommerce"),
        (4, "site3.example", "trades", "roofr", "roofer"),
        (3, "site2.example", "state", "TX", None),
    ]
    assert file.rejected == len(found)
    assert [one["reason"] for one in _rejects(file)] == [
        "Object missing required field `crawled_at_ms`",
        "Input data was truncated",
        "not a known language",
        "not a known country",
        "not a known service type",
        "not a known trade",
        "not a known state of DEU",
    ]


def test_rows_of_parquet_are_counted_over_all_row_groups(tmp_path: Path) -> None:
    leads = [Lead(domain=f"{name}.example", crawled_at_ms=1, country="Nowhereland") for name in "abc"]
    write_parquet(tmp_path / "leads.parquet", leads, row_group_size=2)
    file = entered(tmp_path / "leads.parquet", tmp_path / "store")
    assert [(one["row"], one["domain"]) for one in _rejects(file)] == [
        (1, "a.example"),
        (2, "b.example"),
        (3, "c.example"),
    ]


def test_the_list_of_rejects_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejects, "MAX_REJECTS", 2)
    source = _ndjson(tmp_path, *(_lead(number, country="?" * 500) for number in range(5)))
    file = entered(source, tmp_path / "store")
    first, second, rest = _rejects(file)
    assert (first["line"], len(first["value"]), second["line"]) == (1, rejects.MAX_VALUE_CHARS, 2)
    assert rest == {"left_out": 3}
    assert file.rejected == 5


def test_a_file_without_any_lead_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "leads.ndjson"
    source.write_text("domain,country\nexample.com,DEU\n")
    with pytest.raises(LeadFileError, match=r"none of its 2 lines is a lead\. line 1: JSON is malformed"):
        entered(source, tmp_path / "store")
    assert list((tmp_path / "store").iterdir()) == []


def test_a_file_is_checked_again_when_the_vocabulary_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _ndjson(tmp_path, _lead(1, country="Germny"))
    file = entered(source, tmp_path / "store")
    assert stored_file(file.path) == file
    assert file.rejected == 1
    monkeypatch.setattr(lead_store, "checks_version", lambda: "of tomorrow")
    assert stored_file(file.path) is None


def test_demo_leads_have_nothing_to_correct(tmp_path: Path) -> None:
    leads = list(generate(2_000, seed=9))
    write_parquet(tmp_path / "leads.parquet", leads)
    file = entered(tmp_path / "leads.parquet", tmp_path / "store")
    assert file.rejected == 0
    expected = [
        msgspec.structs.replace(lead, lead_no=number, first_seen_ms=lead.crawled_at_ms)
        for number, lead in enumerate(leads, 1)
    ]
    assert _leads(file) == expected
