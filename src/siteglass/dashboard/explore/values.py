"""Facets beside the table: how many leads of the search have which values, each with links that narrow the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from siteglass.access.keys import Caller
from siteglass.dashboard.explore.address import (
    ExploreSearch,
    excluding_value,
    with_value,
    without_value,
)
from siteglass.leads.endpoints import LeadEndpoints
from siteglass.leads.facets import FacetShown, FacetsRequest, FacetsResponse, FacetValueShown
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Condition
from siteglass.query.field import Kind
from siteglass.query.fields import ASKED

LABELS = {
    "trades": "Trade",
    "country": "Country",
    "state": "State",
    "city": "City",
    "technologies": "Technology",
    "categories_uses": "Software",
    "score": "SEO score",
    "spending": "Ad spending a month",
    "language": "Language",
}
FLAGS = {"has_email": "With email", "has_phone": "With phone"}
SIZE = 8
SIZE_OF_ALL = 50
OPEN = ("trades", "city", "technologies", "score")
"""Facets that are open at first."""
MAX_ERROR_SHOWN = 0.5


@dataclass(frozen=True, slots=True)
class ValueLine:
    """A value with its count, and the address of the search with it, or without it where it is selected."""

    name: str
    count: str
    path: str
    selected: bool
    exclude: str = ""
    lift: str = ""


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """The values of a field."""

    field: str
    label: str
    lines: list[ValueLine]
    is_open: bool
    has_more: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """All facets of a search, and how many of its leads have an email address."""

    with_email: str
    flags: list[ValueLine] = field(default_factory=list)
    groups: list[ValueGroup] = field(default_factory=list)
    note: str = ""
    """Why there are no facets."""


async def count_panel(leads: LeadEndpoints, caller: Caller, search: ExploreSearch, whole: str) -> Panel:
    """Count the facets; of the field `whole` more values are shown."""
    wanted = leads.read(search.filters)
    size = SIZE_OF_ALL if whole in LABELS else SIZE
    request = FacetsRequest(wanted.meaning, (*FLAGS, *LABELS), size, wanted.lists)
    counted, _total = await leads.count_values(caller, request)
    now_ms = leads.index.clock.now_ms()
    return make_panel(search, counted, whole, now_ms)


def make_panel(search: ExploreSearch, counted: FacetsResponse, whole: str, now_ms: int) -> Panel:
    """The panel of what was counted."""
    about = "about " if counted.price.estimated else ""
    with_email = f"{about}{counted.price.with_email:,}"
    if counted.note is not UNSET:
        return Panel(with_email, note=counted.note)
    by_field = {facet.facet: facet for facet in counted.facets}
    return Panel(
        with_email,
        [_flag(search, name, by_field[name]) for name in FLAGS],
        [
            group
            for name in LABELS
            if (group := _group(search, by_field[name], SIZE_OF_ALL if name == whole else SIZE, now_ms)).lines
        ],
    )


def _flag(search: ExploreSearch, name: str, facet: FacetShown) -> ValueLine:
    condition = Condition(name)
    selected = condition in search.criteria.conditions
    other = search.without(condition) if selected else search.changed([*search.criteria.conditions, condition])
    counts = [_count(facet, value) for value in facet.counts if value.value == "yes"]
    return ValueLine(FLAGS[name], counts[0] if counts else "0", other.path, selected)


def _group(search: ExploreSearch, facet: FacetShown, size: int, now_ms: int) -> ValueGroup:
    lines: list[ValueLine] = []
    for value in facet.counts:
        conditions = _conditions(value, now_ms)
        if conditions:
            lines.append(_line(search, facet, value, conditions))
    lines.sort(key=lambda line: not line.selected)
    has_more = (facet.more or len(lines) > size) and size < SIZE_OF_ALL and ASKED[facet.facet].ask.kind is Kind.TERM
    shown = lines[:size] if ASKED[facet.facet].ask.kind is Kind.TERM else lines
    is_open = facet.facet in OPEN or any(line.selected for line in shown) or size == SIZE_OF_ALL
    return ValueGroup(facet.facet, LABELS[facet.facet], shown, is_open, has_more)


def _conditions(value: FacetValueShown, now_ms: int) -> list[Condition]:
    return list(read_meaning(value.filters, now_ms).said.plain)


def _line(
    search: ExploreSearch, facet: FacetShown, value: FacetValueShown, conditions: Sequence[Condition]
) -> ValueLine:
    present = _present(search, conditions)
    lift = "" if value.lift is UNSET else f"{value.lift:g}× usual"
    count = _count(facet, value)
    if present:
        return ValueLine(value.name, count, without_value(search, present).path, selected=True, lift=lift)
    single = conditions[0] if len(conditions) == 1 and ASKED[facet.facet].ask.kind is Kind.TERM else None
    exclude = excluding_value(search, single).path if single else ""
    return ValueLine(value.name, count, with_value(search, conditions).path, False, exclude, lift)


def _present(search: ExploreSearch, conditions: Sequence[Condition]) -> list[Condition]:
    """The conditions as the search has them, if it has all: it may name a state without its country."""
    found: list[Condition] = []
    for condition in conditions:
        values = {*condition.values}
        if condition.field == "state":
            values |= {str(value).rpartition("-")[2] for value in condition.values}
        for plain in search.criteria.plain:
            if plain.field == condition.field and not plain.negated and (same := values & {*plain.values}):
                found.append(Condition(plain.field, tuple(same)))
                break
        else:
            return []
    return found


def _count(facet: FacetShown, value: FacetValueShown) -> str:
    if not facet.estimated or value.error is UNSET:
        return f"{value.count:,}"
    share = value.error / value.count if value.count else 1
    return f"about {value.count:,}" + (f" (±{share:.0%})" if share < MAX_ERROR_SHOWN else "")
