"""The bodies and parameters of operations on saved searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from siteglass.errors import BadRequest, Problem
from siteglass.leads.lists.requests import NAME_PATTERN, read_name
from siteglass.leads.requests import SearchBody, read_search
from siteglass.query.filters import type_name
from siteglass.web.messages import Parameters, Record, RequestBody, names_of, reference
from siteglass.web.requests import read_switch, unknown_fields

# What says how a run is paid is sent with the run.
_OF_A_RUN = ("dry_run", "max_lead_credits")

SearchName = Annotated[
    str, Meta(pattern=NAME_PATTERN, description="Name of the saved search.", examples=["slow-shops-in-texas"])
]


class SavedSearchBody(RequestBody):
    """A search to save."""

    name: SearchName
    search: Annotated[
        Record,
        reference(SearchBody.__name__),
        Meta(
            description="The body of a search, without `dry_run` and `max_lead_credits`.",
            examples=[{"query": "slow Shopify stores in Texas", "exclude_lists": ["paid"]}],
        ),
    ]
    shared: (
        Annotated[
            bool,
            Meta(description="Whether other keys of the account see it, run it and delete it.", examples=[True]),
        ]
        | None
    ) = None


class SavedSearchParameters(Parameters):
    """Which saved search."""

    name: SearchName


@dataclass(frozen=True, slots=True)
class NewSearch:
    """A search to save."""

    name: str
    search: dict[str, Any]
    shared: bool


def read_saved_search(body: dict[str, Any], now_ms: int) -> NewSearch:
    """The body of POST /v1/searches. The search is read as it will be when it runs."""
    problems = unknown_fields(body, names_of(SavedSearchBody))
    name = read_name(body, problems)
    shared = read_switch(body, "shared", problems)
    search = body.get("search")
    if not isinstance(search, dict):
        found = "nothing" if search is None else type_name(search)
        problems.append(Problem("search", f"expected the body of a search, found {found}"))
    else:
        for field in _OF_A_RUN:
            if field in search:
                problems.append(Problem(f"search.{field}", "send it when you run the search, not when you save it"))
    if problems or not isinstance(search, dict):
        raise BadRequest(problems)
    read_search(search, now_ms)
    return NewSearch(name, search, shared)
