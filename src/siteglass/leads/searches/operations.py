"""The operations on saved searches."""

from __future__ import annotations

from dataclasses import replace

from starlette.datastructures import QueryParams

from siteglass.errors import NotFound, PayloadTooLarge, QueryError, UnsupportedMediaType
from siteglass.leads.operations import COUNTING_UNITS, SEARCH
from siteglass.leads.requests import PageBody, read_page
from siteglass.leads.responses import TOTAL_HEADERS
from siteglass.leads.searches import examples
from siteglass.leads.searches.requests import SavedSearchBody, SavedSearchParameters, read_saved_search
from siteglass.leads.searches.responses import (
    SEARCHES_PATH,
    SavedSearchCount,
    SavedSearchesResponse,
    SavedSearchShown,
    SearchDeletedResponse,
)
from siteglass.leads.searches.searches import MAX_SEARCHES
from siteglass.web.operations import READING_LEADS, Operation, Success
from siteglass.web.parameters import read_no_parameters

SEARCHES = Operation(
    "searches",
    "GET",
    SEARCHES_PATH,
    READING_LEADS,
    "Searches",
    "Get the saved searches",
    "Returns the searches that your key saved, and those that other keys of the account share. Test keys have separate "
    "ones.",
    Success("The saved searches.", (SavedSearchesResponse,), examples.searches),
    scope="search",
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
SAVE_SEARCH = Operation(
    "save_search",
    "POST",
    SEARCHES_PATH,
    (*READING_LEADS, PayloadTooLarge, UnsupportedMediaType, QueryError),
    "Searches",
    "Save a search",
    "Saves the body of a search under a name, as you sent it. An age such as `@updated_within(30)` is counted from "
    f"each run. An account can save {MAX_SEARCHES} searches. Costs no credits.",
    Success("The saved search.", (SavedSearchShown,), examples.saved),
    scope="search",
    body=SavedSearchBody,
    body_examples=examples.NEW_SEARCHES,
    mistake=lambda: read_saved_search({"name": "My search", "search": []}, 0),
)
DELETE_SEARCH = Operation(
    "delete_search",
    "DELETE",
    SEARCHES_PATH + "/{name}",
    (*READING_LEADS, NotFound),
    "Searches",
    "Delete a saved search",
    "Deletes a saved search that your key sees.",
    Success("The search is gone.", (SearchDeletedResponse,), examples.deleted),
    scope="search",
    parameters=SavedSearchParameters,
    mistake=lambda: read_no_parameters(QueryParams("force=1")),
)
COUNT_SEARCH = Operation(
    "count_search",
    "GET",
    SEARCHES_PATH + "/{name}/count",
    (*READING_LEADS, NotFound),
    "Searches",
    "Count a saved search",
    "Returns how many leads match now and how many matched at the last count, and stores the new count. No lead is "
    f"returned and nothing is charged. Uses {COUNTING_UNITS} units of the rate limit.",
    Success("The counts.", (SavedSearchCount,), examples.counted, headers=TOTAL_HEADERS),
    scope="search",
    parameters=SavedSearchParameters,
    mistake=lambda: read_no_parameters(QueryParams("limit=1")),
)
RUN_SEARCH = replace(
    SEARCH,
    name="run_search",
    path=SEARCHES_PATH + "/{name}/run",
    errors=(*SEARCH.errors, NotFound),
    tag="Searches",
    summary="Run a saved search",
    description="Returns the first page of the search and costs the same as one that you send. `limit` replaces the "
    "saved one. For the next page, POST to the path in `next`.",
    parameters=SavedSearchParameters,
    body=PageBody,
    body_examples={"page": {"summary": "As it was saved", "value": {}}},
    body_may_be_empty=True,
    mistake=lambda: read_page({"limit": 0}, 20),
)

OPERATIONS = (SEARCHES, SAVE_SEARCH, DELETE_SEARCH, COUNT_SEARCH, RUN_SEARCH)
