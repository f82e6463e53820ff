"""The bodies and parameters of operations on jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from starlette.datastructures import QueryParams

from siteglass.errors import BadRequest, Problem, Problems
from siteglass.leads.lists.requests import ListName, read_name
from siteglass.leads.requests import (
    DryRun,
    MaxLeadCredits,
    SearchBody,
    Spending,
    read_domains,
    read_names,
    read_search,
)
from siteglass.leads.search import SearchRequest
from siteglass.query.fields import ENRICH_FIELDS, ENRICH_SELECTABLE
from siteglass.query.filters import type_name
from siteglass.web.messages import Id, Parameters, Record, RequestBody, names_of, reference
from siteglass.web.parameters import read_given
from siteglass.web.requests import read_fields, unknown_fields

MAX_BULK = 100_000
"""Domains of an enrichment, or leads of a search."""
FORMATS = ("ndjson", "csv")
_WHAT = ("domains", "list", "search")
_BESIDE_SEARCH = {"dry_run": "dry_run", "max_lead_credits": "max_lead_credits", "limit": "max_leads"}


class JobBody(RequestBody):
    """What to do: exactly one of `domains`, `list` and `search`."""

    domains: (
        Annotated[
            list[str],
            Meta(
                min_length=1,
                max_length=MAX_BULK,
                description="Domains to enrich, in any form that an enrichment accepts. A repeated one counts once.",
                examples=[["example.com", "https://www.example.org/about"]],
            ),
        ]
        | None
    ) = None
    list_: Annotated[ListName, Meta(description="Name of a list whose domains to enrich.")] | None = msgspec.field(
        default=None, name="list"
    )
    search: (
        Annotated[
            Record,
            reference(SearchBody.__name__),
            Meta(
                description="The body of a search whose leads to return, without `limit`, `dry_run` and "
                "`max_lead_credits`.",
                examples=[{"query": "slow Shopify stores in Texas", "exclude_lists": ["paid"]}],
            ),
        ]
        | None
    ) = None
    max_leads: (
        Annotated[
            int,
            Meta(ge=1, le=MAX_BULK, description="With `search`: maximum number of leads to return.", examples=[5_000]),
        ]
        | None
    ) = None
    select: (
        Annotated[
            list[Annotated[str, Meta(extra_json_schema={"enum": [*ENRICH_SELECTABLE]})]],
            Meta(
                description="Fields that an enrichment returns; defaults to all. For a search, send it in `search`.",
                examples=[["domain", "emails", "technologies"]],
            ),
        ]
        | None
    ) = None
    dry_run: Annotated[DryRun, Meta(description="Return only the price: nothing is started.")] | None = None
    max_lead_credits: (
        Annotated[MaxLeadCredits, Meta(description="Maximum lead credits of the whole job; then it stops.")] | None
    ) = None


class JobParameters(Parameters):
    """Which job."""

    job: Annotated[Id, Meta(description="Number of the job.", examples=[12])]


class JobResultsParameters(JobParameters):
    """Which job, and how its results are written."""

    format: Annotated[
        Literal["ndjson", "csv"], Meta(description="JSON lines or a table; defaults to `ndjson`.", examples=["csv"])
    ] = "ndjson"


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A job as it was asked for."""

    domains: list[str] | None
    list_name: str | None
    search: dict[str, Any] | None
    wanted: SearchRequest | None
    """The search, as it was read."""
    max_leads: int
    select: tuple[str, ...]
    spending: Spending


def read_job(body: dict[str, Any], now_ms: int) -> JobRequest:
    """The body of POST /v1/jobs."""
    problems = unknown_fields(body, names_of(JobBody))
    given = [name for name in _WHAT if body.get(name) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "nothing"
        problems.append(Problem("body", f"expected exactly one of `domains`, `list` and `search`, found {found}"))
    options = read_fields(
        JobBody,
        body,
        problems,
        domains=lambda body, problems: read_domains(body, MAX_BULK, problems) if "domains" in given else None,
        list=lambda body, problems: read_name(body, problems, "list") if "list" in given else None,
        search=_search,
        select=lambda body, problems: read_names(body, "select", ENRICH_SELECTABLE, "a field of the record", problems),
    )
    if "search" not in given and options["max_leads"] is not None:
        problems.append(Problem("max_leads", "it limits a search; an enrichment has as many results as domains"))
    if "search" in given and options["max_leads"] is None and not body.get("max_leads"):
        problems.append(Problem("max_leads", f"expected how many leads to return at most, from 1 to {MAX_BULK}"))
    if "search" in given and options["select"] is not None:
        problems.append(Problem("select", "send it in `search`"))
    if problems:
        raise BadRequest(problems)
    domains, search = options["domains"], options["search"]
    return JobRequest(
        None if domains is None else list(dict.fromkeys(domains)),
        options["list"],
        search,
        None if search is None else read_search(search, now_ms)[0],
        options["max_leads"] or 0,
        options["select"] or ENRICH_FIELDS,
        Spending(options["dry_run"], options["max_lead_credits"]),
    )


def _search(body: dict[str, Any], problems: Problems) -> dict[str, Any] | None:
    search = body.get("search")
    if search is None:
        return None
    if not isinstance(search, dict):
        problems.append(Problem("search", f"expected the body of a search, found {type_name(search)}"))
        return None
    for name, beside in _BESIDE_SEARCH.items():
        if name in search:
            problems.append(Problem(f"search.{name}", f"send `{beside}` beside `search`"))
    return search


def read_no_fields(body: dict[str, Any]) -> None:
    """The body of POST /v1/jobs/{job}/cancel, which has none."""
    problems = Problems()
    problems.describe(list(body), lambda name: Problem(name[:64], "unknown field; there are none here"))
    if problems:
        raise BadRequest(problems)


def read_format(parameters: QueryParams) -> str:
    """The parameters of GET /v1/jobs/{job}/results."""
    problems = Problems()
    format_ = read_given(parameters, ("format",), problems).get("format", FORMATS[0])
    if format_ not in FORMATS:
        problems.append(Problem("format", f"expected {' or '.join(FORMATS)}"))
    if problems:
        raise BadRequest(problems)
    return format_
