"""Operation 4: how many leads of a search have which values, and what the whole search costs. Free of charge."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from siteglass.errors import Problems, Unavailable
from siteglass.index import facets as index_facets
from siteglass.index.compile import Extra, Query
from siteglass.index.facets import MAX_FEW, MAX_SIZE, BaseCounter, BaseCounts, FacetCounts, FieldCounts, KeyCount
from siteglass.index.index import Index
from siteglass.leads.lists.selection import ListNames
from siteglass.leads.requests import (
    PageOptions,
    read_names,
    read_search_part,
    search_body,
    unknown_search_fields,
)
from siteglass.leads.responses import EchoedFilters
from siteglass.query.body import Meaning
from siteglass.query.criteria import criteria
from siteglass.query.facets import FacetValue, facet_value
from siteglass.query.field import Kind
from siteglass.query.fields import ASKED, FACETS
from siteglass.query.filters import write_filters
from siteglass.suppression.filter import SuppressionFilter
from siteglass.suppression.redaction import addresses_in
from siteglass.web.messages import Count, ResponseBody
from siteglass.web.requests import read_fields

DEFAULT_SIZE = 10
# A value that only some leads have looks frequent by chance.
MIN_LIFT = 2.0
MIN_LIFT_LEADS = 50

# --- declared -----------------------------------------------------------------------------------


class FacetOptions(PageOptions):
    """What to count in a search."""

    facets: (
        Annotated[
            list[Annotated[str, Meta(extra_json_schema={"enum": list(FACETS)})]],
            Meta(description="Fields to count by. Defaults to all of them.", examples=[["country", "technologies"]]),
        ]
        | None
    ) = None
    size: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=MAX_SIZE,
                description=f"Maximum number of values, or of months, per facet; defaults to {DEFAULT_SIZE}. Bands "
                "and flags are always complete.",
                examples=[20],
            ),
        ]
        | None
    ) = None


FacetsBody = search_body(
    "FacetsBody",
    FacetOptions,
    "The body of a search, with what to count. Every field is optional; `null` and `[]` count as absent.",
)


class FacetValueShown(ResponseBody):
    """A value, and how many leads have it."""

    value: Annotated[str, Meta(description="The value: as a filter takes it, a band, a month, or `yes` or `no`.")]
    name: Annotated[str, Meta(description="Display name.")]
    count: Annotated[
        Count,
        Meta(description="Leads that have the value and meet the search's conditions on other fields."),
    ]
    filters: Annotated[
        EchoedFilters,
        Meta(description="Conditions that find the leads with this value. Send them in place of those on its field."),
    ]
    error: (
        Annotated[Count, Meta(description="If the facet is estimated: by how much `count` may be off.")] | UnsetType
    ) = UNSET
    lift: (
        Annotated[
            float,
            Meta(
                ge=MIN_LIFT,
                description="How many times more frequent the value is in this search than among all leads. Present "
                f"only from {MIN_LIFT:g} on, and if at least {MIN_LIFT_LEADS} leads were counted.",
            ),
        ]
        | UnsetType
    ) = UNSET


class FacetShown(ResponseBody):
    """The leads of a search by the values of one field."""

    facet: Annotated[str, Meta(description="The field.", extra_json_schema={"enum": list(FACETS)})]
    counts: Annotated[
        list[FacetValueShown],
        Meta(
            max_length=MAX_SIZE,
            description="Values that leads have, the most frequent first; bands from the lowest, months from the "
            "newest. A lead with several values counts for each.",
        ),
    ]
    more: Annotated[bool, Meta(description="Whether leads have other values, too.")]
    estimated: Annotated[
        bool,
        Meta(
            description="Whether the counts are estimated, because exact ones would take too long. In at least 95 of "
            "100 responses, all true counts differ by at most `error`."
        ),
    ]


class WholePrice(ResponseBody):
    """What all pages of a search cost together."""

    with_email: Annotated[
        Count,
        Meta(
            description="Leads that have an email address: the lead credits that all pages cost together. Leads that "
            "your plan does not charge again are included."
        ),
    ]
    estimated: Annotated[bool, Meta(description="Whether it was estimated, because counting took too long.")]
    already_paid: (
        Annotated[
            Count,
            Meta(
                description="Those of them that are on your list `paid`: your account paid for them before. "
                "`exclude_lists` leaves them out. Absent while a long ledger is read for the first time."
            ),
        ]
        | UnsetType
    ) = UNSET


class FacetsResponse(ResponseBody):
    """The leads of a search by the values of fields, and the price of all of them."""

    total_results: Annotated[Count, Meta(description="How many leads match the search.")]
    price: WholePrice
    facets: Annotated[
        list[FacetShown], Meta(max_length=len(FACETS), description="The facets, in the order of the request.")
    ]
    note: (
        Annotated[
            str,
            Meta(
                description=f"Why the facets are missing: they describe 1 to {MAX_FEW} leads with an address that your "
                "account has not received. It has seen its new leads of today. Otherwise absent."
            ),
        ]
        | UnsetType
    ) = UNSET


# --- read and counted ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FacetsRequest:
    """What to count in which search."""

    meaning: Meaning
    fields: tuple[str, ...]
    size: int
    lists: ListNames


def read_facets(body: dict[str, Any], now_ms: int) -> FacetsRequest:
    """The body of POST /v1/leads/facets."""

    def read_fields_to_count(body: dict[str, Any], problems: Problems) -> tuple[str, ...] | None:
        return read_names(body, "facets", FACETS, "a facet", problems)

    problems = unknown_search_fields(body, FacetsBody)
    options = read_fields(FacetOptions, body, problems, facets=read_fields_to_count)
    search, _spending = read_search_part(body, now_ms, problems)
    return FacetsRequest(search.meaning, options["facets"] or FACETS, options["size"] or DEFAULT_SIZE, search.lists)


async def count(
    index: Index,
    hidden: SuppressionFilter,
    base: BaseCounter,
    request: FacetsRequest,
    listed: tuple[Extra, ...],
    paid: Query | None,
) -> tuple[FacetCounts, BaseCounts | None]:
    """The counts, and those over all leads if they are known; `paid` finds leads that the account paid for."""
    try:
        async with asyncio.timeout(index.settings.request_timeout_ms / 1000):
            await hidden.require_fresh()
            counts = await index_facets.count_facets(
                index, request.meaning.criteria, request.fields, request.size, listed, paid
            )
            return counts, await base.current()
    except TimeoutError as error:
        raise Unavailable("the leads were not counted before the request's deadline") from error


async def find_few(
    index: Index, request: FacetsRequest, listed: tuple[Extra, ...], received: Query | None
) -> list[str]:
    """The leads that the values would describe one by one."""
    try:
        async with asyncio.timeout(index.settings.request_timeout_ms / 1000):
            return await index_facets.find_few(index, request.meaning.criteria, request.fields, listed, received)
    except TimeoutError as error:
        raise Unavailable("the leads were not counted before the request's deadline") from error


def facets_response(request: FacetsRequest, counts: FacetCounts, base: BaseCounts | None) -> FacetsResponse:
    """The counts with display names, and with the values that are frequent here."""
    return FacetsResponse(
        total_results=counts.total.count,
        price=_price(counts),
        facets=[_facet(field, request.size, base) for field in counts.fields],
    )


def withheld_response(counts: FacetCounts, few: int, per_day: int) -> FacetsResponse:
    """The counts and the price alone, and why."""
    leads = f"{few} lead{'' if few == 1 else 's'}"
    return FacetsResponse(
        total_results=counts.total.count,
        price=_price(counts),
        facets=[],
        note=f"These values would describe {leads} that your account has not received. It sees at most {per_day:,} new "
        "leads a day before it gets them; the next ones from 00:00 UTC. Counts and prices are exact.",
    )


def _price(counts: FacetCounts) -> WholePrice:
    every, paid = counts.with_email, counts.already_paid
    if paid is None:
        return WholePrice(with_email=every.count, estimated=every.estimated)
    # Estimates of a part may exceed those of the whole.
    return WholePrice(
        with_email=every.count,
        estimated=every.estimated or paid.estimated,
        already_paid=min(paid.count, every.count),
    )


def _facet(counts: FieldCounts, size: int, base: BaseCounts | None) -> FacetShown:
    known = ((count, facet_value(counts.field, count.key)) for count in counts.keys)
    values = [(count, value) for count, value in known if value is not None and not _is_contact(value)]
    # Months are as many as were asked for; bands and flags are few.
    shown = size if ASKED[counts.field].ask.kind is Kind.TERM else len(values)
    return FacetShown(
        facet=counts.field,
        counts=[_value(counts, count, value, base) for count, value in values[:shown]],
        more=counts.more or len(values) > shown,
        estimated=counts.estimated,
    )


def _is_contact(value: FacetValue) -> bool:
    """Whether a text that no list knows holds an address: what a hostile page wrote must not show who opted out."""
    return value.value == value.name and any(True for _ in addresses_in(value.value))


def _value(counts: FieldCounts, count: KeyCount, value: FacetValue, base: BaseCounts | None) -> FacetValueShown:
    return FacetValueShown(
        value=value.value,
        name=value.name,
        count=count.count,
        filters=write_filters(criteria(value.conditions)),
        error=count.error if counts.estimated else UNSET,
        lift=UNSET if base is None else _lift(counts, count, base),
    )


def _lift(counts: FieldCounts, count: KeyCount, base: BaseCounts) -> float | UnsetType:
    """How many times more frequent a value is among the leads counted than among all; unset below the minimum."""
    of_all = base.by_field[counts.field].get(count.key, 0)
    if count.seen < MIN_LIFT_LEADS or not of_all or not counts.total:
        return UNSET
    lift = (count.count / counts.total) / (of_all / base.total)
    return round(lift, 1) if lift >= MIN_LIFT else UNSET
