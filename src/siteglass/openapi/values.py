"""Known values in the document: parameters, schema, and an example made by the code that answers."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.datastructures import QueryParams

from siteglass.leads.values import DEFAULT_SHOWN, FIELDS, MAX_Q_CHARS, MAX_SHOWN, NARROWED, read_values, values_response
from siteglass.query.completion import CompletedValue, KnownValue

_TEXT = {"type": "string"}
_OR_NULL = {"type": ["string", "null"]}

VALUES_PATH_AND_QUERY: list[dict[str, Any]] = [
    {
        "name": "field",
        "in": "path",
        "required": True,
        "description": "The field. Names of its filter or directive (`lang`, `technology`) are understood too.",
        "schema": {"type": "string", "enum": list(FIELDS)},
        "example": "city",
    },
    {
        "name": "q",
        "in": "query",
        "description": "The beginning of a name, of a later word of it, of an alias or of a code; at most "
        f"{MAX_Q_CHARS} characters. Case and accents do not matter. Without it: the first values.",
        "schema": {"type": "string", "maxLength": MAX_Q_CHARS},
        "example": "münchen",
    },
    {
        "name": "limit",
        "in": "query",
        "description": f"Values at most, 1 to {MAX_SHOWN}; without it {DEFAULT_SHOWN}.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_SHOWN, "default": DEFAULT_SHOWN},
        "example": 1,
    },
    {
        "name": "country",
        "in": "query",
        "description": f"Only values in this country: code or name. For {' and '.join(NARROWED)}.",
        "schema": {"type": "string", "minLength": 1},
        "example": "DEU",
    },
]


def values_schemas() -> dict[str, Any]:
    """The answer and its elements by name."""
    told: dict[str, dict[str, Any]] = {
        "value": {**_TEXT, "description": "As a filter or directive takes it."},
        "name": {**_TEXT, "description": "What people call it."},
        "matched": {
            **_OR_NULL,
            "description": "The alias or short code that fits `q`; null if name or value do, or are near to it. "
            "Aliases of places and languages are in lower case, without accents.",
        },
    }
    details: dict[str, dict[str, Any]] = {
        "country": {**_OR_NULL, "description": f"Of {' and '.join(NARROWED)}: alpha-3 code."},
        "state": {**_OR_NULL, "description": "Of city: as the filter `state` takes it; null if it is not known."},
        "categories": {"type": "array", "items": _TEXT, "description": "Of technologies: their categories."},
    }
    shown = {"type": "array", "maxItems": MAX_SHOWN, "items": {"$ref": "#/components/schemas/KnownValue"}}
    answer: dict[str, Any] = {
        "field": {"type": "string", "enum": list(FIELDS)},
        "values": {**shown, "description": "Those that fit best first."},
        "more": {"type": "boolean", "description": "Whether more values fit than are shown."},
    }
    return {
        "KnownValue": {
            "type": "object",
            "description": "A value that the service knows.",
            "required": list(told),
            "properties": {**told, **details},
            "additionalProperties": False,
        },
        "ValuesAnswer": {
            "type": "object",
            "description": "Values that complete a text.",
            "required": list(answer),
            "properties": answer,
            "additionalProperties": False,
        },
    }


def _example() -> Any:
    found = [CompletedValue(KnownValue("Munich", "Munich", "DEU", "DE-BY"), "munchen")]
    asked = read_values("city", QueryParams("q=münchen&limit=1&country=DEU"))
    return orjson.loads(values_response(asked, found, more=True).body)


VALUES_ANSWER = _example()
