"""The operations on watches."""

from __future__ import annotations

from starlette.datastructures import QueryParams

from siteglass.errors import NotFound, PayloadTooLarge, QueryError, UnsupportedMediaType
from siteglass.leads.operations import COUNTING_UNITS
from siteglass.leads.watches import examples
from siteglass.leads.watches.requests import (
    NewWatchBody,
    WatchParameters,
    WatchRunParameters,
    WatchTermsBody,
    read_new_watch,
    read_watch_changes,
)
from siteglass.leads.watches.responses import (
    WATCHES_PATH,
    WatchDeletedResponse,
    WatchesResponse,
    WatchRunResponse,
    WatchRunsResponse,
    WatchShown,
)
from siteglass.leads.watches.watches import MAX_MATCHES
from siteglass.web.operations import READING_LEADS, Operation, Success
from siteglass.web.parameters import read_no_parameters

_ONE = WATCHES_PATH + "/{name}"
_WRITING = (*READING_LEADS, NotFound, PayloadTooLarge, UnsupportedMediaType)

WATCHES = Operation(
    "watches",
    "GET",
    WATCHES_PATH,
    READING_LEADS,
    "Watches",
    "Get the watches",
    "Returns the watches on searches that your key sees. Test keys have separate ones.",
    Success("The watches.", (WatchesResponse,), examples.watches),
    scope="search",
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
CREATE_WATCH = Operation(
    "create_watch",
    "POST",
    WATCHES_PATH,
    (*_WRITING, QueryError),
    "Watches",
    "Watch a saved search",
    "Runs a saved search every day or every week and reports the leads that no earlier run found. The first run, a few "
    "seconds later, only notes what matches now. The search may match "
    f"{MAX_MATCHES:,} leads before its lists apply. Its conditions must not depend on the day: send `updated_after`, "
    "not `@updated_within`. Costs no credits. "
    f"Uses {COUNTING_UNITS} units of the rate limit.",
    Success("The watch.", (WatchShown,), examples.watch),
    scope="search",
    body=NewWatchBody,
    body_examples=examples.NEW_WATCHES,
    mistake=lambda: read_new_watch({"search": "My search", "every": "month"}),
)
WATCH = Operation(
    "watch",
    "GET",
    _ONE,
    (*READING_LEADS, NotFound),
    "Watches",
    "Get a watch",
    "Returns the watch on a saved search.",
    Success("The watch.", (WatchShown,), examples.watch),
    scope="search",
    parameters=WatchParameters,
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
CHANGE_WATCH = Operation(
    "change_watch",
    "POST",
    _ONE,
    _WRITING,
    "Watches",
    "Change or pause a watch",
    "Changes what is given. After a pause, the next run reports all leads that came meanwhile. A watch that you "
    "resume or let run every day buys nothing until somebody sets `max_lead_credits` in the dashboard again.",
    Success("The watch after the change.", (WatchShown,), examples.watch),
    scope="search",
    parameters=WatchParameters,
    body=WatchTermsBody,
    body_examples=examples.CHANGES,
    mistake=lambda: read_watch_changes({"hour": 24}),
)
DELETE_WATCH = Operation(
    "delete_watch",
    "DELETE",
    _ONE,
    (*READING_LEADS, NotFound),
    "Watches",
    "Delete a watch",
    "Deletes a watch with its runs. The saved search stays.",
    Success("The watch is gone.", (WatchDeletedResponse,), examples.deleted),
    scope="search",
    parameters=WatchParameters,
    mistake=lambda: read_no_parameters(QueryParams("force=1")),
)
WATCH_RUNS = Operation(
    "watch_runs",
    "GET",
    _ONE + "/runs",
    (*READING_LEADS, NotFound),
    "Watches",
    "Get the runs of a watch",
    "Returns the runs of the last 30 days with their counts. To get the new leads of a run with their contacts, send "
    "`only_lists` with its `list` in a search, which costs what a search costs.",
    Success("The runs.", (WatchRunsResponse,), examples.runs),
    scope="search",
    parameters=WatchParameters,
    mistake=lambda: read_no_parameters(QueryParams("limit=1")),
)
WATCH_RUN = Operation(
    "watch_run",
    "GET",
    _ONE + "/runs/{run}",
    (*READING_LEADS, NotFound),
    "Watches",
    "Get a run with its new leads",
    "Returns the first new leads of a run as they are now, without contacts. Leads that you have not received count "
    "toward the previews that the plan allows per day; the others are a number. Nothing is charged. "
    f"Uses {COUNTING_UNITS} units of the rate limit.",
    Success("The run.", (WatchRunResponse,), examples.run),
    scope="search",
    parameters=WatchRunParameters,
    mistake=lambda: read_no_parameters(QueryParams("limit=1")),
)

OPERATIONS = (WATCHES, CREATE_WATCH, WATCH, CHANGE_WATCH, DELETE_WATCH, WATCH_RUNS, WATCH_RUN)
