"""Examples of watches, made by the code that returns them."""

from __future__ import annotations

from datetime import UTC, datetime

from siteglass.leads.lists.selection import ListNames
from siteglass.leads.rows import LeadRow
from siteglass.leads.watches.previews import NewLeads
from siteglass.leads.watches.responses import (
    WatchDeletedResponse,
    run_response,
    runs_response,
    show,
    watches_response,
)
from siteglass.leads.watches.runs import Run
from siteglass.leads.watches.schedule import Schedule
from siteglass.leads.watches.watches import Terms, Watch
from siteglass.web.operations import Examples, one_example

_NAME = "slow-shops-in-texas"
_TERMS = Terms(Schedule("week", 0, 8, "America/Chicago"), ("jane@example.com",), "new-shops")
_MADE = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
_RAN = datetime(2026, 11, 16, 14, 0, 3, tzinfo=UTC)
_NEXT = datetime(2026, 11, 23, 14, 0, tzinfo=UTC)
_FILTERS = {"country": "USA", "state": "TX", "technologies": ["Shopify"]}
_WATCH = Watch(5, 3, False, _NAME, _FILTERS, ListNames(("paid",)), _TERMS, _MADE, _NEXT, _RAN)
_RUN = Run(12, _RAN, "compared", 134, 2, 0, ())
_BASELINE = Run(7, datetime(2026, 11, 1, 9, 30, 4, tzinfo=UTC), "baseline", 132, 0, 0, ())
_LEAD = LeadRow(
    "Shop",
    "Austin, TX",
    "Shopify, Klaviyo +3",
    41,
    "2 emails · 1 phone",
    name="Example Boots",
    domain="boots.example.com",
    title="Example Boots – handmade in Austin",
)

NEW_WATCHES: Examples = {
    "watch": {
        "summary": "A saved search that runs every Monday at 8",
        "value": {"search": _NAME, "every": "week", "weekday": "monday", "hour": 8, "time_zone": "America/Chicago"},
    }
}
CHANGES: Examples = {"pause": {"summary": "Pause it", "value": {"paused": True}}}


def watches() -> Examples:
    """All watches."""
    return one_example("The watches.", watches_response([_WATCH]))


def watch() -> Examples:
    """A watch."""
    return one_example("The watch.", show(_WATCH))


def runs() -> Examples:
    """The runs of a watch."""
    return one_example("The runs.", runs_response(_WATCH, [_RUN, _BASELINE]))


def run() -> Examples:
    """A run with its new leads."""
    return one_example("The run.", run_response(_RUN, NewLeads(2, [_LEAD])))


def deleted() -> Examples:
    """A watch that is gone."""
    return one_example("The watch is gone.", WatchDeletedResponse(deleted=_NAME))
