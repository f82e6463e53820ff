"""What the pages of a domain say together: captures of some thousand domains to one row for each that is a lead.

Done a column at a time. Every order is total, so that the same facts make the same leads wherever rows are stored.
Which domains are leads is said by `signals`, which pages are read by `captures`.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from siteglass.corpus.lead import SOCIAL_NETWORKS
from siteglass.corpus.lead_files import LEAD_SCHEMA
from siteglass.ingest.captures import Priority, best_pages, newest_ms, numbered, speaks
from siteglass.ingest.extract.names import NamedPage, elected, sightings_of_best
from siteglass.ingest.facts import NAME, NameSighting, source_of
from siteglass.ingest.grouped import (
    ASCENDING,
    DESCENDING,
    Order,
    column,
    exploded,
    firsts,
    fitting,
    listed,
    lists,
    mask,
    numbers,
    once,
    pc,
    spread,
    voted,
)
from siteglass.ingest.national_numbers import settled_phones
from siteglass.ingest.signals import signals
from siteglass.ingest.technology_details import first_seen, with_technology_details
from siteglass.ingest.technology_history import with_changes

MAX_VALUES = 50
MAX_TEXT_CHARS = 20_000
MAX_SHORT_CHARS = 512
MAX_DESCRIPTION_CHARS = 2_000
MAX_LOAD_TIME_MS = 2**31
MAX_POINTS_ELSEWHERE = 25
AGREEING_POINTS, MAX_AGREEING = 5, 15

_GEO_BASES = pa.array(["json_ld", "address", "phone", "cctld", "gazetteer", "language"])
_WORST_BASIS = 99
_SHOWN = [
    "lead", "captured_at_ms", "url", "title", "description", "keywords", "favicon", "pages", "links", "secure",
    "responsive", "has_schema", "has_heading", "has_description", "load_time_ms", "audits",
]  # fmt: skip
_PLACE: Order = ("place", ASCENDING)


class DomainSummaries(NamedTuple):
    """Leads in the making, and where their addresses and numbers were seen."""

    leads: pa.Table
    """Columns of a lead under their names, others that are needed to make some, one row a domain."""
    sightings: pa.Table
    """One row for each value, page and method; `lead` is the number of the row in `leads`."""
    dropped: dict[str, str]
    """Domains that are not leads, each with the reason."""


def together(captures: pa.Table, priority: Priority, mirrors: Set[str] = frozenset()) -> DomainSummaries:
    """All captures of some domains, put together; `mirrors` do not become leads, see `aliases`."""
    numbers_of_all, domains = numbered(captures)
    states = signals(captures, numbers_of_all, domains)
    is_mirror = pc.is_in(states.column("domain"), value_set=pa.array(sorted(mirrors), pa.string()))
    reasons = pc.if_else(is_mirror, "alias", states.column("dropped"))
    dropped = {domain: why for domain, why in zip(listed(states, "domain"), reasons.to_pylist(), strict=True) if why}
    is_lead = pc.equal(reasons, "").combine_chunks()
    read = np.flatnonzero(mask(pc.and_(speaks(captures), is_lead.take(pa.array(numbers_of_all)))))
    leads = (np.cumsum(is_lead) - 1)[numbers_of_all[read]]
    best = best_pages(captures, read, leads, priority)
    pages = _with_times(captures.take(best.column("row")), best)
    rows = _Domains(pages, states.filter(is_lead)).rows()
    seen = exploded(pages, "seen")
    rows = with_technology_details(with_changes(rows, pages, seen), pages, seen)
    rows = rows.append_column("newest_fact_ms", _newest_facts(captures, numbers_of_all, len(domains)).filter(is_lead))
    phones = settled_phones(_sightings(pages, "phone", seen), listed(rows, "country"))
    return DomainSummaries(rows, pa.concat_tables([_sightings(pages, "email", seen), phones]), dropped)


def _newest_facts(captures: pa.Table, domains: Any, count: int) -> Any:
    """The time of the newest fact of each domain."""
    newest = np.zeros(count, dtype=np.int64)
    np.maximum.at(newest, domains, newest_ms(captures))
    return pa.array(newest)


def _with_times(pages: pa.Table, best: pa.Table) -> pa.Table:
    """The best pages, with the number of their `lead`, their own `place`, and the times of all with their body."""
    for name in ("lead", "first_seen_ms", "last_seen_ms"):
        pages = pages.append_column(name, best.column(name))
    return pages.append_column("place", pa.array(np.arange(pages.num_rows))).combine_chunks()


def _sightings(pages: pa.Table, kind: str, seen: pa.Table) -> pa.Table:
    found = fitting(exploded(pages, f"{kind}s"), "value", MAX_SHORT_CHARS)
    found = once(found, "place", "value", "method", "given")
    shown_on = pages.select(["url", "first_seen_ms", "last_seen_ms", "archive", "offset"])
    shown_on = shown_on.take(column(found, "place"))
    first_ms = pc.min_element_wise(shown_on.column("first_seen_ms"), first_seen(seen, kind, found))
    shown_on = shown_on.set_column(1, "first_seen_ms", first_ms)
    return pa.table(
        {
            "lead": found.column("lead"),
            "kind": pa.array([kind] * found.num_rows, pa.string()),
            "value": found.column("value"),
            **{name: found.column(name) for name in ("place", "method", "group", "party", "block", "label", "given")},
            "page": shown_on.column("url"),
            **{name: shown_on.column(name) for name in shown_on.column_names[1:]},
        }
    )


class _Domains:
    """The domains of ranked pages, each a row of what its pages say.

    What only one page can say is said by its home page. Where none was read, the page of the shortest path is shown
    for it; of flags only `secure` is then known, which any page shows for the site."""

    def __init__(self, pages: pa.Table, told: pa.Table) -> None:
        self._pages, self._told = pages, told
        leads = numbers(pages, "lead")
        first = np.flatnonzero(np.diff(leads, prepend=-1))
        self._count = len(first)
        self._has_home = column(pages, "is_home").take(pa.array(first))
        at_home = np.zeros(pages.num_rows, dtype=bool)
        at_home[first] = mask(self._has_home)
        self._at_home = pa.array(at_home)
        chars = pc.if_else(self._at_home, -1, pc.utf8_length(column(pages, "path")))
        paths = self._of(place=column(pages, "place"), chars=chars)
        self._shown = pages.select(_SHOWN).take(column(firsts(paths, ("chars", ASCENDING), _PLACE), "place"))

    def rows(self) -> pa.Table:
        """One row a domain."""
        columns = {
            **{name: self._told.column(name) for name in ("domain", "has_robots", "robots_audits", "has_sitemap")},
            **{name: self._told.column(name) for name in ("mail_marks", "mail_seen_ms")},
            "secure": self._shown.column("secure"),
            "has_home": self._has_home,
            "crawled_at_ms": self._shown.column("captured_at_ms"),
            "newest_at_ms": self._newest(),
            "business_name": self._business_name(),
            "title": _cut(self._shown.column("title"), MAX_SHORT_CHARS),
            "description": _cut(self._shown.column("description"), MAX_DESCRIPTION_CHARS),
            "text": self._text(),
            "language": self._language(),
            "other_profiles": self._distinct(self._pages, "other_profiles"),
            "social_links": self._social_links(),
            "technologies": self._technologies(),
            "offers": self._offers(),
            "service_type": self._service_type(),
            "trade_candidates": self._trade_candidates(),
            **{name: _unless_long(self._shown.column(name)) for name in ("url", "favicon")},
            **{name: self._distinct(self._shown, name) for name in ("keywords", "pages", "links")},
            **{
                name: self._home_only(name)
                for name in ("responsive", "has_schema", "has_heading", "has_description", "audits")
            },
            "load_time_ms": self._load_time(),
            **self._places(),
        }
        return pa.table(columns)

    def _of(self, **columns: Any) -> pa.Table:
        """Columns that were made of those of the pages, with the numbers of leads."""
        return pa.table({"lead": self._pages.column("lead"), **columns})

    def _page(self, *names: str) -> pa.Table:
        return self._pages.select(["lead", "place", *names])

    def _newest(self) -> Any:
        newest = self._pages.group_by("lead", use_threads=False).aggregate([("last_seen_ms", "max")])
        return spread(newest, "last_seen_ms_max", self._count, None)

    def _business_name(self) -> Any:
        """The one that all pages elect together."""
        found = exploded(self._pages, "social_links")
        found = found.filter(pc.starts_with(found.column("key"), NAME))
        sightings: dict[int, list[NameSighting]] = {}
        for place, key, name in zip(*(listed(found, one) for one in ("place", "key", "value")), strict=True):
            sightings.setdefault(place, []).append(NameSighting(name, source_of(key)))
        pages: dict[int, list[NamedPage]] = {}
        columns = (listed(self._pages, key) for key in ("lead", "is_home", "business_name", "name_basis", "title"))
        for place, (lead, is_home, *best) in enumerate(zip(*columns, strict=True)):
            own = sightings.get(place) or sightings_of_best(*best)
            pages.setdefault(lead, []).append(NamedPage(own, is_home))
        names = [elected(domain, pages[lead])[0] for lead, domain in enumerate(listed(self._told, "domain"))]
        return _cut(pa.array(names, pa.string()), MAX_SHORT_CHARS)

    def _text(self) -> Any:
        texts = _said(self._page("text"), "text")
        texts = texts.set_column(2, "text", _cut(texts.column("text"), MAX_TEXT_CHARS))
        return _cut(pc.binary_join(lists(texts, "text", self._count), "\n"), MAX_TEXT_CHARS)

    def _language(self) -> Any:
        """That of most text."""
        chars = pc.min_element_wise(pc.utf8_length(self._pages.column("text")), MAX_TEXT_CHARS)
        said = _said(self._of(language=self._pages.column("language"), chars=chars.cast(pa.int64())), "language")
        votes = voted(said, "language", weight="chars")
        return spread(firsts(votes, ("votes", DESCENDING), ("language", ASCENDING)), "language", self._count, "")

    def _distinct(self, rows: pa.Table, name: str) -> Any:
        """The values of a column of lists that fit, each once in the order they come, as many as fit."""
        values = fitting(exploded(rows, name), "value", MAX_SHORT_CHARS)
        return lists(once(values, "value"), "value", self._count, MAX_VALUES)

    def _social_links(self) -> Any:
        """Of each network we know the profile that the best page names."""
        links = fitting(exploded(self._pages, "social_links"), "value", MAX_SHORT_CHARS)
        links = links.filter(pc.is_in(links.column("key"), pa.array(sorted(SOCIAL_NETWORKS))))
        links = once(links, "key").sort_by([("lead", ASCENDING), ("key", ASCENDING)])
        networks, profiles = (lists(links, name, self._count) for name in ("key", "value"))
        return pa.MapArray.from_arrays(
            networks.offsets, networks.values, profiles.values, type=LEAD_SCHEMA.field("social_links").type
        )

    def _technologies(self) -> Any:
        """Those of the home page, those of two pages, and what receives mail."""
        used = fitting(exploded(self._pages, "technologies"), "value", MAX_SHORT_CHARS)
        used = used.append_column("at_home", self._at_home.take(column(used, "place")))
        hits = used.group_by(["lead", "value"], use_threads=False).aggregate(
            [("place", "count_distinct"), ("at_home", "any")]
        )
        hits = hits.filter(pc.or_(hits.column("at_home_any"), pc.greater_equal(hits.column("place_count_distinct"), 2)))
        told = self._told.select(["mail_technologies"]).append_column("lead", pa.array(np.arange(self._count)))
        mail = exploded(told, "mail_technologies").select(["lead", "value"])
        hits = pa.concat_tables([hits.select(["lead", "value"]), mail]).group_by(["lead", "value"]).aggregate([])
        hits = hits.sort_by([("lead", ASCENDING), ("value", ASCENDING)])
        return lists(hits, "value", self._count, MAX_VALUES)

    def _offers(self) -> Any:
        """Those of most pages first."""
        offered = fitting(exploded(self._pages, "offers"), "value", MAX_SHORT_CHARS)
        votes = voted(once(offered, "place", "value"), "value")
        votes = votes.sort_by([("lead", ASCENDING), ("votes", DESCENDING), ("value", ASCENDING)])
        return lists(votes, "value", self._count, MAX_VALUES)

    def _service_type(self) -> Any:
        """The one that most pages name first; of several, that of the best page."""
        types = exploded(self._pages, "service_types")
        first = types.filter(pa.array(np.diff(numbers(types, "place"), prepend=-1) > 0))
        types = fitting(first, "value", MAX_SHORT_CHARS)
        votes = types.group_by(["lead", "value"], use_threads=False).aggregate([("place", "count"), ("place", "min")])
        best = firsts(votes, ("place_count", DESCENDING), ("place_min", ASCENDING))
        return spread(best, "value", self._count, "")

    def _trade_candidates(self) -> Any:
        """Trades with the points of the page that names each best, and some for each other page that does, up to
        MAX_AGREEING. Beside a home page, other pages speak for the site by their types alone."""
        seen = exploded(self._pages, "trades")
        places = column(seen, "place")
        is_strong = pc.or_(self._at_home.take(places), pc.equal(seen.column("source"), "schema.org"))
        is_alone = pc.invert(self._has_home.take(column(seen, "lead")))
        capped = pc.min_element_wise(seen.column("points"), MAX_POINTS_ELSEWHERE)
        points = pc.if_else(pc.or_(is_strong, is_alone), seen.column("points"), capped)
        seen = seen.set_column(seen.schema.get_field_index("points"), "points", points)
        order: list[Order] = [("lead", ASCENDING), ("trade", ASCENDING)]
        best = once(seen.sort_by([*order, ("points", DESCENDING), ("place", ASCENDING)]), "trade")
        votes = voted(seen, "trade").sort_by(order)  # one row for each of `best`, in its order
        others = pc.subtract(votes.column("votes"), 1)
        agreeing = pc.min_element_wise(pc.multiply(others, AGREEING_POINTS), MAX_AGREEING)
        names = ["trade", "source", "points"]
        columns = [best.column("trade"), best.column("source"), pc.add(best.column("points"), agreeing)]
        rows = pa.StructArray.from_arrays([one.combine_chunks() for one in columns], names)
        return lists(pa.table({"lead": best.column("lead"), "candidate": rows}), "candidate", self._count)

    def _home_only(self, name: str) -> Any:
        values = column(self._shown, name)
        return values.take(pa.array(np.arange(self._count), mask=~mask(self._has_home)))

    def _load_time(self) -> Any:
        times = self._home_only("load_time_ms")
        fits = pc.and_(pc.greater_equal(times, 0), pc.less(times, MAX_LOAD_TIME_MS))
        return pc.if_else(fits, times, pa.scalar(None, pa.int64()))

    def _places(self) -> dict[str, Any]:
        """Country, state and city by the best basis, then by most pages, then by the best page; each within the one
        before."""
        told = _said(self._page("country", "state", "city", "geo_basis"), "country")
        told = told.append_column("basis", _basis(told.column("geo_basis"), _GEO_BASES))
        told = told.set_column(4, "city", _cut(told.column("city"), MAX_SHORT_CHARS))
        country = self._elected(told, "country")
        told = told.filter(pc.equal(told.column("country"), country.take(column(told, "lead"))))
        state = self._elected(_said(told, "state"), "state")
        told = _said(told, "city")
        chosen, own = state.take(column(told, "lead")), column(told, "state")
        fits = pc.or_(pc.or_(pc.equal(chosen, ""), pc.equal(own, "")), pc.equal(own, chosen))
        return {"country": country, "state": state, "city": self._elected(told.filter(fits), "city")}

    def _elected(self, told: pa.Table, name: str) -> Any:
        votes = told.group_by(["lead", "basis", name], use_threads=False).aggregate(
            [("place", "count"), ("place", "min")]
        )
        best = firsts(votes, ("basis", ASCENDING), ("place_count", DESCENDING), ("place_min", ASCENDING))
        return spread(best, name, self._count, "")


def _said(rows: pa.Table, name: str) -> pa.Table:
    return rows.filter(pc.not_equal(rows.column(name), ""))


def _basis(values: Any, bases: pa.Array[Any]) -> Any:
    """How good a basis is, 0 the best."""
    return pc.index_in(values, value_set=bases).fill_null(_WORST_BASIS)


def _cut(values: Any, chars: int) -> Any:
    # Most need no cut, and to look for the place of one takes longer than anything else here.
    if (pc.max(pc.binary_length(values)).as_py() or 0) <= chars:
        return values
    return pc.utf8_slice_codeunits(values, 0, chars)


def _unless_long(values: Any) -> Any:
    return pc.if_else(pc.less_equal(pc.utf8_length(values), MAX_SHORT_CHARS), values, "")
