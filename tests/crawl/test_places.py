"""Places of Overture into the frontier: both forms of a release, only what can be a lead, each with its licence."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pyarrow.parquet as pq
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.corpus.tables import TableError
from siteglass.crawl.places import FoundPlaces, find_places, records_of, source_of, trade_of_category, trades_of
from siteglass.ingest.facts import from_table
from siteglass.ingest.sources import known_fields, record_of
from siteglass.ingest.store.facts_store import open_store
from siteglass.query.trades import trades
from siteglass.query.values import moment_text
from siteglass.settings import Settings
from testing.overture import DENTISTS, TRAPS, Form, made_places, write_places
from testing.s3_server import BUCKET, S3Server
from tests.crawl.conftest import siteglass

RELEASE = "release/2026-10-21.0/theme=places/type=place"
FORMS: list[Form] = ["taxonomy", "categories"]
COUNT = 600
LABELS = Path(__file__).parent / "labelled_categories.tsv"
MIN_PRECISION = 0.95


def dentists_of(address: Path | str, settings: Settings | None = None, *countries: str) -> FoundPlaces:
    return find_places(
        str(address),
        settings or Settings(),
        countries=countries or ("AT",),
        wanted={"dentist"},
        anonymous=False,
    )


@pytest.mark.parametrize("form", FORMS)
def test_websites_of_places_of_a_trade_in_a_country(form: Form, tmp_path: Path) -> None:
    made = made_places(COUNT, form)
    write_places(tmp_path / RELEASE / "part-0.parquet", form, [place.row for place in made[:350]])
    write_places(tmp_path / RELEASE / "part-1.parquet", form, [place.row for place in made[350:]])
    for countries in (("AT",), ("AT", "IT")):
        dentists = [place for place in made if place.country in countries and place.category in DENTISTS]
        found = dentists_of(tmp_path / "release", None, *countries)
        assert found.licences == {place.domain: place.licence for place in dentists if place.domain}
        assert found.places == len(dentists)
        assert found.left_out.total() == sum(not place.domain for place in dentists)
    assert source_of(str(tmp_path / RELEASE)) == "overture 2026-10"


def test_each_trap_is_left_out_for_its_reason(tmp_path: Path) -> None:
    row = made_places(1, "taxonomy")[0].row
    rows = [{**row, "websites": [text and text.format(7) for text in trap] or None} for trap in TRAPS]
    rows += [{**row, "websites": ["https://gone.at"], "operating_status": "permanently_closed"}]
    rows += [{**row, "websites": ["https://gone.at"], "confidence": 0.0}]
    rows += [{**row, "websites": ["https://fb.com/p", "zahn.wien"], "sources": None}]
    write_places(tmp_path / "places.parquet", "taxonomy", rows)
    found = dentists_of(tmp_path / "places.parquet")
    assert found.licences == {"zahn.wien": ""}
    assert found.left_out == Counter(
        {
            "only a page on a network, a platform, or a shortened link": 8,
            "a website that cannot be read": 2,
            "no website": 2,
            "closed": 2,
        }
    )


def test_places_say_name_phone_address_and_trade(tmp_path: Path) -> None:
    row = made_places(1, "taxonomy")[0].row
    branch = {**row, "id": "branch", "phones": ["01 5120000", "0043 1 5120000", "12", None], "addresses": None}
    branch["addresses"] = [{"locality": "Rom", "country": "IT"}, {"locality": "Wien", "country": "AT"}]
    rows = [{**row, "websites": ["zahn.at"]}, {**branch, "websites": ["https://zahn.at/wien"]}]
    write_places(tmp_path / "places.parquet", "taxonomy", rows)
    found = dentists_of(tmp_path / "places.parquet")
    first, second = records_of(found, f"s3://bucket/{RELEASE}", 7)
    assert (first.source, first.id, first.label) == ("place", "place-0", "Overture, 2026-10")
    assert moment_text(first.at_ms) == "2026-10-21T00:00:00Z"
    assert known_fields(second.lead) == {
        "domain": "zahn.at", "crawled_at_ms": 0, "business_name": "Place 0", "phones": ("+4315120000",),
        "country": "AUT", "state": "9", "city": "Vienna", "trades": ("dentist",),
    }  # fmt: skip
    found.licences.clear()  # as for domains that opted out
    assert list(records_of(found, "places", 7)) == []


def test_row_groups_of_other_countries_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "places.parquet"
    made = made_places(COUNT, "taxonomy")
    write_places(path, "taxonomy", [place.row for place in made], rows_per_group=COUNT // 3)
    metadata: Any = pq.ParquetFile(path).metadata
    start, end = (metadata.row_group(number).column(0).dictionary_page_offset for number in (1, 2))
    content = path.read_bytes()
    path.write_bytes(content[:start] + bytes(end - start) + content[end:])
    assert len(dentists_of(path, None, "AT", "IT").licences) > 100
    with pytest.raises(TableError, match="cannot be read"):
        dentists_of(path, None, "DE")


@pytest.mark.nightly  # builds versitygw, for two minutes
@pytest.mark.private_engines
def test_places_on_s3(tmp_path: Path) -> None:
    made = made_places(COUNT, "taxonomy")
    with S3Server(tmp_path) as server:
        write_places(server.objects / BUCKET / RELEASE / "part-0.parquet", "taxonomy", [one.row for one in made])
        found = dentists_of(f"s3://{BUCKET}/release", server.settings)
        with pytest.raises(TableError, match="ACCESS_DENIED"):  # a request without a key
            find_places(f"s3://{BUCKET}/release", server.settings, countries=(), wanted=(), anonymous=True)
    assert set(found.licences) == {
        one.domain for one in made if one.country == "AT" and one.category in DENTISTS and one.domain
    }


def test_files_of_something_else_say_what_is_expected(tmp_path: Path) -> None:
    shutil.copy("src/siteglass/leads/sandbox_leads.parquet", tmp_path)
    with pytest.raises(TableError, match="no places of Overture: expected the columns websites"):
        dentists_of(tmp_path)
    (tmp_path / "sandbox_leads.parquet").write_bytes(b"no parquet")
    with pytest.raises(TableError, match="cannot be read: Parquet magic bytes not found"):
        dentists_of(tmp_path)
    with pytest.raises(TableError, match=r"has 0 files \*\.parquet"):
        dentists_of(tmp_path / "nothing")


def test_categories_mean_the_labelled_trades() -> None:
    """300 names drawn from both public lists, labelled without sight of the table. `|` divides trades that are fine."""
    table, known = trade_of_category(), set(trades().ids())
    assert set(table.values()) - known == {"-"}
    labels = dict(line.split("\t") for line in LABELS.read_text().splitlines())
    told = {category: table[category] for category in labels if table.get(category, "-") != "-"}
    wrong = {category: trade for category, trade in told.items() if trade not in labels[category].split("|")}
    assert 1 - len(wrong) / len(told) >= MIN_PRECISION, wrong


def test_each_category_is_in_one_line_of_the_table() -> None:
    table = Path("src/siteglass/crawl/place_categories.tsv").read_text()
    names = [name for line in table.splitlines() for name in line.partition("\t")[2].split()]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_a_new_category_counts_as_the_nearest_wider_one() -> None:
    taxonomy = {"primary": "braces_bar", "hierarchy": ["health_care", "dental_clinic", "braces_bar"]}
    assert trades_of({"taxonomy": taxonomy}) == ["dentist"]
    assert trades_of({"taxonomy": {**taxonomy, "alternates": ["cafe", "park"]}}) == ["dentist", "cafe"]
    assert trades_of({"taxonomy": {"primary": "braces_bar"}, "basic_category": "dental_clinic"}) == ["dentist"]
    assert trades_of({"categories": {"primary": "park", "alternate": ["dentist"]}}) == ["dentist"]
    # A category that is known to be no trade does not become a wider one.
    assert trades_of({"taxonomy": {"primary": "food_stall_area", "hierarchy": ["shopping", "market"]}}) == []
    assert trades_of({"taxonomy": None, "categories": None, "basic_category": None}) == []


def test_fill_adds_domains_with_source_and_licence(crawl_settings: Settings, tmp_path: Path) -> None:
    made = made_places(COUNT, "taxonomy")
    write_places(tmp_path / RELEASE / "part-0.parquet", "taxonomy", [place.row for place in made])
    expected = {
        place.domain: ("overture 2026-10", place.licence)
        for place in made
        if place.domain and place.country == "AT" and place.category in DENTISTS
    }
    opted_out, excluded, known, *_ = sorted(expected)
    (tmp_path / "excluded.txt").write_text(f"{excluded}\n")
    (tmp_path / "known.txt").write_text(f"{known}\n")
    settings = replace(crawl_settings, crawl_excluded=str(tmp_path / "excluded.txt"))
    siteglass(settings, "suppress", "add", opted_out, "--reason", "asked to be left out")
    siteglass(settings, "crawl", "add", str(tmp_path / "known.txt"), "--source", "ours")
    work = str(tmp_path / "work")
    words = ["fill", "places", "--country", "Austria", "--trade", "dentists", "--from", str(tmp_path / RELEASE)]
    words += ["--work", work]
    del expected[opted_out], expected[excluded]
    # Its pages are not in the store, so its record must get there with the place.
    loaded = Lead(domain=known, crawled_at_ms=1_790_000_000_000, emails=(f"info@{known}",))
    settings.lead_store.mkdir()
    write_parquet(settings.lead_store / "loaded.parquet", [loaded])
    dry = siteglass(settings, *words, "--dry-run")
    assert "2 domains opted out or are excluded." in dry
    assert f"{len(expected)} domains, some {len(expected) * 5} pages: " in dry
    assert asyncio.run(_listed(settings)) == {known: ("ours", "")}
    assert f"{len(expected) - 1} of them are new in the frontier" in siteglass(settings, *words)
    assert asyncio.run(_listed(settings)) == {**expected, known: ("ours", "")}
    assert "0 of them are new in the frontier" in siteglass(settings, *words)
    with open_store(tmp_path / "work/store") as store:
        kept = [one for table in store.pages() for row in from_table(table) if (one := record_of(row))]
        assert store.pending() == sorted({known, *expected})
    assert [one.lead for one in kept if one.source == "site"] == [loaded]
    assert {one.lead.domain: (one.label, one.licence) for one in kept if one.source == "place"} == {
        domain: ("Overture, 2026-10", next(place.licence for place in made if place.domain == domain))
        for domain in {known, *expected}
    }


async def _listed(settings: Settings) -> dict[str, tuple[str, str]]:
    """The domains of the frontier, each with its source and licence."""
    connection = await asyncpg.connect(settings.crawl_dsn, timeout=10)
    rows = await connection.fetch(
        f"SELECT domain, name, licence FROM {settings.crawl_schema}.domains JOIN {settings.crawl_schema}.sources"
        " USING (source)"
    )
    await connection.close()
    return {row["domain"]: (row["name"], row["licence"]) for row in rows}
