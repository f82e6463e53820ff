"""The document as a whole: what it says of itself, its paths, and the parts they refer to."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from siteglass import __version__
from siteglass.leads.charging import KEY_HEADER, MAX_KEY_CHARS
from siteglass.leads.examples import NEXT
from siteglass.leads.operations import SEARCH
from siteglass.openapi.errors import error_responses, error_schemas, response_of
from siteglass.openapi.headers import HEADERS, LIMIT_HEADERS, headers, headers_of_any_response
from siteglass.openapi.operations import OPERATIONS
from siteglass.openapi.schemas import parameters, schemas
from siteglass.openapi.texts import INTRODUCTION
from siteglass.settings import Settings
from siteglass.web.deprecations import deprecations_of
from siteglass.web.operations import ANYWHERE, Operation
from siteglass.web.responses import JSON

_TAGS = {
    "Leads": "Search and enrichment, paid with credits. Interpretation and counts of searches, and known values.",
    "Lists": "Lists of domains that searches exclude or are limited to. Free of charge.",
    "Searches": "Saved searches, to run and count again. Saving and counting are free of charge.",
    "Watches": "Saved searches that run again and report what is new. Free of charge without a ceiling of credits.",
    "Jobs": "Enrichments of many domains and searches of many leads, worked off in batches.",
    "Account": "Balance, usage and ledger of the key's account. Free of charge.",
    "Opt-out": "For the people in the data. No key is required.",
    "Service": "About the service itself. No key is required; free of charge.",
}

_RETRY = {
    "name": KEY_HEADER,
    "in": "header",
    "required": False,
    "description": "A unique name that you choose for this request, such as a UUID. Repeating the request with the "
    "same key within 24 hours returns the first response and costs nothing.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS},
    "example": "8e03978e-40d5-43e8-bc93-6894a57f9324",
}


@functools.cache
def document(settings: Settings) -> dict[str, Any]:
    """OpenAPI 3.1 of all operations of customers, and of those without a key."""
    made = assemble(
        OPERATIONS,
        settings,
        {
            "title": "Siteglass",
            "summary": "Find websites by what they are, use and say, with the contact details that they publish.",
            "version": __version__,
            "description": INTRODUCTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        _TAGS,
        {
            "ApiKey": {
                "type": "apiKey",
                "in": "header",
                "name": "X-API-Key",
                "description": "`sg_live_` or `sg_test_`, followed by 30 letters and digits and a checksum of 6.",
            }
        },
        schemas(settings),
    )
    # No operation returns these: they are for every other address and method.
    made["components"]["responses"] = {kind.__name__: response_of((kind,), SEARCH, settings) for kind in ANYWHERE}
    return made


def assemble(
    operations: Sequence[Operation],
    settings: Settings,
    info: dict[str, Any],
    tags: dict[str, str],
    security: dict[str, dict[str, str]],
    bodies: dict[str, Any],
) -> dict[str, Any]:
    """A document of these operations, with one way to prove who calls and the schemas of their bodies."""
    (scheme,) = security
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, settings, scheme)
    return {
        "openapi": "3.1.0",
        "info": info,
        # A path is taken as one of the address that the document came from.
        "servers": [{"url": settings.public_url.rstrip("/") or "/"}],
        "tags": [{"name": name, "description": description} for name, description in tags.items()],
        "paths": paths,
        "components": {
            "securitySchemes": security,
            "headers": HEADERS,
            "schemas": {**bodies, **error_schemas(operations)},
        },
    }


def _operation(operation: Operation, settings: Settings, scheme: str) -> dict[str, Any]:
    return {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
        **({"deprecated": True} if any(row.kind == "operation" for row in deprecations_of(operation.name)) else {}),
        # In 3.1 the list names what the key must be allowed to do.
        "security": [{scheme: [operation.scope]}] if operation.scope else [],
        **_input(operation, settings),
        "responses": {str(operation.success.status): _success(operation), **error_responses(operation, settings)},
    }


def _input(operation: Operation, settings: Settings) -> dict[str, Any]:
    """The parameters and the body."""
    taken = parameters(operation.parameters, operation.path) if operation.parameters else []
    for parameter in taken:
        if parameter["name"] == "cursor":
            hours = f"{settings.cursor_life_s / 3600:g}"
            parameter["description"] = parameter["description"].replace("{cursor_hours}", hours)
            parameter["example"] = NEXT
        if any(row.kind == "request" and row.field == parameter["name"] for row in deprecations_of(operation.name)):
            parameter["deprecated"] = True
    if operation.charged or operation.has_key:
        taken = [*taken, _RETRY]
    described: dict[str, Any] = {"parameters": taken} if taken else {}
    if operation.body is not None:
        may_be_empty = " May be empty." if operation.body_may_be_empty else ""
        described["requestBody"] = {
            "description": f"At most {operation.max_body_bytes or settings.max_body_bytes:,} bytes.{may_be_empty}",
            "required": not operation.body_may_be_empty,
            "content": {
                JSON: {
                    "schema": _reference(operation.body),
                    **({"examples": operation.body_examples} if operation.body_examples else {}),
                }
            },
        }
    return described


def _success(operation: Operation) -> dict[str, Any]:
    success = operation.success
    content: dict[str, Any] = {}
    examples = success.examples()
    if examples or success.bodies:
        options = [_reference(body) for body in success.bodies] or [{"type": "object"}]
        schema = options[0] if len(options) == 1 else {"oneOf": options}
        content[JSON] = {"schema": schema, **({"examples": examples} if examples else {})}
    for media_type, example in success.other_media.items():
        named = {"response": {"summary": success.description, "value": example()}}
        content[media_type] = {"schema": {"type": "string"}, "examples": named}
    return {
        "description": success.description,
        "headers": headers(
            *success.headers, *(LIMIT_HEADERS if operation.is_rate_limited else ()), *headers_of_any_response(operation)
        ),
        "content": content,
    }


def _reference(body: type) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{body.__name__}"}
