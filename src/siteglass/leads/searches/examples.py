"""Examples of saved searches, made by the code that returns them."""

from __future__ import annotations

from datetime import UTC, datetime

from siteglass.access.keys import Caller
from siteglass.leads.searches.responses import SearchDeletedResponse, count_response, searches_response, show
from siteglass.leads.searches.searches import SavedSearch
from siteglass.web.operations import Examples, one_example

_MADE = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
_COUNTED = datetime(2026, 11, 15, 12, 30, tzinfo=UTC)
_NAME = "slow-shops-in-texas"
_SEARCH = '{"query":"slow Shopify stores in Texas","exclude_lists":["paid"]}'
_SAVED = SavedSearch(3, _NAME, 7, True, _SEARCH, _MADE, _COUNTED, 120)
_CALLER = Caller(3, 7, 7, frozenset(("search",)), "standard", 10.0, 20)

NEW_SEARCHES: Examples = {
    "search": {
        "summary": "A search that all keys of the account can run",
        "value": {"name": _NAME, "search": _SAVED.search, "shared": True},
    }
}


def searches() -> Examples:
    """All saved searches."""
    return one_example("The saved searches.", searches_response([_SAVED], _CALLER))


def saved() -> Examples:
    """A new saved search."""
    return one_example("The saved search.", show(SavedSearch(3, _NAME, 7, True, _SEARCH, _MADE, None, None), _CALLER))


def counted() -> Examples:
    """A count beside the one before."""
    return one_example("The counts.", count_response(_SAVED, 134))


def deleted() -> Examples:
    """A saved search that is gone."""
    return one_example("The search is gone.", SearchDeletedResponse(deleted=_NAME))
