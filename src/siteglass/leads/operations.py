"""The operations on leads."""

from __future__ import annotations

from starlette.datastructures import QueryParams

from siteglass.billing.responses import CREDIT_HEADERS
from siteglass.errors import (
    BadRequest,
    CreditCapExceeded,
    CursorExpired,
    Forbidden,
    IdempotencyInProgress,
    IdempotencyMismatch,
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
    NOTES_HEADER,
    SEARCH_PATH,
    EnrichQuote,
    EnrichResponse,
    EvidenceResponse,
    InterpretResponse,
    SearchQuote,
    SearchResponse,
    ValuesResponse,
)
from siteglass.leads.values import ValuesParameters, read_values
from siteglass.web.operations import READING, Errors, Operation, Success
from siteglass.web.parameters import read_no_parameters

VALUES_PATH = "/v1/values"

# An enrichment takes one unit of the rate limit for every so many domains begun.
DOMAINS_PER_UNIT = 25
# What an interpretation costs of the rate limit: it counts matches, and costs no credit.
INTERPRET_UNITS = 3

_ESTIMATED = "X-Total-Estimated"
_PAID = (*CREDIT_HEADERS, *RETRY_HEADERS)

_CHARGING: Errors = (
    BadRequest,
    Unauthorized,
    InsufficientCredits,
    CreditCapExceeded,
    Forbidden,
    IdempotencyInProgress,
    PayloadTooLarge,
    UnsupportedMediaType,
    IdempotencyMismatch,
    TooManyRequests,
    Internal,
    Unavailable,
)


def _wrong_search() -> object:
    return read_search({"limt": 5, "min_score": 140}, 0)


SEARCH = Operation(
    "search",
    "POST",
    SEARCH_PATH,
    (*_CHARGING, QueryError),
    "Leads",
    "Find leads",
    "The first page of the leads for which all conditions hold. Costs one lead credit for each lead shown that has an "
    "e-mail address.",
    Success(
        "A page of leads.",
        (SearchResponse, SearchQuote),
        examples.search_pages,
        headers=(*_PAID, NOTES_HEADER, _ESTIMATED),
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
    (*_CHARGING, InvalidCursor, CursorExpired),
    "Leads",
    "Another page of a search",
    "The page at a `next` or `previous` path: POST to the path as it was returned. Costs what a first page costs.",
    Success("A page of leads.", (SearchResponse, SearchQuote), examples.later_pages, headers=(*_PAID, _ESTIMATED)),
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
    (
        BadRequest,
        Unauthorized,
        Forbidden,
        PayloadTooLarge,
        UnsupportedMediaType,
        TooManyRequests,
        Internal,
        Unavailable,
        QueryError,
    ),
    "Leads",
    "What a search means, without running it",
    "Takes the body of a search and returns how it is read: the directives it becomes, the words that say each of "
    "them, what was corrected, assumed, ignored or not understood, and how many leads match. No lead is shown and "
    "nothing is charged. What only shapes a page (`limit`, `select`, `sort`, `dry_run`, `max_lead_credits`, `explain`) "
    f"changes nothing. Takes {INTERPRET_UNITS} units of the rate limit.",
    Success("How the search is read.", (InterpretResponse,), examples.readings, headers=(NOTES_HEADER, _ESTIMATED)),
    scope="search",
    body=SearchBody,
    body_examples=examples.INTERPRETED,
    mistake=_wrong_search,
)
ENRICH = Operation(
    "enrich",
    "POST",
    "/v1/leads/enrich",
    _CHARGING,
    "Leads",
    "What is stored about domains",
    "One item for each domain, in the order of the request; a domain without data is an item too, not an error. Costs "
    "one API credit, and one lead credit for each domain found, a repeated one once.",
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
    (*READING, NotFound),
    "Leads",
    "Where and when the contacts of a lead were seen",
    "For leads that the account paid for, by a search or an enrichment: the pages that showed each address and number, "
    "and since when. What was suppressed is not returned. Costs no credits.",
    Success("The values with their pages.", (EvidenceResponse,), examples.evidence_found),
    scope="enrich",
    parameters=EvidenceParameters,
    mistake=lambda: read_no_parameters(QueryParams("select=emails")),
)
VALUES = Operation(
    "values",
    "GET",
    VALUES_PATH + "/{field}",
    READING,
    "Leads",
    "Known values that complete a text",
    "What filters and directives take, by name, alias or code: equal ones first, then names that begin with `q`, names "
    "of which a later word does, aliases that do, and what looks like a typo; cities by population, others by name. "
    "Costs no credits. A response may be cached for an hour.",
    Success("The values that fit best.", (ValuesResponse,), examples.completed_values),
    scope="search",
    parameters=ValuesParameters,
    mistake=lambda: read_values("city", QueryParams("limt=5&country=Germny")),
)

OPERATIONS = (SEARCH, PAGE, INTERPRET, ENRICH, EVIDENCE, VALUES)
