"""Errors in the document: a schema for each class, a response for each status, and examples made by the classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from siteglass import errors
from siteglass.billing.operations import RECEIPT
from siteglass.billing.requests import EXAMPLE_REQUEST_ID
from siteglass.errors import SiteglassError
from siteglass.leads.operations import ENRICH, EVIDENCE
from siteglass.leads.requests import read_search
from siteglass.openapi.headers import LIMIT_HEADERS, headers, headers_of_any_response
from siteglass.openapi.schemas import components
from siteglass.openapi.texts import meaning
from siteglass.settings import Settings
from siteglass.web.operations import ANYWHERE, Errors, Operation
from siteglass.web.responses import JSON, ErrorResponse, error_response

# They carry problems.
_WITH_DETAILS = (errors.BadRequest, errors.InvalidCursor)


def _raised(read: Callable[[], object] | None) -> SiteglassError:
    """The error that reading a wrong request ends in."""
    try:
        if read is not None:
            read()
    except SiteglassError as error:
        return error
    raise TypeError("the example of a wrong request is right")


def example(kind: type[SiteglassError], operation: Operation, settings: Settings) -> SiteglassError:
    """An error of this class as the operation returns it."""
    made: dict[type[SiteglassError], Callable[[], SiteglassError]] = {
        errors.InvalidCursor: errors.InvalidCursor,
        errors.Unauthorized: errors.Unauthorized,
        errors.IdempotencyInProgress: errors.IdempotencyInProgress,
        errors.IdempotencyPriceChanged: lambda: errors.IdempotencyPriceChanged(17),
        errors.CursorExpired: errors.CursorExpired,
        errors.UnsupportedMediaType: errors.UnsupportedMediaType,
        errors.IdempotencyMismatch: errors.IdempotencyMismatch,
        errors.Internal: errors.Internal,
        errors.BadRequest: lambda: _raised(operation.mistake),
        errors.QueryError: lambda: _raised(
            lambda: read_search({"wrapped_query": "@country(USA)\n@technologies(Wix)"}, 0)
        ),
        errors.InsufficientCredits: lambda: errors.InsufficientCredits(
            need_api=1 if operation is ENRICH else 0, need_lead=17, balance_api=990, balance_lead=3
        ),
        errors.CreditCapExceeded: lambda: errors.CreditCapExceeded("the key's daily lead cap leaves", need=17, left=3),
        errors.Forbidden: lambda: (
            errors.Forbidden(desk=operation.scope) if operation.tag == "Console" else errors.Forbidden(operation.scope)
        ),
        errors.AccountSuspended: lambda: errors.AccountSuspended("Invoice 2026-114 is not paid"),
        errors.NotFound: lambda: _not_found(operation),
        errors.MethodNotAllowed: lambda: errors.MethodNotAllowed("GET", [operation.method]),
        errors.PayloadTooLarge: lambda: errors.PayloadTooLarge(settings.max_body_bytes),
        errors.TooManyRequests: lambda: errors.TooManyRequests(1),
        # Requests that need no key have no price.
        errors.Unavailable: lambda: errors.Unavailable("an example", has_price=operation.tag != "Opt-out"),
    }
    return made[kind]()


def _not_found(operation: Operation) -> SiteglassError:
    if operation is RECEIPT:
        return errors.NotFound(RECEIPT.path.replace("{request_id}", EXAMPLE_REQUEST_ID), missing="receipt")
    if operation.tag == "Lists":
        return errors.NotFound("customers", missing="list")
    if operation.tag == "Searches":
        return errors.NotFound("slow-shops-in-texas", missing="saved search")
    if operation.tag == "Console":
        return errors.NotFound("4711", missing="account")
    if operation is EVIDENCE:
        return errors.NotFound("example.com", missing="lead")
    return errors.NotFound("/v1/leads")


def error_schemas(operations: Sequence[Operation]) -> dict[str, Any]:
    """A schema for every error class: exactly `error` and `message`, and `details` where the class has problems."""
    whole = components((ErrorResponse,))["ErrorResponse"]
    kinds = {kind for operation in operations for kind in (*ANYWHERE, *operation.errors)}
    made: dict[str, Any] = {}
    for kind in sorted(kinds, key=lambda kind: kind.__name__):
        properties = {**whole["properties"], "error": {"const": kind.code}}
        if not issubclass(kind, _WITH_DETAILS):
            del properties["details"]
        made[kind.__name__] = {
            **whole,
            "description": meaning(kind),
            "required": list(properties),
            "properties": properties,
        }
    return made


def _schema(kinds: Sequence[type[SiteglassError]]) -> dict[str, Any]:
    references = {kind.code: f"#/components/schemas/{kind.__name__}" for kind in kinds}
    if len(references) == 1:
        return {"$ref": next(iter(references.values()))}
    return {
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "error", "mapping": references},
    }


def response_of(kinds: Sequence[type[SiteglassError]], operation: Operation, settings: Settings) -> dict[str, Any]:
    """The response for errors that share a status."""
    made = [example(kind, operation, settings) for kind in kinds]
    own = [
        name for name in ("Allow", "Retry-After", "WWW-Authenticate") if any(name in error.headers for error in made)
    ]
    after_limit = operation.is_rate_limited and kinds[0] in operation.errors and kinds[0] is not errors.Forbidden
    named = {
        error.code: {"summary": meaning(type(error)), "value": orjson.loads(error_response(error).body)}
        for error in made
    }
    return {
        "description": " ".join(f"`{kind.code}`: {meaning(kind)}" for kind in kinds),
        "headers": headers("Link", *(LIMIT_HEADERS if after_limit else ()), *own, *headers_of_any_response(operation)),
        "content": {JSON: {"schema": _schema(kinds), "examples": named}},
    }


def error_responses(operation: Operation, settings: Settings) -> dict[str, Any]:
    """One response for each status that the operation's errors have."""
    by_status: dict[int, Errors] = {}
    for kind in operation.errors:
        by_status[kind.status] = (*by_status.get(kind.status, ()), kind)
    return {str(status): response_of(kinds, operation, settings) for status, kinds in sorted(by_status.items())}
