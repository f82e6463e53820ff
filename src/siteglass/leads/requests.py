"""The bodies and parameters of lead operations: declared, and read strictly, every problem at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

import msgspec
import orjson
from msgspec import Meta

from siteglass.corpus.domains import MAX_INPUT_CHARS
from siteglass.errors import BadRequest, Problem, Problems, repeated
from siteglass.leads.directive_table import directive_table
from siteglass.leads.interpret import refuse_if_unsure
from siteglass.leads.lists.requests import ExcludeLists, OnlyLists, read_list_names
from siteglass.leads.records import ALWAYS_SHOWN, FILTER_TYPES, OneValue
from siteglass.leads.search import SearchRequest
from siteglass.query.body import MAX_ECHO_BYTES, MAX_REQUIRED, read_meaning
from siteglass.query.cursor import MAX_CURSOR_CHARS
from siteglass.query.directives import MAX_TEXT_CHARS
from siteglass.query.fields import DIRECTIVES, ENRICH_FIELDS, ENRICH_SELECTABLE, SEARCH_SELECTABLE, SORTS
from siteglass.query.filters import type_name, written_as_array
from siteglass.query.natural import CHARS_PER_UNIT, LOW_CONFIDENCE, MAX_QUERY_CHARS, units_of
from siteglass.web.messages import Parameters, RequestBody, names_of
from siteglass.web.operations import MAX_LIMIT
from siteglass.web.requests import FieldReader, list_names, nearest_name, read_fields, unknown_fields

DEFAULT_LIMIT = 20
DEFAULT_SORT = "-score"
MAX_LEAD_CREDITS = 1_000_000
_PAGE_NAMES = frozenset(("offset", "skip", "page", "page_number", "start", "from", "cursor", "next", "scroll_id"))
_LIMIT_NAMES = frozenset(("page_size", "per_page", "size", "count", "top", "max_results", "num_results"))

# --- declared -----------------------------------------------------------------------------------

DryRun = Annotated[
    bool,
    Meta(
        description="Return only the price of this request: no lead is shown and nothing is charged.",
        examples=[True],
    ),
]
MaxLeadCredits = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_LEAD_CREDITS,
        description="Maximum lead credits to charge for this response; if it would cost more, the request is refused "
        "with 402.",
        examples=[20],
    ),
]


class QueryText(RequestBody):
    """What a search says in words."""

    query: (
        Annotated[
            str,
            Meta(
                max_length=MAX_QUERY_CHARS,
                description="What to find, in plain language. Takes one more unit of the rate limit for each further "
                f"{CHARS_PER_UNIT} characters begun. Ignored if `wrapped_query` is sent. A filter replaces "
                "what the query says about the same field. Words that are not known values are searched "
                "for in the text of the sites.",
                examples=["slow Shopify stores in Texas", "organic bakery"],
            ),
        ]
        | None
    ) = None
    require: (
        Annotated[
            list[OneValue],
            Meta(
                max_length=MAX_REQUIRED,
                description="Words or phrases of `query` that the text of the sites must contain, whatever else they "
                "could mean. Use it for words that the interpretation reports as not used.",
                examples=[["gluten-free"]],
            ),
        ]
        | None
    ) = None
    wrapped_query: (
        Annotated[
            str,
            Meta(
                max_length=MAX_TEXT_CHARS, description=directive_table(), examples=["@country(USA)\n!@technology(Wix)"]
            ),
        ]
        | None
    ) = None


class PageOptions(QueryText):
    """How a page of a search is shown and paid."""

    limit: (
        Annotated[
            int,
            Meta(ge=1, le=MAX_LIMIT, description=f"Leads per page; defaults to {DEFAULT_LIMIT}.", examples=[50]),
        ]
        | None
    ) = None
    select: (
        Annotated[
            list[Annotated[str, Meta(extra_json_schema={"enum": list(SEARCH_SELECTABLE)})]],
            Meta(
                description=f"Fields to return; `{ALWAYS_SHOWN}` is always included. Defaults to the 17 standard "
                "fields.",
                examples=[["domain", "emails", "service_type"]],
            ),
        ]
        | None
    ) = None
    sort: (
        Annotated[
            str,
            Meta(
                description="Order of the leads; `-` sorts the highest first. Leads with equal values are in a fixed "
                f"random order. Defaults to `{DEFAULT_SORT}`.",
                examples=["-spending"],
                extra_json_schema={"enum": list(SORTS)},
            ),
        ]
        | None
    ) = None
    exclude_lists: ExcludeLists | None = None
    only_lists: OnlyLists | None = None
    dry_run: DryRun | None = None
    max_lead_credits: MaxLeadCredits | None = None
    explain: (
        Annotated[
            bool,
            Meta(
                description="Add `interpretation` to the response: how the search was interpreted, with the words "
                "that each condition comes from.",
                examples=[True],
            ),
        ]
        | None
    ) = None
    strict: (
        Annotated[
            bool,
            Meta(
                description="Refuse with 400, free of charge, unless `query` was clearly understood. It is refused if "
                "a word was not used, was corrected or was replaced by a filter, or if the confidence is "
                f"below {LOW_CONFIDENCE:g}.",
                examples=[True],
            ),
        ]
        | None
    ) = None


def search_body(name: str, options: type[PageOptions], description: str) -> type[RequestBody]:
    """A body with these options and every filter of the catalogue."""
    filters = [(filter_, type_ | None, None) for filter_, type_ in FILTER_TYPES.items()]
    made = msgspec.defstruct(name, filters, bases=(options,), namespace={"__doc__": description})
    return cast("type[RequestBody]", made)


SearchBody = search_body(
    "SearchBody",
    PageOptions,
    "Every field is optional; `null` and `[]` count as absent. A lead must match all conditions.",
)
"""The body of a search, of an interpretation and of a diagnosis."""


class PageBody(RequestBody):
    """Another page of a search. Every field is optional."""

    limit: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=MAX_LIMIT,
                description="Leads on this page and the following ones; defaults to that of the previous page.",
                examples=[50],
            ),
        ]
        | None
    ) = None
    dry_run: DryRun | None = None
    max_lead_credits: MaxLeadCredits | None = None


class EnrichBody(RequestBody):
    """Domains, and the fields to show of each."""

    domains: Annotated[
        list[str],
        Meta(
            min_length=1,
            description="Domains to look up: a domain, a host or the URL of a page, in any form.",
            examples=[["example.com", "https://www.example.org/about"]],
        ),
    ]
    select: (
        Annotated[
            list[Annotated[str, Meta(extra_json_schema={"enum": list(ENRICH_SELECTABLE)})]],
            Meta(
                description="Fields to return. Defaults to all fields.",
                examples=[["domain", "emails", "technologies"]],
            ),
        ]
        | None
    ) = None
    dry_run: DryRun | None = None
    max_lead_credits: MaxLeadCredits | None = None


class PageParameters(Parameters):
    """Which page."""

    cursor: Annotated[
        str,
        Meta(
            max_length=MAX_CURSOR_CHARS,
            pattern="^[A-Za-z0-9_-]+$",
            description="The end of a `next` or `previous` path. It is valid for {cursor_hours} hours, with every key "
            "of the account that it was issued to. The example only shows the format: use one from a "
            "response.",
        ),
    ]


class EvidenceParameters(Parameters):
    """Which lead."""

    domain: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_INPUT_CHARS,
            description="The domain of a lead, in any form that an enrichment accepts, except a URL with slashes.",
            examples=["example.com"],
        ),
    ]


# --- read ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spending:
    """What the caller says about the price: only return it, or not above this."""

    dry_run: bool
    max_lead_credits: int | None


def _spending(plain: dict[str, Any]) -> Spending:
    return Spending(plain["dry_run"], plain["max_lead_credits"])


def _select_of(selectable: Sequence[str]) -> FieldReader:
    return lambda body, problems: _select(body, selectable, problems)


def _select(body: dict[str, Any], selectable: Sequence[str], problems: Problems) -> tuple[str, ...] | None:
    return read_names(body, "select", selectable, "a field of the record", problems)


def read_names(
    body: dict[str, Any], field: str, known: Sequence[str], what: str, problems: Problems
) -> tuple[str, ...] | None:
    """An array of known names, repeated ones once; None if it is not given."""
    given = body.get(field)
    if given is None or given == []:
        return None
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        problems.append(Problem(field, f"expected an array of field names{written_as_array(given)}"))
        return None

    def problem_of(name: str) -> Problem:
        near = nearest_name(name, known)
        hint = f"did you mean {near}?" if near else list_names(known, "its fields")
        return Problem(field, f"{repeated(name)} is not {what}; {hint}", nearest=near)

    names, known_names = dict.fromkeys(given), frozenset(known)
    problems.describe([name for name in names if name not in known_names], problem_of)
    return tuple(names)


def _sort(body: dict[str, Any], problems: Problems) -> str:
    sort = body.get("sort")
    if sort is None:
        return DEFAULT_SORT
    if not isinstance(sort, str) or sort not in SORTS:
        problems.append(Problem("sort", f"expected one of {', '.join(SORTS)}"))
        return DEFAULT_SORT
    return sort


def _how_else(name: str) -> str | None:
    """How to ask for what other services call so."""
    if name in _PAGE_NAMES:
        return "to get the next page, POST to the path in `next` of the response"
    if name in _LIMIT_NAMES:
        return "use `limit` for the number of leads per page"
    asked = DIRECTIVES.get(name)
    if asked is None or len(asked.ask.filters) == 1:
        return None
    names = " or ".join(f"`{filter_.name}`" for filter_ in asked.ask.filters)
    return f"use {names or f'@{name} in `wrapped_query`'}"


def read_search(body: dict[str, Any], now_ms: int) -> tuple[SearchRequest, Spending]:
    """The body of POST /v1/leads/search, /v1/leads/interpret and /v1/leads/diagnose."""
    return read_search_part(body, now_ms, unknown_search_fields(body, SearchBody))


def further_units(body: Mapping[str, Any]) -> int:
    """Units of the rate limit that reading a long `query` takes beyond the first; a longer one than allowed is not
    read."""
    query = body.get("query")
    return units_of(query) - 1 if isinstance(query, str) and len(query) <= MAX_QUERY_CHARS else 0


def unknown_search_fields(body: dict[str, Any], kind: type[RequestBody]) -> Problems:
    """A problem for each name that the kind of body does not have."""
    return unknown_fields(body, names_of(kind), _how_else)


def read_search_part(body: dict[str, Any], now_ms: int, problems: Problems) -> tuple[SearchRequest, Spending]:
    """What a body says as a search; raises BadRequest with all problems, those found before included."""
    lists = read_list_names(body, problems)
    options = read_fields(
        PageOptions,
        body,
        problems,
        select=_select_of(SEARCH_SELECTABLE),
        sort=_sort,
        exclude_lists=lambda _body, _problems: lists.exclude,
        only_lists=lambda _body, _problems: lists.only,
    )
    select = options["select"]
    if select is not None and ALWAYS_SHOWN not in select:
        select = (*select, ALWAYS_SHOWN)
    meaning = read_meaning(body, now_ms, problems)
    if options["strict"]:
        refuse_if_unsure(meaning)
    if lists.sent and (size := len(orjson.dumps({**meaning.filters, **lists.sent}))) > MAX_ECHO_BYTES:
        # Both travel inside the cursor.
        message = f"the filters of a search and the names of its lists may have at most {MAX_ECHO_BYTES} bytes"
        raise BadRequest([Problem(next(iter(lists.sent)), f"{message}, found {size}")])
    limit = DEFAULT_LIMIT if options["limit"] is None else options["limit"]
    return SearchRequest(meaning, limit, select, options["sort"], options["explain"], lists), _spending(options)


def read_page(body: dict[str, Any], default_limit: int) -> tuple[int, Spending]:
    """The body of a cursor page: empty, or another `limit`, and what the caller says about the price."""
    problems = unknown_fields(body, names_of(PageBody))
    options = read_fields(PageBody, body, problems)
    if problems:
        raise BadRequest(problems)
    return default_limit if options["limit"] is None else options["limit"], _spending(options)


@dataclass(frozen=True, slots=True)
class EnrichRequest:
    """Domains, the fields to show of each, and what the caller says about the price."""

    domains: list[str]
    select: tuple[str, ...]
    spending: Spending


def read_enrich(body: dict[str, Any], max_domains: int) -> EnrichRequest:
    """The body of POST /v1/leads/enrich."""
    problems = unknown_fields(body, names_of(EnrichBody))
    options = read_fields(
        EnrichBody,
        body,
        problems,
        domains=lambda body, problems: read_domains(body, max_domains, problems),
        select=_select_of(ENRICH_SELECTABLE),
    )
    if problems:
        raise BadRequest(problems)
    select = ENRICH_FIELDS if options["select"] is None else options["select"]
    return EnrichRequest(options["domains"], select, _spending(options))


def read_domains(body: dict[str, Any], max_domains: int, problems: Problems) -> list[str]:
    """The domains to enrich, as they were sent."""
    domains = body.get("domains")
    if not isinstance(domains, list):
        found = "nothing" if domains is None else type_name(domains)
        hint = written_as_array(domains)
        problems.append(Problem("domains", f"expected an array of domains, found {found}{hint}"))
        return []
    if not 1 <= len(domains) <= max_domains:
        problems.append(Problem("domains", f"expected 1 to {max_domains} domains, found {len(domains)}"))
    for position, domain in enumerate(domains[:max_domains]):
        if not isinstance(domain, str):
            problems.append(Problem(f"domains[{position}]", f"expected a string, found {type_name(domain)}"))
    return domains
