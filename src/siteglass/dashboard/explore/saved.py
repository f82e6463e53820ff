"""Searches of the Explore page as saved searches, and the reverse. Both are bodies that the API runs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import Any

from siteglass.access.browsing import BrowserTerms, chargeable
from siteglass.access.keys import Caller
from siteglass.dashboard.explore.address import DEFAULT_COUNT, DEFAULT_SORT, EXPLORE, SORTS, ExploreSearch
from siteglass.dashboard.guard import Dashboard, Visit
from siteglass.leads.lists.lists import RECEIVED
from siteglass.leads.lists.selection import ListNames
from siteglass.leads.requests import read_search
from siteglass.query.body import read_meaning
from siteglass.query.criteria import Criteria

SEARCHES = "/dashboard/searches"
MAX_NAME_CHARS = 63
NAME_RULE = "Use 1 to 63 letters or digits. Spaces become hyphens."


def name_of(text: str) -> str:
    """What somebody typed as a name of the API: "Dentists in Münster" becomes dentists-in-munster; perhaps empty."""
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_text).strip("-_")[:MAX_NAME_CHARS].rstrip("-_")


def reader_of(terms: BrowserTerms) -> Caller:
    """Somebody as a reader of saved searches: those that they own, and shared ones.

    A person owns searches by the row of `keys` that also counts their charges. Without one they own none.
    """
    return replace(terms.caller, family_id=terms.caller.key_id)


async def owner_of(dashboard: Dashboard, visit: Visit, terms: BrowserTerms) -> Caller:
    """Somebody as the owner of a search that is saved now."""
    who = visit.who
    caller = await chargeable(dashboard.backends.postgres, terms.caller, who.person_id, who.name)
    return replace(caller, family_id=caller.key_id)


def body_of(search: ExploreSearch) -> dict[str, Any]:
    """What is saved: the words as long as they say it all, otherwise the conditions."""
    body = search.filters
    if search.words and search.criteria == search.said:
        lists = {name: value for name, value in body.items() if name in ("exclude_lists", "only_lists")}
        body = {"query": search.words, **lists}
    if search.sort != DEFAULT_SORT:
        body["sort"] = search.sort
    return body


def search_of(body: dict[str, Any], now_ms: int) -> ExploreSearch:
    """A saved search as the page searches for it; raises BadRequest if the body can't be read any more."""
    wanted, _spending = read_search(body, now_ms)
    words = " ".join(str(body.get("query") or "").split())
    said = read_meaning({"query": words}, now_ms).said if words else Criteria()
    return ExploreSearch(
        words,
        said,
        wanted.meaning.said,
        wanted.sort if wanted.sort in SORTS else DEFAULT_SORT,
        wanted.limit if "limit" in body else DEFAULT_COUNT,
        with_received=RECEIVED not in wanted.lists.exclude,
        lists=ListNames(tuple(one for one in wanted.lists.exclude if one != RECEIVED), wanted.lists.only),
    )


def path_of(name: str, search: ExploreSearch) -> str:
    """Where a saved search is opened."""
    path = search.path
    return f"{path}{'&' if path != EXPLORE else '?'}saved={name}"
