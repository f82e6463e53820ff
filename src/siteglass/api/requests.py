"""Read request bodies strictly: every problem at once, each with its field and the nearest name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from rapidfuzz import fuzz, process
from starlette.requests import Request

from siteglass.errors import BadRequest, PayloadTooLarge, Problem, Problems, UnsupportedMediaType, repeated
from siteglass.interpret import refuse_if_unsure
from siteglass.query.body import read_meaning
from siteglass.query.fields import ENRICH_FIELDS, FILTERS, SEARCH_SELECTABLE, SORTS
from siteglass.query.filters import spelled_type, written_as_array
from siteglass.search import ALWAYS_SHOWN, SearchRequest

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
DEFAULT_SORT = "-score"
MOST_NAMES_TOLD = 5

MAX_LEAD_CREDITS = 1_000_000
SPENDING_PARAMETERS = ("dry_run", "max_lead_credits")

SWITCHES = ("explain", "strict")
SEARCH_PARAMETERS = ("query", "limit", "select", "sort", *SPENDING_PARAMETERS, *SWITCHES, "wrapped_query", *FILTERS)
PAGE_PARAMETERS = ("limit", *SPENDING_PARAMETERS)
ENRICH_PARAMETERS = ("domains", "select", *SPENDING_PARAMETERS)


async def read_json(request: Request, max_bytes: int, *, may_be_empty: bool = False) -> dict[str, Any]:
    """The body as a JSON object; the order of checks is media type, size, JSON."""
    headers: dict[bytes, bytes] = dict(request.scope["headers"])  # several are asked for, so each is looked up fast
    declared = headers.get(b"content-length", b"")
    empty = declared == b"0" or (not declared and b"transfer-encoding" not in headers)
    if not (may_be_empty and empty):
        if headers.get(b"content-type", b"").split(b";", 1)[0].strip().lower() != b"application/json":
            raise UnsupportedMediaType
        if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            raise UnsupportedMediaType(compressed=True)
    if declared.isdigit() and int(declared) > max_bytes:
        raise PayloadTooLarge(max_bytes)
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > max_bytes:
            raise PayloadTooLarge(max_bytes)
    if not raw and may_be_empty:
        return {}
    try:
        body = orjson.loads(bytes(raw))
    except orjson.JSONDecodeError as error:
        if not raw.strip():
            raise BadRequest([Problem("body", "expected a JSON object, found nothing; send at least {}")]) from None
        place = f"line {error.lineno} column {error.colno}"
        raise BadRequest([Problem("body", f"expected JSON: {error.msg}: {place}")]) from None
    if not isinstance(body, dict):
        raise BadRequest([Problem("body", f"expected a JSON object, found {spelled_type(body)}")])
    return body


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """The known name that a wrong one most resembles."""
    best = process.extractOne(name[:64].lower(), known, scorer=fuzz.ratio, score_cutoff=60)
    return best[0] if best else None


def _names(known: Sequence[str], what: str) -> str:
    """The known names where they are few; a message of dozens is not read."""
    return f"expected one of {', '.join(known)}" if len(known) <= MOST_NAMES_TOLD else f"{what} are in /openapi.json"


def unknown_fields(body: dict[str, Any], known: Sequence[str]) -> Problems:
    """A problem for each name of the body that is not a known one."""

    def problem_of(name: str) -> Problem:
        near = nearest_name(name, known)
        hint = f"did you mean {near}?" if near else _names(known, "the known ones")
        return Problem(name[:64], f"unknown field; {hint}", nearest=near)

    problems, names = Problems(), frozenset(known)
    problems.describe([name for name in body if name not in names], problem_of)
    return problems


def _whole(body: dict[str, Any], name: str, least: int, most: int, problems: Problems) -> int | None:
    """A whole number of the body, None if it is not given."""
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        found = value if isinstance(value, float) else spelled_type(value)
        problems.append(Problem(name, f"expected a whole number from {least} to {most}, found {found}"))
        return None
    if not least <= value <= most:
        problems.append(Problem(name, f"expected a number from {least} to {most}, found {value}"))
    return value


def _limit(body: dict[str, Any], default: int, problems: Problems) -> int:
    limit = _whole(body, "limit", 1, MAX_LIMIT, problems)
    return default if limit is None else limit


@dataclass(frozen=True, slots=True)
class Spending:
    """What the caller says about the price: only tell it, or not above this."""

    dry_run: bool
    max_lead_credits: int | None


def _switch(body: dict[str, Any], name: str, problems: Problems) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        problems.append(Problem(name, f"expected true or false, found {spelled_type(value)}"))
    return value is True


def _spending(body: dict[str, Any], problems: Problems) -> Spending:
    dry_run = _switch(body, "dry_run", problems)
    return Spending(dry_run, _whole(body, "max_lead_credits", 0, MAX_LEAD_CREDITS, problems))


def _select(body: dict[str, Any], selectable: Sequence[str], problems: Problems) -> tuple[str, ...] | None:
    select = body.get("select")
    if select is None or select == []:
        return None
    if not isinstance(select, list) or not all(isinstance(name, str) for name in select):
        problems.append(Problem("select", f"expected an array of field names{written_as_array(select)}"))
        return None

    def problem_of(name: str) -> Problem:
        near = nearest_name(name, selectable)
        hint = f"did you mean {near}?" if near else _names(selectable, "its fields")
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
    explain, strict = (_switch(body, name, problems) for name in SWITCHES)
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
        found = "nothing" if domains is None else spelled_type(domains)
        hint = written_as_array(domains)
        problems.append(Problem("domains", f"expected an array of domains, found {found}{hint}"))
        domains = []
    elif not 1 <= len(domains) <= max_domains:
        problems.append(Problem("domains", f"expected 1 to {max_domains} domains, found {len(domains)}"))
    for position, domain in enumerate(domains[:max_domains]):
        if not isinstance(domain, str):
            problems.append(Problem(f"domains[{position}]", f"expected a string, found {spelled_type(domain)}"))
    select = _select(body, ENRICH_FIELDS, problems)
    spending = _spending(body, problems)
    if problems:
        raise BadRequest(problems)
    return EnrichRequest(domains, ENRICH_FIELDS if select is None else select, spending)
