"""The bodies and parameters of list operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta
from starlette.datastructures import QueryParams

from siteglass.corpus.domains import NotAHost, candidates
from siteglass.errors import BadRequest, Problem, Problems, repeated
from siteglass.leads.lists.lists import BUILT_IN, NAME
from siteglass.leads.lists.selection import MAX_SELECTED, ListNames
from siteglass.query.filters import type_name, written_as_array
from siteglass.web.messages import Parameters, RequestBody, names_of
from siteglass.web.parameters import read_given, read_number
from siteglass.web.requests import unknown_fields

MAX_DOMAINS_SENT = 2_000
"""Domains of one request; a longer list is sent in parts."""
MAX_PAGE = 1_000
DEFAULT_PAGE = 100
NAME_PATTERN = f"^{NAME.pattern}$"
_NAME_RULE = "expected a name of 1 to 63 lower-case letters, digits, `-` and `_`, which starts with a letter or digit"

ListName = Annotated[str, Meta(pattern=NAME_PATTERN, description="Name of the list.", examples=["customers"])]
ListNameArray = Annotated[list[Annotated[str, Meta(pattern=NAME_PATTERN)]], Meta(max_length=MAX_SELECTED)]
ExcludeLists = Annotated[
    ListNameArray,
    Meta(
        description="Names of lists of the account; leads on any of them are neither returned nor charged. `paid` has "
        "the leads that the account has paid for, `received` those that it has received.",
        examples=[["paid"]],
    ),
]
OnlyLists = Annotated[
    ListNameArray,
    Meta(
        description="Names of lists of the account; only leads on at least one of them are returned.",
        examples=[["paid"]],
    ),
]
Domains = Annotated[
    list[str],
    Meta(
        max_length=MAX_DOMAINS_SENT,
        description="Domains, in any form that an enrichment accepts. Send longer lists in several requests.",
        examples=[["example.com", "https://www.example.org/about"]],
    ),
]


class NewListBody(RequestBody):
    """A new list, with its first domains if there are any."""

    name: Annotated[
        str,
        Meta(
            pattern=NAME_PATTERN,
            description=f"Name of the list. {', '.join(f'`{name}`' for name in BUILT_IN)} are built in.",
            examples=["customers"],
        ),
    ]
    domains: Domains | None = None


class ListDomainsBody(RequestBody):
    """Domains to add to a list, or to remove from it."""

    domains: Annotated[Domains, Meta(min_length=1)]


class ListParameters(Parameters):
    """Which list."""

    name: ListName


class ListDomainsParameters(ListParameters):
    """Which part of a list."""

    after: (
        Annotated[
            str,
            Meta(description="Return domains that come after this one; `next` has it.", examples=["example.com"]),
        ]
        | None
    ) = None
    limit: (
        Annotated[
            int,
            Meta(ge=1, le=MAX_PAGE, description=f"Domains per page; defaults to {DEFAULT_PAGE}.", examples=[1_000]),
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class ReadDomains:
    """Texts of a caller as the names that leads may be stored under, and those that are not host names."""

    hosts: list[tuple[str, ...]]
    invalid: list[tuple[str, str]]


def read_domains(texts: Sequence[str]) -> ReadDomains:
    """Normalize domains; a repeated one counts once."""
    hosts: dict[tuple[str, ...], None] = {}
    invalid: list[tuple[str, str]] = []
    for text in texts:
        try:
            hosts[candidates(text)] = None
        except NotAHost as error:
            invalid.append((text, str(error)))
    return ReadDomains(list(hosts), invalid)


@dataclass(frozen=True, slots=True)
class NewList:
    """A list to create."""

    name: str
    domains: ReadDomains


@dataclass(frozen=True, slots=True)
class DomainsPage:
    """Which part of a list to return."""

    after: str
    limit: int


def read_new_list(body: dict[str, Any]) -> NewList:
    """The body of POST /v1/lists."""
    problems = unknown_fields(body, names_of(NewListBody))
    name = read_name(body, problems)
    if name in BUILT_IN:
        problems.append(Problem("name", f"the list {name} is built in; choose another name"))
    texts = _domains(body, problems, may_be_absent=True)
    if problems:
        raise BadRequest(problems)
    return NewList(name, read_domains(texts))


def read_name(body: dict[str, Any], problems: Problems, field: str = "name") -> str:
    """A name of the caller's choice; empty if it is wrong."""
    name = body.get(field)
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    found = repeated(name) if isinstance(name, str) else "nothing" if name is None else type_name(name)
    problems.append(Problem(field, f"{_NAME_RULE}; found {found}"))
    return ""


def read_list_domains(body: dict[str, Any]) -> ReadDomains:
    """The body of a request that adds or removes domains."""
    problems = unknown_fields(body, names_of(ListDomainsBody))
    texts = _domains(body, problems)
    if problems:
        raise BadRequest(problems)
    return read_domains(texts)


def _domains(body: dict[str, Any], problems: Problems, *, may_be_absent: bool = False) -> list[str]:
    domains = body.get("domains")
    if may_be_absent and (domains is None or domains == []):
        return []
    if not isinstance(domains, list):
        found = "nothing" if domains is None else type_name(domains)
        problems.append(Problem("domains", f"expected an array of domains, found {found}{written_as_array(domains)}"))
        return []
    if not 1 <= len(domains) <= MAX_DOMAINS_SENT:
        message = f"expected 1 to {MAX_DOMAINS_SENT} domains, found {len(domains)}; send the rest in another request"
        problems.append(Problem("domains", message))
        return []
    wrong = [place for place, domain in enumerate(domains) if not isinstance(domain, str)]
    problems.describe(
        [f"domains[{place}]" for place in wrong], lambda field: Problem(field, "expected a string, found another type")
    )
    return domains


def read_page(parameters: QueryParams) -> DomainsPage:
    """The parameters of GET /v1/lists/{name}/domains."""
    problems = Problems()
    given = read_given(parameters, ("after", "limit"), problems)
    limit = read_number(given, "limit", MAX_PAGE, problems)
    if not (given.get("after") or "a").isprintable():
        problems.append(Problem("after", "expected a domain; GET the path in `next` exactly as it was returned"))
    if problems:
        raise BadRequest(problems)
    return DomainsPage(given.get("after", ""), DEFAULT_PAGE if limit is None else limit)


def read_list_names(body: dict[str, Any], problems: Problems) -> ListNames:
    """The lists that a search names."""
    exclude, only = _names(body, "exclude_lists", problems), _names(body, "only_lists", problems)
    if len(exclude) + len(only) > MAX_SELECTED:
        found = len(exclude) + len(only)
        message = f"expected at most {MAX_SELECTED} lists in `exclude_lists` and `only_lists` together, found {found}"
        problems.append(Problem("exclude_lists" if exclude else "only_lists", message))
    return ListNames(exclude, only)


def _names(body: dict[str, Any], field: str, problems: Problems) -> tuple[str, ...]:
    names = body.get(field)
    if names is None or names == []:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) and NAME.fullmatch(name) for name in names):
        problems.append(Problem(field, f"expected an array of names of lists{written_as_array(names)}"))
        return ()
    return tuple(dict.fromkeys(names))
