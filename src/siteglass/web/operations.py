"""The operations, declared: where each is found, which scope of a key it asks for, and every error it can answer.

The routes are made from these, and the OpenAPI document says what stands here.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    QueryError,
    SiteglassError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)

SEARCH_PATH = "/v1/leads/search"
LEDGER_PATH = "/v1/ledger"
VALUES_PATH = "/v1/values"

# The largest page of a search.
MAX_LIMIT = 100
# An enrichment takes one unit of the rate limit for every so many domains begun.
DOMAINS_PER_UNIT = 25
# What a reading costs of the rate limit: it counts matches, and costs no credit.
INTERPRET_UNITS = 3

Errors = tuple[type[SiteglassError], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation."""

    name: str
    """In metrics, logs and as operationId."""
    method: str
    path: str
    errors: Errors
    scope: str = ""
    """What the key must be allowed to do; empty: no key is asked for."""


# Errors of any address: there is none such, or not with this method.
ANYWHERE: Errors = (NotFound, MethodNotAllowed)

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

_READING: Errors = (BadRequest, Unauthorized, Forbidden, TooManyRequests, Internal, Unavailable)

_ANYBODY: Errors = (BadRequest, PayloadTooLarge, UnsupportedMediaType, TooManyRequests, Internal, Unavailable)

SEARCH = Operation("search", "POST", SEARCH_PATH, (*_CHARGING, QueryError), "search")
PAGE = Operation("page", "POST", SEARCH_PATH + "/{cursor}", (*_CHARGING, InvalidCursor, CursorExpired), "search")
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
    "search",
)
ENRICH = Operation("enrich", "POST", "/v1/leads/enrich", _CHARGING, "enrich")
EVIDENCE = Operation("evidence", "GET", "/v1/leads/{domain}/evidence", (*_READING, NotFound), "enrich")
VALUES = Operation("values", "GET", VALUES_PATH + "/{field}", _READING, "search")
ACCOUNT = Operation("account", "GET", "/v1/account", _READING, "account")
USAGE = Operation("usage", "GET", "/v1/usage", _READING, "account")
LEDGER = Operation("ledger", "GET", LEDGER_PATH, _READING, "account")
RECEIPT = Operation("receipt", "GET", LEDGER_PATH + "/{request_id}", (*_READING, NotFound), "account")
# No key is asked for: these are for people whom the data is about, who have none.
OPT_OUT = Operation("opt_out", "POST", "/v1/opt-out", _ANYBODY)
OPT_OUT_CONFIRM = Operation("opt_out_confirm", "POST", "/v1/opt-out/confirm", _ANYBODY)
OPT_OUT_PAGE = Operation("opt_out_page", "GET", "/opt-out", (Internal,))
HEALTHZ = Operation("healthz", "GET", "/healthz", (Internal,))
READYZ = Operation("readyz", "GET", "/readyz", (Internal, Unavailable))
METRICS = Operation("metrics", "GET", "/metrics", (Internal,))
OPENAPI = Operation("openapi", "GET", "/openapi.json", (Internal,))
DOCS = Operation("docs", "GET", "/docs", (Internal,))

OPERATIONS = (
    SEARCH,
    PAGE,
    INTERPRET,
    ENRICH,
    EVIDENCE,
    VALUES,
    ACCOUNT,
    USAGE,
    LEDGER,
    RECEIPT,
    OPT_OUT,
    OPT_OUT_CONFIRM,
    OPT_OUT_PAGE,
    HEALTHZ,
    READYZ,
    METRICS,
    OPENAPI,
    DOCS,
)
