"""Facts that no page in the store said: records of imports and of places, and how they fill what pages leave open.

A record is a row of the facts store beside the pages of its domain. Its address names source and id, such as
"import:leads.csv". It is of the kind robots, which says nothing by itself, so that the release before reads over it, as
over what DNS says. Its text is the record as JSON. Values are not part of the history of pages, and do not count as
values that many sites share. An import must never take away what was crawled. So a lead that was loaded from a file
is a record, too: of the source site.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
import pyarrow as pa

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA
from siteglass.corpus.lead import SOCIAL_NETWORKS, ContactDetail, Lead
from siteglass.corpus.lead_files import batch_of, leads_of
from siteglass.ingest.extract.gazetteer import settled
from siteglass.ingest.extract.phone_numbers import international, number_of
from siteglass.ingest.facts import PageFacts
from siteglass.ingest.grouped import ASCENDING, listed, pc
from siteglass.query.vocabulary import vocabulary

PRECEDENCE: tuple[str, ...] = ("site", "import", "place")
NEVER_MS = 0
"""As `Lead.crawled_at_ms`: the site was not fetched."""

_TOGETHER = {
    "emails": ("emails", "emails_personal", "email_owner", "email_owner_confidence", "emails_detail"),
    "phones": ("phones", "phone_owner", "phone_owner_confidence", "phones_detail"),
    "trades": ("trades", "trade_sources"),
    "technologies": ("technologies", "technologies_detail"),
}
"""Of the first source that has the first of them, all are taken."""
_KNOWN = frozenset(Lead.__struct_fields__)
_TIMES = ("crawled_at_ms", "updated_at_ms", "first_seen_ms", "newest_fact_ms")
_PLACE = ("country", "state", "city")
# The loader assigns the number; whose contacts were hidden, and what changed, only pages say.
_OF_THE_SITE = ("domain", "lead_no", "hidden_contacts", "added", "dropped")
_ALONE = tuple(
    name
    for name in Lead.__struct_fields__
    if name not in (*_TIMES, *_PLACE, *_OF_THE_SITE, "social_links")
    and not any(name in names for names in _TOGETHER.values())
)


class SourceRecord(msgspec.Struct, frozen=True):
    """What a source says of a domain."""

    source: Literal["site", "import", "place"]
    """"site": what a crawl found of which the store has no pages, see `imports.loaded`."""
    id: str
    """The file of an import, the id of a place: a newer record of the same one takes the place of the older."""
    label: str
    """Such as "imported from leads.csv on 2026-11-17" or "Overture, 2026-10"."""
    licence: str
    at_ms: int
    lead: Lead
    """Its `crawled_at_ms` is what the source says of it, or NEVER_MS."""

    @property
    def origin(self) -> str:
        """As details and evidence show it: "Overture, 2026-10, CDLA-Permissive-2.0 (meta)"."""
        return f"{self.label}, {self.licence}" if self.licence else self.label


class _Stored(msgspec.Struct, frozen=True):
    """The text of a row."""

    licence: str
    lead: dict[str, Any]


def known_fields(lead: Lead) -> dict[str, Any]:
    """What is known of a lead, as a line of a file of leads has it."""
    return {name: value for name in Lead.__struct_fields__ if _says(name, value := getattr(lead, name))}


def _says(name: str, value: Any) -> bool:
    """Whether a value of a field is known. To use no technologies is, to have no addresses is not."""
    return value is not None and (value not in ("", (), {}) or (name == "technologies" and value == ()))


def row_of(record: SourceRecord) -> PageFacts:
    """The row of a record in the facts store."""
    address = f"{record.source}:{record.id}"
    return PageFacts(
        domain=record.lead.domain,
        url=address,
        path=address,
        is_home=False,
        kind="robots",
        captured_at_ms=record.at_ms,
        archive=record.label,
        offset=0,
        digest="",
        text=msgspec.json.encode(_Stored(record.licence, known_fields(record.lead))).decode(),
        # Folding adds values to the history of rows that have no times.
        first_captured_ms=record.at_ms,
        last_captured_ms=record.at_ms,
    )


def record_of(row: PageFacts) -> SourceRecord | None:
    """The record of a row; None: it is of a page."""
    if not row.url.startswith(tuple(f"{source}:" for source in PRECEDENCE)):
        return None
    return _record(row.url, row.archive, row.captured_at_ms, row.text)


def _record(url: str, label: str, at_ms: int, text: str) -> SourceRecord:
    source, _, name = url.partition(":")
    stored = msgspec.json.decode(text, type=_Stored)
    said = {"source": source, "id": name, "label": label, "licence": stored.licence, "at_ms": at_ms}
    # The release after this one may know more fields.
    lead = {name: value for name, value in stored.lead.items() if name in _KNOWN}
    return msgspec.convert({**said, "lead": lead}, SourceRecord)


class Divided(NamedTuple):
    """Rows of some domains: pages, and records by domain."""

    pages: pa.Table
    records: Mapping[str, Sequence[SourceRecord]]


def divided(captures: pa.Table) -> Divided:
    """Rows of the facts store by what they are."""
    url = captures.column("url")
    is_record = pc.match_substring_regex(url, f"^({'|'.join(PRECEDENCE)}):")
    if not pc.any(is_record).as_py():
        return Divided(captures, {})
    rows = captures.filter(is_record)
    records: dict[str, list[SourceRecord]] = {}
    for row in zip(*(listed(rows, name) for name in ("url", "archive", "captured_at_ms", "text")), strict=True):
        record = _record(*row)
        records.setdefault(record.lead.domain, []).append(record)
    return Divided(captures.filter(pc.invert(is_record)).combine_chunks(), records)


def with_records(
    leads: pa.RecordBatch,
    records: Mapping[str, Sequence[SourceRecord]],
    refused: Collection[str],
    precedence: Sequence[str],
) -> tuple[pa.RecordBatch, pa.Table]:
    """Leads of pages and of records, in the order of domains, and the evidence for contacts that records gave.

    `refused` are domains that are not leads, whatever a record says.
    """
    wanted = {domain: several for domain, several in records.items() if domain not in refused}
    if not wanted:
        return leads, EVIDENCE_SCHEMA.empty_table()
    is_filled = pc.is_in(leads.column("domain"), value_set=pa.array(sorted(wanted), pa.string()))
    table = pa.Table.from_batches([leads])
    sites = {lead.domain: lead for lead in leads_of(table.filter(is_filled))}
    filled = [filled_lead(sites.get(domain), several, precedence) for domain, several in wanted.items()]
    every = pa.concat_tables([table.filter(pc.invert(is_filled)), pa.Table.from_batches([batch_of(filled)])])
    (batch,) = every.sort_by([("domain", ASCENDING)]).combine_chunks().to_batches()
    given = [row for lead in filled for row in _evidence(lead, wanted[lead.domain])]
    return batch, pa.Table.from_pylist(given, EVIDENCE_SCHEMA)


def filled_lead(site: Lead | None, records: Sequence[SourceRecord], precedence: Sequence[str]) -> Lead:
    """One lead of what its pages and some records say: each field from the first source that says it.

    Of one source, the newest record counts first. State and city come from sources that agree on the country. Of
    pages and a record of the site, the newer crawl counts.
    """
    for crawled in [one.lead for one in records if one.source == "site"]:
        if site is None or site.crawled_at_ms < crawled.crawled_at_ms:
            site = crawled
    ordered = [one for one in records if one.source != "site"]
    if site is not None and not ordered:
        return site
    ordered.sort(key=lambda one: (precedence.index(one.source), -one.at_ms, one.id))
    said: list[tuple[int, Lead]] = [(precedence.index(one.source), _detailed(one)) for one in ordered]
    if site is not None:
        said.append((precedence.index("site"), site))
    voices = [lead for _, lead in sorted(said, key=lambda one: one[0])]
    values: dict[str, Any] = {}
    for name in _ALONE:
        values |= _first(voices, name, (name,))
    for name, names in _TOGETHER.items():
        values |= _first(voices, name, names)
    values |= _place(voices)
    links = [lead.social_links for lead in voices]
    values["social_links"] = {
        network: next(one[network] for one in links if network in one)
        for network in SOCIAL_NETWORKS
        if any(network in one for one in links)
    }
    base = site or Lead(domain=voices[0].domain, crawled_at_ms=NEVER_MS)
    return msgspec.structs.replace(base, **values, **_times(site, ordered))


def _first(voices: Sequence[Lead], name: str, names: Sequence[str]) -> dict[str, Any]:
    """These fields of the first that says the one."""
    lead = next((one for one in voices if _says(name, getattr(one, name))), None)
    return {} if lead is None else {each: getattr(lead, each) for each in names}


def _place(voices: Sequence[Lead]) -> dict[str, str]:
    def first(name: str, fits: Callable[[Lead], bool]) -> str:
        return next((text for lead in voices if fits(lead) and (text := str(getattr(lead, name)))), "")

    country = first("country", lambda _: True)
    state = first("state", lambda lead: lead.country in ("", country))
    city = first("city", lambda lead: lead.country in ("", country) and (not lead.state or lead.state == state))
    return {"country": country, "state": state, "city": city}


def _times(site: Lead | None, records: Sequence[SourceRecord]) -> dict[str, int]:
    """A record counts as a change, and as the newest fact, but not as a crawl."""
    newest = max(one.at_ms for one in records)
    first = min(one.lead.first_seen_ms or one.at_ms for one in records)
    if site is None:
        crawled = next((one.lead.crawled_at_ms for one in records if one.lead.crawled_at_ms), NEVER_MS)
        updated = next((one.lead.updated_at_ms for one in records if one.lead.updated_at_ms), newest)
        return {
            "crawled_at_ms": crawled,
            "updated_at_ms": updated,
            "first_seen_ms": min(first, crawled or first),
            "newest_fact_ms": newest,
        }
    return {
        "updated_at_ms": max(site.updated_at_ms or 0, newest),
        "first_seen_ms": min(site.crawled_at_ms, first),
        "newest_fact_ms": max(site.version, newest),
    }


def _detailed(record: SourceRecord) -> Lead:
    """The lead of a record, with details of its contacts that say where they are from; those of a site do so."""
    if record.source == "site":
        return record.lead

    def details(values: Iterable[str]) -> tuple[ContactDetail, ...]:
        return tuple(
            ContactDetail(
                value=value,
                owner="unknown",
                confidence=None,
                page=record.origin,
                crawled_at_ms=None,
                first_seen_ms=record.at_ms,
                last_seen_ms=record.at_ms,
            )
            for value in values
        )

    lead = record.lead
    return msgspec.structs.replace(lead, emails_detail=details(lead.emails), phones_detail=details(lead.phones))


def _evidence(lead: Lead, records: Sequence[SourceRecord]) -> Iterator[dict[str, Any]]:
    """Of each contact that records gave: which say it."""
    for record in records:
        for kind, values, details in (
            ("email", record.lead.emails, record.lead.emails_detail),
            ("phone", record.lead.phones, record.lead.phones_detail),
        ):
            # Only what a crawl found has pages, and even there they may be unknown.
            pages = {one["value"]: one for one in details if one["page"] and record.source == "site"}
            for value in set(values) & set(getattr(lead, f"{kind}s")):
                one = pages.get(value)
                yield {
                    "domain": lead.domain,
                    "kind": kind,
                    "value": value,
                    "page": one["page"] if one else record.origin,
                    "method": record.source,
                    "first_seen_ms": (one and one.get("first_seen_ms")) or record.at_ms,
                    "last_seen_ms": (one and one.get("last_seen_ms")) or record.at_ms,
                    "archive": record.id,
                    "offset": 0,
                }


# --- rows of tables -----------------------------------------------------------------------------


def with_phones_and_state(lead: Lead) -> Lead:
    """The lead with numbers as E.164, read for its country, and with the state that its city is in.

    A number that cannot be one in that country stays as it is written; a city of several states gets none.
    """
    region = vocabulary().country_alpha2(lead.country) or "" if lead.country else ""
    phones = tuple(
        dict.fromkeys(international(one) or (region and number_of(one, region)) or one for one in lead.phones)
    )
    state = lead.state
    if lead.country and lead.city and not state:
        state, _ = settled(lead.country, "", lead.city)
    return msgspec.structs.replace(lead, phones=phones, state=state)
