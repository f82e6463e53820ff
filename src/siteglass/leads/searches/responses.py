"""The responses of operations on saved searches."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from siteglass.access.keys import Caller
from siteglass.leads.lists.responses import time_text
from siteglass.leads.searches.searches import MAX_SEARCHES, SavedSearch
from siteglass.web.messages import Count, Record, ResponseBody, Time

SEARCHES_PATH = "/v1/searches"


class SavedSearchShown(ResponseBody):
    """A saved search, and what the last count found."""

    name: str
    search: Annotated[Record, Meta(description="The body of the search, as it was sent.")]
    shared: Annotated[bool, Meta(description="Whether other keys of the account see it.")]
    own: Annotated[bool, Meta(description="Whether your key, or one that it replaced, saved it.")]
    created_at: Time
    last_total: Annotated[Count, Meta(description="Matches at the last count; null if there was none.")] | None
    last_counted_at: Annotated[Time, Meta(description="Time of the last count; null if there was none.")] | None


class SavedSearchesResponse(ResponseBody):
    """The saved searches of the account."""

    searches: Annotated[
        list[SavedSearchShown], Meta(max_length=MAX_SEARCHES, description="Those that your key sees, by name.")
    ]


class SavedSearchCount(ResponseBody):
    """How many leads match a saved search, now and at the last count."""

    name: str
    total_results: Annotated[Count, Meta(description="Matches now.")]
    last_total: Annotated[Count, Meta(description="Matches at the last count; null if there was none.")] | None
    last_counted_at: Annotated[Time, Meta(description="Time of the last count; null if there was none.")] | None


class SearchDeletedResponse(ResponseBody):
    """A saved search that was deleted."""

    deleted: Annotated[str, Meta(description="Name of the search.")]


def _time(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def show(saved: SavedSearch, caller: Caller) -> SavedSearchShown:
    """A saved search as responses show it."""
    search: dict[str, Any] = saved.search
    return SavedSearchShown(
        name=saved.name,
        search=search,
        shared=saved.shared,
        own=saved.owner_key_id == caller.family_id,
        created_at=time_text(saved.made_at),
        last_total=saved.total,
        last_counted_at=_time(saved.counted_at),
    )


def searches_response(searches: list[SavedSearch], caller: Caller) -> SavedSearchesResponse:
    """All saved searches that the caller sees."""
    return SavedSearchesResponse(searches=[show(saved, caller) for saved in searches])


def count_response(saved: SavedSearch, total: int) -> SavedSearchCount:
    """A count beside the one before."""
    return SavedSearchCount(
        name=saved.name, total_results=total, last_total=saved.total, last_counted_at=_time(saved.counted_at)
    )
