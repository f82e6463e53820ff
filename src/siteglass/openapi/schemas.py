"""JSON Schema of the structs that requests and responses are declared with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from siteglass.leads.records import Enrichment, Filters, Lead
from siteglass.openapi.operations import OPERATIONS
from siteglass.settings import Settings
from siteglass.web.deprecations import Deprecation, deprecations_of
from siteglass.web.messages import Parameters, names_of
from siteglass.web.operations import Operation
from siteglass.web.responses import ProblemDetail

Schema = dict[str, Any]

# Parts that messages refer to by name.
_PARTS = (Filters, Lead, Enrichment, ProblemDetail)


def schemas(settings: Settings) -> Schema:
    """The schema of every body, by name."""
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    responses = [body for operation in OPERATIONS for body in operation.success.bodies]
    made = components((*_PARTS, *bodies, *responses))
    for operation in OPERATIONS:
        for row in deprecations_of(operation.name):
            for body in _bodies_with(row, operation):
                made[body.__name__]["properties"][row.field]["deprecated"] = True
    made["EnrichBody"]["properties"]["domains"]["maxItems"] = settings.max_enrich_domains
    made["EnrichResponse"]["properties"]["results"]["maxItems"] = settings.max_enrich_domains
    return made


def _bodies_with(row: Deprecation, operation: Operation) -> list[type[msgspec.Struct]]:
    """The bodies of an operation that have the field of a deprecation. A parameter is in none."""
    bodies = {"operation": (), "request": (operation.body,), "response": operation.success.bodies}[row.kind]
    return [body for body in bodies if body is not None and row.field in names_of(body)]


def parameters(kind: type[Parameters], path: str) -> list[Schema]:
    """The parameters of an operation as OpenAPI lists them."""
    schema = components((kind,))[kind.__name__]
    return [_parameter(name, dict(part), path) for name, part in schema["properties"].items()]


def _parameter(name: str, schema: Schema, path: str) -> Schema:
    in_path = f"{{{name}}}" in path
    described = {"name": name, "in": "path" if in_path else "query", "description": schema.pop("description")}
    examples = schema.pop("examples", None)
    if in_path:
        described["required"] = True
    return {**described, "schema": schema, **({"example": examples[0]} if examples else {})}


def components(kinds: Iterable[type[msgspec.Struct]]) -> Schema:
    """The schemas of structs and of their parts, by name."""
    _, made = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    return {name: _tidy(schema) for name, schema in made.items()}


def _tidy(schema: Any) -> Any:
    """The same schema as people would write it: `null` among the types, no defaults, no other properties.

    A `default` would make a property required in types that are generated from the document.
    """
    if isinstance(schema, list):
        return [_tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "properties" in schema:
        properties = {name: _tidy(part) for name, part in schema["properties"].items()}
        required = schema.get("required")
        return {
            "type": "object",
            **({"description": schema["description"]} if "description" in schema else {}),
            **({"required": required} if required else {}),
            "properties": properties,
            "additionalProperties": False,
        }
    made = {name: _tidy(part) if name != "examples" else part for name, part in schema.items() if name != "default"}
    if "$ref" in made:
        made.pop("type", None)
    return _with_null(made)


def _with_null(schema: Schema) -> Schema:
    """`anyOf: [X, null]` as X that may be null, with its description outside."""
    if schema.get("anyOf", [])[1:] != [{"type": "null"}]:
        return schema
    inner = schema["anyOf"][0]
    outer = {name: part for name, part in schema.items() if name != "anyOf"}
    if "$ref" in inner:
        described = {name: part for name, part in inner.items() if name != "$ref"}
        return {**outer, **described, "anyOf": [{"$ref": inner["$ref"]}, {"type": "null"}]}
    if "enum" in inner:
        return {**outer, **inner, "type": [inner.get("type", "string"), "null"], "enum": [*inner["enum"], None]}
    return {**outer, **inner, "type": [inner["type"], "null"]}
