"""The operations on leads."""

from __future__ import annotations

from starlette.datastructures import QueryParams

from siteglass.billing.responses import CREDIT_HEADERS
from siteglass.errors import (
    AccountSuspended,
    BadRequest,
    CreditCapExceeded,
    CursorExpired,
    Forbidden,
    IdempotencyInProgress,
    IdempotencyMismatch,
    IdempotencyPriceChanged,
    InsufficientCredits,
    Internal,
    InvalidCursor,
    NotFound,
    PayloadTooLarge,
    QueryError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from siteglass.leads import examples
from siteglass.leads.charging import RETRY_HEADERS
from siteglass.leads.diagnose import HINT_HEADER, DiagnoseResponse
from siteglass.leads.facets import FacetsBody, FacetsResponse, read_facets
from siteglass.leads.requests import (
    EnrichBody,
    EvidenceParameters,
    PageBody,
    PageParameters,
    SearchBody,
    read_enrich,
    read_page,
    read_search,
)
from siteglass.leads.responses import (
    CORRECTED_HEADER,
    NOTES_HEADER,
    SEARCH_PATH,
    TOTAL_HEADERS,
    UNUSED_HEADER,
    EnrichQuote,
    EnrichResponse,
    EvidenceResponse,
    InterpretResponse,
    SearchQuote,
    SearchResponse,
    ValuesResponse,
)
from siteglass.leads.values import ValuesParameters, read_values
from siteglass.web.operations import READING_LEADS, Errors, Operation, Success
from siteglass.web.parameters import read_no_parameters

VALUES_PATH = "/v1/values"

# An enrichment takes one unit of the rate limit for every so many domains begun.
DOMAINS_PER_UNIT = 25
# What operations that count matches, and cost no credit, take of the rate limit.
COUNTING_UNITS = 3

_PAID = (*CREDIT_HEADERS, *RETRY_HEADERS)
_NOTES = (NOTES_HEADER, UNUSED_HEADER, CORRECTED_HEADER)

_CHARGING: Errors = (
    BadRequest,
    Unauthorized,
    InsufficientCredits,
    CreditCapExceeded,
    Forbidden,
    AccountSuspended,
    IdempotencyInProgress,
    PayloadTooLarge,
    UnsupportedMediaType,
    IdempotencyMismatch,
    TooManyRequests,
    Internal,
    Unavailable,
)


_COUNTING: Errors = (
    BadRequest,
    Unauthorized,
    Forbidden,
    AccountSuspended,
    PayloadTooLarge,
    UnsupportedMediaType,
    TooManyRequests,
    Internal,
    Unavailable,
    QueryError,
)
_FREE = (
    "No lead is returned and nothing is charged. Fields that only shape a page (`limit`, `select`, `sort`, `dry_run`, "
    f"`max_lead_credits`, `explain`) have no effect. Uses {COUNTING_UNITS} units of the rate limit."
)


def _wrong_search() -> object:
    return read_search({"limt": 5, "min_score": 140}, 0)


SEARCH = Operation(
    "search",
    "POST",
    SEARCH_PATH,
    (*_CHARGING, IdempotencyPriceChanged, QueryError),
    "Leads",
    "Find leads",
    "Returns the first page of leads that match all conditions. Costs one lead credit for each lead shown that has an "
    "email address.",
    Success(
        "A page of leads.",
        (SearchResponse, SearchQuote),
        examples.search_pages,
        headers=(*_PAID, *_NOTES, HINT_HEADER, *TOTAL_HEADERS),
    ),
    scope="search",
    body=SearchBody,
    body_examples=examples.SEARCHES,
    charged=True,
    mistake=_wrong_search,
)
PAGE = Operation(
    "page",
    "POST",
    SEARCH_PATH + "/{cursor}",
    (*_CHARGING, IdempotencyPriceChanged, InvalidCursor, CursorExpired),
    "Leads",
    "Get another page of a search",
    "POST to a `next` or `previous` path exactly as it was returned. Costs the same as a first page.",
    Success("A page of leads.", (SearchResponse, SearchQuote), examples.later_pages, headers=(*_PAID, *TOTAL_HEADERS)),
    scope="search",
    parameters=PageParameters,
    body=PageBody,
    body_examples=examples.PAGES,
    body_may_be_empty=True,
    charged=True,
    mistake=lambda: read_page({"limit": 0}, 20),
)
INTERPRET = Operation(
    "interpret",
    "POST",
    "/v1/leads/interpret",
    _COUNTING,
    "Leads",
    "Interpret a search without running it",
    "Takes the body of a search and returns its interpretation: the resulting directives, the words that each "
    "directive comes from, and how many leads match. It also reports which words were corrected, assumed, ignored or "
    "not understood. " + _FREE,
    Success(
        "The interpretation of the search.", (InterpretResponse,), examples.readings, headers=(*_NOTES, *TOTAL_HEADERS)
    ),
    scope="search",
    body=SearchBody,
    body_examples=examples.INTERPRETED,
    mistake=_wrong_search,
)
FACETS = Operation(
    "facets",
    "POST",
    "/v1/leads/facets",
    _COUNTING,
    "Leads",
    "Count the leads of a search by values",
    "Takes the body of a search and returns how many of its leads have which country, technology, score and so on. It "
    "also returns what all pages would cost. A facet ignores the search's conditions on its own field, so that it "
    "shows what other values would find. Counts that would take too long are estimated from a sample and marked. "
    + _FREE,
    Success("The counts.", (FacetsResponse,), examples.counted_facets, headers=(*_NOTES, *TOTAL_HEADERS)),
    scope="search",
    body=FacetsBody,
    body_examples=examples.FACETED,
    mistake=lambda: read_facets({"facets": ["contry"], "size": 0}, 0),
)
DIAGNOSE = Operation(
    "diagnose",
    "POST",
    "/v1/leads/diagnose",
    _COUNTING,
    "Leads",
    "Find out why a search finds no leads",
    "Takes the body of a search and returns what each condition removes. If the search finds no lead, it also returns "
    "the smallest changes that help. Each has the number of leads that it finds, and the body to send. " + _FREE,
    Success("The diagnosis.", (DiagnoseResponse,), examples.diagnoses, headers=_NOTES),
    scope="search",
    body=SearchBody,
    body_examples=examples.DIAGNOSED,
    mistake=_wrong_search,
)
ENRICH = Operation(
    "enrich",
    "POST",
    "/v1/leads/enrich",
    _CHARGING,
    "Leads",
    "Enrich domains",
    "Returns what is stored about each domain: one item per domain, in the order of the request. A domain without "
    "data is also an item, not an error. An old domain that redirects to the website of a lead is answered with that "
    "lead: `data.domain` then differs from `domain`. Costs one API credit, plus one lead credit for each lead found; "
    "a lead that is found by several domains is charged once.",
    Success("The items.", (EnrichResponse, EnrichQuote), examples.enriched, headers=_PAID),
    scope="enrich",
    body=EnrichBody,
    body_examples=examples.ENRICHMENTS,
    charged=True,
    mistake=lambda: read_enrich({"domains": [], "select": ["email"]}, 100),
)
EVIDENCE = Operation(
    "evidence",
    "GET",
    "/v1/leads/{domain}/evidence",
    (*READING_LEADS, NotFound),
    "Leads",
    "Get the sources of a lead's contacts",
    "Lists the pages where each email address and phone number of a lead was seen, and since when. Works for leads "
    "that the account paid for, by a search or an enrichment. Suppressed contacts are not returned. Costs no credits.",
    Success("The contacts with their pages.", (EvidenceResponse,), examples.evidence_found),
    scope="enrich",
    parameters=EvidenceParameters,
    mistake=lambda: read_no_parameters(QueryParams("select=emails")),
)
VALUES = Operation(
    "values",
    "GET",
    VALUES_PATH + "/{field}",
    READING_LEADS,
    "Leads",
    "Complete a value",
    "Lists known values for filters and directives that match `q` by name, alias or code. Exact matches come first, "
    "then names that start with `q`, names with a later word that does, aliases that do, and likely typos. Among "
    "equally good matches, values that more leads have come first; ties are ordered by population for cities, by name "
    "for others. Costs no credits. Responses may be cached for an hour.",
    Success("The best matches.", (ValuesResponse,), examples.completed_values),
    scope="search",
    parameters=ValuesParameters,
    mistake=lambda: read_values("city", QueryParams("limt=5&country=Germny")),
)

OPERATIONS = (SEARCH, PAGE, INTERPRET, FACETS, DIAGNOSE, ENRICH, EVIDENCE, VALUES)
