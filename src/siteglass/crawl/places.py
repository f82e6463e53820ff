"""Domains for the frontier, and facts about them, from places of Overture: GeoParquet in which each place has a name,
categories, addresses, phones and websites.

Releases since September 2026 have `taxonomy` and `basic_category`, those before `categories`; both are read. Files are
read by row group: only those that may have the countries, by their statistics, and only the columns that are needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
from msgspec.structs import replace

from siteglass.corpus.domains import NotAHost, is_suffix, registrable, website_host
from siteglass.corpus.lead import MAX_TRADES, Lead
from siteglass.corpus.tables import TableError
from siteglass.ingest.extract.gazetteer import settled
from siteglass.ingest.extract.networks import NETWORKS
from siteglass.ingest.extract.technologies.rules import own_rules
from siteglass.ingest.grouped import pc
from siteglass.ingest.sources import NEVER_MS, SourceRecord, with_phones_and_state
from siteglass.ingest.store.files import file_system
from siteglass.platform.progress import progress
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary
from siteglass.settings import Settings

MAX_FILES = 10_000
MAX_PLACES = 1_000_000
"""All of them are in memory, one or two kilobytes each."""
MAX_PHONES, MAX_TEXT_CHARS = 10, 500
MAX_WEBSITES = 10
MAX_LICENCE_CHARS = 200
ROWS_AT_ONCE = 20_000
NO_TRADE = "-"
_CLOSED = "permanently_closed"
_COLUMNS = re.compile(
    r"(?:id|names\.primary|phones|websites|addresses\.\S*(?:country|region|locality)|categories|taxonomy|basic_category"
    r"|operating_status|confidence|sources\.\S*\.(?:dataset|license))(?:\.|$)"
)
_RELEASE = re.compile(r"(?<!\d)(20\d\d-\d\d-\d\d)\.\d+(?!\d)")


class PlaceFacts(NamedTuple):
    """A place, and its domain."""

    domain: str
    id: str
    licence: str
    lead: Mapping[str, Any]
    """Fields of `Lead`."""


@dataclass(slots=True)
class FoundPlaces:
    """What places gave."""

    licences: dict[str, str] = field(default_factory=dict)
    """By domain: those of the first place that has it."""
    facts: list[PlaceFacts] = field(default_factory=list)
    """Of the places that have a domain, for `records_of`."""
    places: int = 0
    """Of the trades in the countries."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Places that gave no domain, by reason."""


@cache
def trade_of_category() -> Mapping[str, str]:
    """Name of a category, of any release -> our trade, or NO_TRADE; from `place_categories.tsv`."""
    table = files("siteglass.crawl").joinpath("place_categories.tsv").read_text(encoding="utf-8")
    rows = (line.partition("\t") for line in table.splitlines())
    return {category: trade for trade, _, categories in rows for category in categories.split()}


def trades_of(place: Mapping[str, Any]) -> list[str]:
    """What a place is, by its main category, then the others. A main category that the table does not know counts as
    the nearest wider one that it knows."""
    known = trade_of_category()
    taxonomy, categories = place.get("taxonomy"), place.get("categories")
    named = taxonomy or categories or {}
    main = (named.get("primary"), *reversed(named.get("hierarchy") or ()), place.get("basic_category"))
    others = named.get("alternates") or named.get("alternate") or ()
    first = next((known[name] for name in main if name in known), NO_TRADE)
    every = dict.fromkeys((first, *(known[name] for name in others if name in known)))
    return [trade for trade in every if trade != NO_TRADE]


@cache
def shared_sites() -> frozenset[str]:
    """Registrable domains that no business has for itself: networks, builders of sites, directories, shorteners."""
    text = files("siteglass.crawl").joinpath("no_own_sites.txt").read_text(encoding="utf-8")
    listed = {name for line in text.splitlines() if not line.startswith("#") for name in line.split()}
    built_at = {site for rule in own_rules().values() for site in rule.site}
    return frozenset(listed | {registrable(host) for host in (*NETWORKS, *built_at)})


def own_domain(websites: Sequence[str | None]) -> tuple[str, str]:
    """The registrable domain of the first website that is a business's own, or "" and why there is none."""
    reason = "no website"
    for text in websites[:MAX_WEBSITES]:
        if not text or not text.strip():
            continue
        try:
            host = website_host(text)
        except NotAHost:
            reason = "a website that cannot be read"
            continue
        domain = registrable(host)
        if domain not in shared_sites() and not is_suffix(domain):
            return domain, ""
        reason = "only a page on a network, a platform, or a shortened link"
    return "", reason


def source_of(address: str) -> str:
    """How the frontier names the places at an address: with the month of their release, if the address has it."""
    days = _RELEASE.findall(address)
    return f"overture {days[-1][:7]}" if days else "overture"


def records_of(found: FoundPlaces, address: str, now_ms: int) -> Iterator[SourceRecord]:
    """What places say of the domains that are left, as of the day of their release."""
    days = _RELEASE.findall(address)
    label = f"Overture, {days[-1][:7]}" if days else "Overture"
    at_ms = int(datetime.fromisoformat(f"{days[-1]}T00:00Z").timestamp() * 1000) if days else now_ms
    for place in found.facts:
        if place.domain in found.licences:
            lead = with_phones_and_state(Lead(domain=place.domain, crawled_at_ms=NEVER_MS, **place.lead))
            phones = tuple(phone for phone in lead.phones if phone.startswith("+"))
            yield SourceRecord("place", place.id, label, place.licence, at_ms, replace(lead, phones=phones))


def find_places(
    address: str, settings: Settings, *, countries: Collection[str], wanted: Collection[str], anonymous: bool
) -> FoundPlaces:
    """The domains of the places in countries (two letters) that have one of these trades, or a trade below one.

    Raises TableError.
    """
    known = trades()
    included = {trade for one in wanted for trade in known.included(one)}
    found = FoundPlaces()
    try:
        for place in _places(address, settings, countries, anonymous):
            if not included.isdisjoint(named := trades_of(place)):
                _add(found, place, named, countries)
    except (OSError, pa.ArrowException) as error:
        why = " ".join(str(error).split())[:300]
        raise TableError(f"{address} cannot be read: {why}. Check the address and the settings of S3.") from error
    return found


def _add(found: FoundPlaces, place: Mapping[str, Any], named: Sequence[str], countries: Collection[str]) -> None:
    found.places += 1
    # A confidence of 0 means that the place is known not to exist any more.
    if place.get("operating_status") == _CLOSED or place.get("confidence") == 0:
        found.left_out["closed"] += 1
        return
    domain, reason = own_domain(place["websites"] or ())
    if not domain:
        found.left_out[reason] += 1
        return
    if len(found.facts) >= MAX_PLACES:
        raise TableError(f"These are more than {MAX_PLACES:,} places. Name fewer countries or trades.")
    licence = _licence(place.get("sources") or ())
    found.licences.setdefault(domain, licence)
    found.facts.append(PlaceFacts(domain, str(place.get("id")), licence, _lead_fields(place, named, countries)))


def _lead_fields(place: Mapping[str, Any], named: Sequence[str], countries: Collection[str]) -> Mapping[str, Any]:
    """Name, numbers, address and trades of a place; of several addresses the first in the countries."""
    address = next(one for one in place["addresses"] if one and one["country"] in countries)
    country = vocabulary().country_alpha3(address["country"]) or ""
    state, city = settled(country, address.get("region") or "", (address.get("locality") or "")[:MAX_TEXT_CHARS])
    phones = [phone[:MAX_TEXT_CHARS] for phone in (place.get("phones") or ())[:MAX_PHONES] if phone]
    return {
        "business_name": ((place.get("names") or {}).get("primary") or "")[:MAX_TEXT_CHARS],
        "phones": tuple(phones),
        "country": country,
        "state": state,
        "city": city,
        "trades": tuple(named[:MAX_TRADES]),
    }


def _licence(sources: Sequence[Mapping[str, Any] | None]) -> str:
    """Each licence with whose data it is of: "CDLA-Permissive-2.0 (meta)"."""
    pairs = {(one.get("license") or "licence not stated", one.get("dataset") or "?") for one in sources if one}
    return ", ".join(f"{licence} ({dataset})" for licence, dataset in sorted(pairs))[:MAX_LICENCE_CHARS]


def _places(
    address: str, settings: Settings, countries: Collection[str], anonymous: bool
) -> Iterator[Mapping[str, Any]]:
    """Those in the countries."""
    system, path = file_system(address, settings, anonymous=anonymous)
    listed = _files(system, path, address)
    done, codes = 0, pa.array(sorted(countries), pa.string())
    with progress("Reading places", sum(info.size for info in listed), unit="bytes") as advance_to:
        for info in listed:
            with pq.ParquetFile(system.open_input_file(info.path), pre_buffer=True) as file:
                for read, batch in _batches(file, info.path, countries):
                    advance_to(done + int(info.size * read))
                    if batch is not None:
                        yield from _in_countries(batch, codes).to_pylist()
            done += info.size
            advance_to(done)


def _batches(
    file: pq.ParquetFile, name: str, countries: Collection[str]
) -> Iterator[tuple[float, pa.RecordBatch | None]]:
    """Rows of the row groups that may have the countries, each time with how much of the file was read before."""
    paths = [file.schema.column(place).path for place in range(len(file.schema))]
    _require_places(paths, name)
    columns = [path for path in paths if _COLUMNS.match(path)]
    country = next(place for place, path in enumerate(paths) if _is_country(path))
    groups = file.metadata.num_row_groups
    for number in range(groups):
        yield number / groups, None
        if _may_have(file.metadata.row_group(number).column(country).statistics, countries):
            for batch in file.iter_batches(ROWS_AT_ONCE, [number], columns):
                yield number / groups, batch


def _files(system: Any, path: str, address: str) -> list[Any]:
    """The Parquet files at an address, in the order of their names."""
    (info,) = system.get_file_info([path])
    if info.type == pyarrow.fs.FileType.File:
        return [info]
    selector = pyarrow.fs.FileSelector(path, recursive=True, allow_not_found=True)
    is_file = pyarrow.fs.FileType.File
    found = [one for one in system.get_file_info(selector) if one.type == is_file and one.path.endswith(".parquet")]
    if not 0 < len(found) <= MAX_FILES:
        raise TableError(
            f"{address} has {len(found):,} files *.parquet, expected 1 to {MAX_FILES:,}. Give the folder of places of "
            "one release, such as release/2026-10-21.0/theme=places/type=place."
        )
    return sorted(found, key=lambda one: str(one.path))


def _is_country(path: str) -> bool:
    return path.startswith("addresses.") and path.endswith(".country")


def _require_places(paths: Sequence[str], name: str) -> None:
    """Raise TableError for a file of something else."""
    tops = {path.partition(".")[0] for path in paths}
    if not any(map(_is_country, paths)) or "websites" not in tops or tops.isdisjoint(("taxonomy", "categories")):
        raise TableError(
            f"{name} has no places of Overture: expected the columns websites, addresses with country, and taxonomy "
            "or categories. Give a file or folder of theme=places/type=place."
        )


def _may_have(statistics: Any, countries: Collection[str]) -> bool:
    """Whether a row group may have a country."""
    if statistics is None or not statistics.has_min_max:
        return True
    return any(statistics.min <= country <= statistics.max for country in countries)


def _in_countries(batch: pa.RecordBatch, codes: Any) -> pa.RecordBatch:
    """The rows with an address in one of the countries."""
    addresses = batch.column("addresses")
    is_there = pc.is_in(pc.struct_field(pc.list_flatten(addresses), "country"), value_set=codes)
    return batch.take(pc.unique(pc.list_parent_indices(addresses).filter(is_there)))
