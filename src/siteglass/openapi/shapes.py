"""Shapes of JSON that several parts of the document are made of."""

from __future__ import annotations

from typing import Any


def shape(description: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """An object that has all these properties and no others."""
    return {
        "type": "object",
        "description": description,
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def said(schema: dict[str, Any], description: str) -> dict[str, Any]:
    """A schema with what it means here."""
    return {**schema, "description": description}


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that allows null as well."""
    return {**schema, "type": [schema["type"], "null"]}
