"""Errors in the document: a schema for each class, a response for each status, and examples that the classes speak."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import orjson
from starlette.datastructures import QueryParams

from siteglass import errors
from siteglass.billing.requests import read_ledger, read_usage
from siteglass.errors import MAX_DETAILS, SiteglassError
from siteglass.leads.requests import read_enrich, read_page, read_search
from siteglass.leads.values import read_values
from siteglass.openapi.headers import EXAMPLE_REQUEST_ID, LIMIT_HEADERS, headers
from siteglass.privacy.requests import read_ask, read_confirm
from siteglass.settings import Settings
from siteglass.web.operations import (
    ACCOUNT,
    ANYWHERE,
    ENRICH,
    EVIDENCE,
    LEDGER,
    OPERATIONS,
    OPT_OUT,
    OPT_OUT_CONFIRM,
    PAGE,
    RECEIPT,
    USAGE,
    VALUES,
    Errors,
    Operation,
)
from siteglass.web.parameters import read_no_parameters
from siteglass.web.responses import error_response


def _raised(read: Callable[[], object]) -> SiteglassError:
    """The error that reading a wrong body ends in."""
    try:
        read()
    except SiteglassError as error:
        return error
    raise TypeError("the example of a wrong body is right")


# Who comes there has no account.
_FREE = (OPT_OUT, OPT_OUT_CONFIRM)
# A wrong query string of each operation that takes no body.
_WRONG_PARAMETERS: dict[Operation, tuple[str, Callable[[QueryParams], object]]] = {
    VALUES: ("limt=5&country=Germny", lambda given: read_values("city", given)),
    ACCOUNT: ("verbose=1", read_no_parameters),
    USAGE: ("form=2026-11-01&key=mine", lambda given: read_usage(given, date(2026, 11, 15))),
    LEDGER: ("from=yesterday&limit=0", read_ledger),
    RECEIPT: ("domains=1", read_no_parameters),
    EVIDENCE: ("select=emails", read_no_parameters),
}


def _bad_request(declared: Operation, settings: Settings) -> SiteglassError:
    if declared in _WRONG_PARAMETERS:
        wrong_parameters, read = _WRONG_PARAMETERS[declared]
        return _raised(lambda: read(QueryParams(wrong_parameters)))
    if declared is OPT_OUT:
        return _raised(lambda: read_ask({"mail": "jo@example.com", "request": "delete"}))
    if declared is OPT_OUT_CONFIRM:
        return _raised(lambda: read_confirm({"code": "7K2M-X94D-QRTV"}))
    if declared is PAGE:
        return _raised(lambda: read_page({"limit": 0}, 20))
    if declared is ENRICH:
        wrong = {"domains": [], "select": ["email"]}
        return _raised(lambda: read_enrich(wrong, settings.max_enrich_domains))
    return _raised(lambda: read_search({"limt": 5, "min_score": 140}, 0))


def example(kind: type[SiteglassError], declared: Operation, settings: Settings) -> SiteglassError:
    """An error of this class as the operation answers it."""
    api = 1 if declared is ENRICH else 0
    made: dict[type[SiteglassError], Callable[[], SiteglassError]] = {
        errors.BadRequest: lambda: _bad_request(declared, settings),
        errors.QueryError: lambda: _raised(
            lambda: read_search({"wrapped_query": "@country(USA)\n@technologies(Wix)"}, 0)
        ),
        errors.InvalidCursor: errors.InvalidCursor,
        errors.Unauthorized: errors.Unauthorized,
        errors.InsufficientCredits: lambda: errors.InsufficientCredits(
            need_api=api, need_lead=17, balance_api=990, balance_lead=3
        ),
        errors.CreditCapExceeded: lambda: errors.CreditCapExceeded(
            "the daily lead cap of the key leaves", need=17, left=3
        ),
        errors.Forbidden: lambda: errors.Forbidden(declared.scope),
        errors.NotFound: lambda: (
            errors.NotFound(RECEIPT.path.replace("{request_id}", EXAMPLE_REQUEST_ID), receipt=True)
            if declared is RECEIPT
            else errors.NotFound("example.com", lead=True)
            if declared is EVIDENCE
            else errors.NotFound("/v1/leads")
        ),
        errors.MethodNotAllowed: lambda: errors.MethodNotAllowed("GET", [declared.method]),
        errors.IdempotencyInProgress: errors.IdempotencyInProgress,
        errors.CursorExpired: errors.CursorExpired,
        errors.PayloadTooLarge: lambda: errors.PayloadTooLarge(settings.max_body_bytes),
        errors.UnsupportedMediaType: errors.UnsupportedMediaType,
        errors.IdempotencyMismatch: errors.IdempotencyMismatch,
        errors.TooManyRequests: lambda: errors.TooManyRequests(1),
        errors.Internal: errors.Internal,
        errors.Unavailable: lambda: errors.Unavailable("not told", has_price=declared not in _FREE),
    }
    return made[kind]()


def _spelled(error: SiteglassError) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(error_response(error).body)
    return body


def meaning(kind: type[SiteglassError]) -> str:
    """What an error class says of itself, up to what concerns its makers."""
    return re.split(r"[;:.\n]", kind.__doc__ or "")[0] + "."


def problem_schema() -> dict[str, Any]:
    """An element of `details`."""
    place = {"type": "integer", "minimum": 1}
    return {
        "type": "object",
        "description": "One thing that is wrong with a request.",
        "required": ["field", "message"],
        "properties": {
            "field": {
                "type": "string",
                "description": "The field of the body, `body` for all of it; or the parameter.",
            },
            "message": {"type": "string", "description": "What was expected and what was found."},
            "line": {**place, "description": "Line of `wrapped_query` or `query`, from 1."},
            "column": {**place, "description": "Character of that line, from 1."},
            "nearest": {"type": "string", "description": "The known name or value most like the one sent."},
        },
        "additionalProperties": False,
    }


def error_schemas(settings: Settings) -> dict[str, Any]:
    """A schema for every error class: exactly `error` and `message`, and `details` where the class has them."""
    declaring = {kind: declared for declared in reversed(OPERATIONS) for kind in (*ANYWHERE, *declared.errors)}
    made: dict[str, Any] = {}
    for kind, declared in declaring.items():
        properties: dict[str, Any] = {
            "error": {"const": kind.code},
            "message": {"type": "string", "description": "What happened and what to do, for people."},
        }
        if example(kind, declared, settings).problems:
            problems = {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_DETAILS,
                "items": {"$ref": "#/components/schemas/Problem"},
            }
            properties["details"] = {
                **problems,
                "description": "The problems found, the first one first; `message` says how many there are.",
            }
        made[kind.__name__] = {
            "type": "object",
            "description": meaning(kind),
            "required": list(properties),
            "properties": properties,
            "additionalProperties": False,
        }
    return dict(sorted(made.items()))


def _schema(kinds: Sequence[type[SiteglassError]]) -> dict[str, Any]:
    references = {kind.code: f"#/components/schemas/{kind.__name__}" for kind in kinds}
    if len(references) == 1:
        return {"$ref": next(iter(references.values()))}
    return {
        "oneOf": [{"$ref": reference} for reference in references.values()],
        "discriminator": {"propertyName": "error", "mapping": references},
    }


def response_of(kinds: Sequence[type[SiteglassError]], declared: Operation, settings: Settings) -> dict[str, Any]:
    """The response for errors that share a status."""
    examples = [example(kind, declared, settings) for kind in kinds]
    own = [name for name in ("Allow", "Retry-After") if any(name in error.headers for error in examples)]
    has_limit = declared.scope or declared in (OPT_OUT, OPT_OUT_CONFIRM)
    behind_limit = has_limit and kinds[0] in declared.errors and kinds[0] is not errors.Forbidden
    limited = LIMIT_HEADERS if behind_limit else ()
    return {
        "description": " ".join(f"`{kind.code}`: {meaning(kind)}" for kind in kinds),
        "headers": headers(*limited, *own),
        "content": {
            "application/json": {
                "schema": _schema(kinds),
                "examples": {
                    error.code: {"summary": meaning(type(error)), "value": _spelled(error)} for error in examples
                },
            }
        },
    }


def failures(declared: Operation, settings: Settings) -> dict[str, Any]:
    """One response for each status that the operation's errors have."""
    by_status: dict[int, Errors] = {}
    for kind in declared.errors:
        by_status[kind.status] = (*by_status.get(kind.status, ()), kind)
    return {str(status): response_of(kinds, declared, settings) for status, kinds in sorted(by_status.items())}
