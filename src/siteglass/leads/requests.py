"""The bodies of lead operations, read strictly: every problem at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from siteglass.errors import BadRequest, Problem, Problems, repeated
from siteglass.leads.interpret import refuse_if_unsure
from siteglass.leads.search import ALWAYS_SHOWN, SearchRequest
from siteglass.query.body import read_meaning
from siteglass.query.fields import ENRICH_FIELDS, FILTERS, SEARCH_SELECTABLE, SORTS
from siteglass.query.filters import type_name, written_as_array
from siteglass.web.operations import MAX_LIMIT
from siteglass.web.requests import list_names, nearest_name, read_switch, read_whole, unknown_fields

DEFAULT_LIMIT = 20
DEFAULT_SORT = "-score"

MAX_LEAD_CREDITS = 1_000_000
SPENDING_PARAMETERS = ("dry_run", "max_lead_credits")

SWITCHES = ("explain", "strict")
SEARCH_PARAMETERS = ("query", "limit", "select", "sort", *SPENDING_PARAMETERS, *SWITCHES, "wrapped_query", *FILTERS)
PAGE_PARAMETERS = ("limit", *SPENDING_PARAMETERS)
ENRICH_PARAMETERS = ("domains", "select", *SPENDING_PARAMETERS)


def _limit(body: dict[str, Any], default: int, problems: Problems) -> int:
    limit = read_whole(body, "limit", 1, MAX_LIMIT, problems)
    return default if limit is None else limit


@dataclass(frozen=True, slots=True)
class Spending:
    """What the caller says about the price: only tell it, or not above this."""

    dry_run: bool
    max_lead_credits: int | None


def _spending(body: dict[str, Any], problems: Problems) -> Spending:
    dry_run = read_switch(body, "dry_run", problems)
    return Spending(dry_run, read_whole(body, "max_lead_credits", 0, MAX_LEAD_CREDITS, problems))


def _select(body: dict[str, Any], selectable: Sequence[str], problems: Problems) -> tuple[str, ...] | None:
    select = body.get("select")
    if select is None or select == []:
        return None
    if not isinstance(select, list) or not all(isinstance(name, str) for name in select):
        problems.append(Problem("select", f"expected an array of field names{written_as_array(select)}"))
        return None

    def problem_of(name: str) -> Problem:
        near = nearest_name(name, selectable)
        hint = f"did you mean {near}?" if near else list_names(selectable, "its fields")
        return Problem("select", f"{repeated(name)} is no field of the record; {hint}", nearest=near)

    names, known = dict.fromkeys(select), frozenset(selectable)
    problems.describe([name for name in names if name not in known], problem_of)
    return tuple(names)


def _sort(body: dict[str, Any], problems: Problems) -> str:
    sort = body.get("sort")
    if sort is None:
        return DEFAULT_SORT
    if not isinstance(sort, str) or sort not in SORTS:
        problems.append(Problem("sort", f"expected one of {', '.join(SORTS)}"))
        return DEFAULT_SORT
    return sort


def read_search(body: dict[str, Any], now_ms: int) -> tuple[SearchRequest, Spending]:
    """The body of POST /v1/leads/search, and of /v1/leads/interpret."""
    problems = unknown_fields(body, SEARCH_PARAMETERS)
    limit = _limit(body, DEFAULT_LIMIT, problems)
    select = _select(body, SEARCH_SELECTABLE, problems)
    sort = _sort(body, problems)
    spending = _spending(body, problems)
    explain, strict = (read_switch(body, name, problems) for name in SWITCHES)
    if select is not None and ALWAYS_SHOWN not in select:
        select = (*select, ALWAYS_SHOWN)
    meaning = read_meaning(body, now_ms, problems)
    if strict:
        refuse_if_unsure(meaning)
    return SearchRequest(meaning, limit, select, sort, explain), spending


def read_page(body: dict[str, Any], default_limit: int) -> tuple[int, Spending]:
    """The body of a cursor page: empty, or another `limit`, and what the caller says about the price."""
    problems = unknown_fields(body, PAGE_PARAMETERS)
    limit = _limit(body, default_limit, problems)
    spending = _spending(body, problems)
    if problems:
        raise BadRequest(problems)
    return limit, spending


@dataclass(frozen=True, slots=True)
class EnrichRequest:
    """Domains, the fields to show of each, and what the caller says about the price."""

    domains: list[str]
    select: tuple[str, ...]
    spending: Spending


def read_enrich(body: dict[str, Any], max_domains: int) -> EnrichRequest:
    """The body of POST /v1/leads/enrich."""
    problems = unknown_fields(body, ENRICH_PARAMETERS)
    domains = body.get("domains")
    if not isinstance(domains, list):
        found = "nothing" if domains is None else type_name(domains)
        hint = written_as_array(domains)
        problems.append(Problem("domains", f"expected an array of domains, found {found}{hint}"))
        domains = []
    elif not 1 <= len(domains) <= max_domains:
        problems.append(Problem("domains", f"expected 1 to {max_domains} domains, found {len(domains)}"))
    for position, domain in enumerate(domains[:max_domains]):
        if not isinstance(domain, str):
            problems.append(Problem(f"domains[{position}]", f"expected a string, found {type_name(domain)}"))
    select = _select(body, ENRICH_FIELDS, problems)
    spending = _spending(body, problems)
    if problems:
        raise BadRequest(problems)
    return EnrichRequest(domains, ENRICH_FIELDS if select is None else select, spending)
