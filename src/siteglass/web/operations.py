"""What an operation is: where it is found, what it takes and returns, which key it needs, and every error it returns.

Each package declares its own in `operations.py`. Routes are made from these, and so is the OpenAPI document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from siteglass.errors import (
    AccountSuspended,
    BadRequest,
    Forbidden,
    Internal,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    SiteglassError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from siteglass.web.messages import Parameters, RequestBody, ResponseBody

# The largest page of a search.
MAX_LIMIT = 100

Errors = tuple[type[SiteglassError], ...]
Examples = dict[str, dict[str, Any]]
"""By name: a summary and the value."""

# Errors of any address: there is none such, or not with this method.
ANYWHERE: Errors = (NotFound, MethodNotAllowed)
# Errors of operations that read without charging, and of those that need no key.
READING: Errors = (BadRequest, Unauthorized, Forbidden, TooManyRequests, Internal, Unavailable)
# Of those among them that show more than the account itself: a suspended account gets none of it.
READING_LEADS: Errors = (*READING, AccountSuspended)
WITHOUT_KEY: Errors = (BadRequest, PayloadTooLarge, UnsupportedMediaType, TooManyRequests, Internal, Unavailable)


def no_examples() -> Examples:
    """For what has none."""
    return {}


def one_example(summary: str, value: object) -> Examples:
    """A response as it is sent."""
    return {"response": {"summary": summary, "value": msgspec.to_builtins(value)}}


@dataclass(frozen=True, slots=True, eq=False)
class Success:
    """The response of an operation that succeeded."""

    description: str
    bodies: tuple[type[ResponseBody], ...] = ()
    """What it may be; none if it is not JSON."""
    examples: Callable[[], Examples] = no_examples
    """Made when the document is, since some need the tables of the language."""
    status: int = 200
    headers: tuple[str, ...] = ()
    other_media: dict[str, Callable[[], str]] = field(default_factory=dict)
    """Other media types with an example of each."""


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One operation."""

    name: str
    """In metrics, logs and as operationId."""
    method: str
    path: str
    errors: Errors
    tag: Literal["Leads", "Lists", "Searches", "Watches", "Jobs", "Account", "Opt-out", "Service", "Console"]
    summary: str
    description: str
    success: Success
    scope: str = ""
    """What the key must be allowed to do, in the console the role; empty: no key is needed."""
    parameters: type[Parameters] | None = None
    body: type[RequestBody] | None = None
    body_examples: Examples = field(default_factory=dict)
    body_may_be_empty: bool = False
    max_body_bytes: int | None = None
    """None: as the setting says."""
    charged: bool = False
    """Whether it costs credits, and so takes an Idempotency-Key."""
    has_key: bool = False
    """Whether it takes an Idempotency-Key without being charged itself."""
    mistake: Callable[[], object] | None = None
    """Reads a wrong request, and raises: the example of BadRequest."""

    @property
    def is_rate_limited(self) -> bool:
        """By the limits of a key, or of a caller without one who sends a body."""
        return self.tag != "Console" and (bool(self.scope) or self.body is not None)


class StatusResponse(ResponseBody):
    """Whether the worker lives, or can serve requests."""

    status: Literal["ok", "ready"]


def _status(word: Literal["ok", "ready"]) -> Callable[[], Examples]:
    return lambda: {"response": {"summary": word, "value": {"status": word}}}


HEALTHZ = Operation(
    "healthz",
    "GET",
    "/healthz",
    (Internal,),
    "Service",
    "Check whether the process is alive",
    "Does not contact any engine. Use it to restart a worker that hangs.",
    Success("Alive.", (StatusResponse,), _status("ok")),
)
READYZ = Operation(
    "readyz",
    "GET",
    "/readyz",
    (Internal, Unavailable),
    "Service",
    "Check whether the service can serve requests",
    "Checks the engines: an index exists and can be read, and the tables match this build. Use it to send traffic "
    "elsewhere.",
    Success("Ready.", (StatusResponse,), _status("ready")),
)
OPENAPI = Operation(
    "openapi",
    "GET",
    "/openapi.json",
    (Internal,),
    "Service",
    "This document",
    "OpenAPI 3.1, generated from the code.",
    Success("The document.", examples=lambda: {"response": {"summary": "Its start", "value": {"openapi": "3.1.0"}}}),
)
LANDING = Operation(
    "landing",
    "GET",
    "/",
    (Internal,),
    "Service",
    "Show what this service is",
    "A short page with links to the docs, the API reference, the opt-out page and, where it is set up, the dashboard. "
    "Its search box (`?q=`) needs no account: it searches the made-up leads of test keys.",
    Success("The page.", other_media={"text/html": lambda: "<!doctype html>"}),
)
DOCS = Operation(
    "docs",
    "GET",
    "/docs",
    (Internal,),
    "Service",
    "List the docs",
    "Guides, errors and reference by audience. Each error response links to the explanation of its code, such as "
    "`/docs/errors/INVALID_REQUEST`.",
    Success("The page.", other_media={"text/html": lambda: "<!doctype html>"}),
)
API_REFERENCE = Operation(
    "api_reference",
    "GET",
    "/docs/api",
    (Internal,),
    "Service",
    "Show the API reference",
    "Read the reference and try calls with a key. Loads nothing from other hosts.",
    Success("The page.", other_media={"text/html": lambda: "<!doctype html>"}),
)

OPERATIONS = (HEALTHZ, READYZ, OPENAPI, LANDING, DOCS, API_REFERENCE)
