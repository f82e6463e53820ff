"""Tables of requests and responses, from the OpenAPI document, which is made from the structs that declare them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from reference.markdown import code, json_code, plain, table
from siteglass.openapi.document import document
from siteglass.settings import Settings
from siteglass.web.operations import Operation

_FORMATS = {"date-time": "time", "date": "day"}


@cache
def _document() -> dict[str, Any]:
    """Made when the first table is: tests that only name this module need not wait a second for it."""
    return document(Settings())


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a body."""
    schema: dict[str, Any] = _document()["components"]["schemas"][name]
    return schema


def response_example(operation: Operation) -> Any:
    """The example that the document shows of an operation's response."""
    described = _document()["paths"][operation.path][operation.method.lower()]
    media = described["responses"][str(operation.success.status)]["content"]["application/json"]
    return next(iter(media["examples"].values()))["value"]


def parameters_of(operation: Operation) -> list[dict[str, Any]]:
    """The parameters of an operation that are sent after `?` or in the path."""
    described: list[dict[str, Any]] = _document()["paths"][operation.path][operation.method.lower()].get(
        "parameters", []
    )
    return described


def parameter_table(operation: Operation) -> str:
    """The parameters with their meaning."""
    rows = [
        [code(one["name"]), plain(one["description"]), code(str(one["example"]))] for one in parameters_of(operation)
    ]
    return table(["parameter", "meaning", "example"], rows)


def body_table(name: str, fields: Iterable[str] | None = None) -> str:
    """The fields of a request body, all or some."""
    properties = schema_of(name)["properties"]
    rows = [
        [
            code(field),
            type_of(schema).removesuffix(" or null"),
            plain(_meaning(schema)),
            json_code(schema["examples"][0]),
            _bounds(schema),
        ]
        for field, schema in ((field, properties[field]) for field in fields or properties)
    ]
    return table(["name", "type", "meaning", "example", "bounds"], rows)


def response_table(operation: Operation, name: str) -> str:
    """Every field of a response, those of its parts too, by path."""
    rows = [
        [code(path), type_of(schema), plain(_meaning(schema)), json_code(example)]
        for path, schema, example in _leaves("", schema_of(name), response_example(operation))
    ]
    return table(["field", "type", "meaning", "example"], rows)


def _leaves(path: str, schema: dict[str, Any], example: Any) -> list[tuple[str, dict[str, Any], Any]]:
    """Every field below, by its path, with the example of it."""
    if "anyOf" in schema and example is not None:
        schema = schema["anyOf"][0]
    if "$ref" in schema:
        schema = schema_of(schema["$ref"].rpartition("/")[2])
    if "properties" in schema and example is not None:
        return [
            leaf
            for name, below in schema["properties"].items()
            for leaf in _leaves(f"{path}.{name}".lstrip("."), below, example[name])
        ]
    if isinstance(example, list) and example and not isinstance(example[0], str):
        return _leaves(f"{path}[]", schema["items"], example[0])
    return [(path, schema, example)]


def type_of(schema: dict[str, Any]) -> str:
    """What kind of value it is; `null` in a request means not given, and is not listed."""
    if "anyOf" in schema:
        return "object or null"
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    if kind.startswith("array"):
        kind = kind.replace("array", "array of strings") if schema["items"].get("type") == "string" else kind
    return kind.replace("string", _FORMATS.get(schema.get("format", ""), "string"))


def _meaning(schema: dict[str, Any]) -> str:
    listed = [value for value in schema.get("enum", ()) if value is not None]
    values = f"One of {', '.join(map(code, listed))}." if listed else ""
    # What comes after the first paragraph, such as the table of directives, has its own page.
    first = schema.get("description", "").partition("\n\n")[0].replace("\n", " ")
    return f"{first} {values}".strip()


def _bounds(schema: dict[str, Any]) -> str:
    if "maximum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,}"
    if "maxLength" in schema:
        return f"at most {schema['maxLength']:,} characters"
    if "maxItems" in schema:
        return f"{schema.get('minItems', 0)} to {schema['maxItems']}"
    return "[fields](fields.md)" if "enum" in schema.get("items", {}) else ""
