"""The OpenAPI document, made from the catalogue and the error tree."""

from __future__ import annotations

import functools
from typing import Any

from siteglass import __version__
from siteglass.api.requests import DEFAULT_LIMIT, DEFAULT_SORT, MAX_LIMIT
from siteglass.errors import SiteglassError
from siteglass.query.directives import MAX_TEXT_CHARS
from siteglass.query.field import Field, Filter, Form, Show
from siteglass.query.fields import BY_NAME, ENRICH_FIELDS, FIELDS, SEARCH_DEFAULT, SEARCH_SELECTABLE, SORTS
from siteglass.query.natural import MAX_QUERY_CHARS

_STRINGS = {"type": "array", "items": {"type": "string"}}


def _shown(field: Field, show: Show, *, enrich: bool) -> dict[str, Any]:
    kind = show.enrich_type if enrich and show.enrich_type else show.type
    schemas: dict[str, dict[str, Any]] = {
        "string": {"type": "string"},
        "strings": dict(_STRINGS),
        "object": {"type": "object", "additionalProperties": {"type": "string"}},
        "integer": {"type": ["integer", "null"]},
        "boolean": {"type": ["boolean", "null"]},
        "time": {"type": ["string", "null"], "format": "date-time"},
    }
    schema = {**schemas[kind], "description": field.meaning}
    return schema if enrich and show.enrich_type else {**schema, "examples": [field.example]}


def _filter(filter_: Filter, bounds: tuple[int, int]) -> dict[str, Any]:
    schemas: dict[Form, dict[str, Any]] = {
        Form.ONE: {"type": "string"},
        Form.MANY: dict(_STRINGS),
        Form.MIN: {"type": "integer", "minimum": bounds[0], "maximum": bounds[1]},
        Form.MAX: {"type": "integer", "minimum": bounds[0], "maximum": bounds[1]},
        Form.SPAN: {"type": "string"},
        Form.COMPARISON: {"type": "string"},
        Form.MOMENT: {"type": "string", "format": "date-time"},
        Form.SWITCH: {"type": "boolean"},
    }
    return {**schemas[filter_.form], "description": filter_.meaning, "examples": [filter_.example]}


def _search_body() -> dict[str, Any]:
    properties: dict[str, Any] = {
        "query": {"type": "string", "maxLength": MAX_QUERY_CHARS, "description": "What to find, in plain language."},
        "wrapped_query": {
            "type": "string",
            "maxLength": MAX_TEXT_CHARS,
            "description": "Directive text, one condition per line; `query` beside it is not read.",
            "examples": ["@country(USA)\n!@technology(Wix)"],
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        "select": {"type": "array", "items": {"enum": list(SEARCH_SELECTABLE)}},
        "sort": {"enum": list(SORTS), "default": DEFAULT_SORT},
    }
    for field in FIELDS:
        for filter_ in field.ask.filters if field.ask else ():
            properties[filter_.name] = _filter(filter_, field.ask.bounds if field.ask else (0, 0))
            if filter_.alias:
                properties[filter_.alias] = properties[filter_.name]
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _record(names: tuple[str, ...], *, enrich: bool) -> dict[str, Any]:
    shown = ((BY_NAME[name], BY_NAME[name].show) for name in names)
    properties = {field.name: _shown(field, show, enrich=enrich) for field, show in shown if show}
    return {"type": "object", "properties": properties}


def _errors() -> dict[str, Any]:
    def all_below(kind: type[SiteglassError]) -> list[type[SiteglassError]]:
        return [found for below in kind.__subclasses__() for found in (below, *all_below(below))]

    by_status: dict[int, list[str]] = {}
    for kind in all_below(SiteglassError):
        by_status.setdefault(kind.status, []).append(kind.code)
    return {
        str(status): {
            "description": ", ".join(codes),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status, codes in sorted(by_status.items())
    }


def _operation(summary: str, body: str, answer: str, *, cursor: bool = False) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": summary,
        "requestBody": {
            "required": not cursor,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}},
        },
        "responses": {
            "200": {
                "description": "Answered",
                "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{answer}"}}},
            },
            **_errors(),
        },
    }
    if cursor:
        operation["parameters"] = [{"name": "cursor", "in": "path", "required": True, "schema": {"type": "string"}}]
    return {"post": operation}


@functools.cache
def document() -> dict[str, Any]:
    """OpenAPI 3.1 of all operations."""
    item = {
        "type": "object",
        "required": ["status", "domain"],
        "properties": {
            "status": {"enum": ["success", "not_found", "error"]},
            "domain": {"type": "string"},
            "data": _record(ENRICH_FIELDS, enrich=True),
            "message": {"type": "string"},
        },
    }
    path = {"type": ["string", "null"]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Siteglass", "version": __version__},
        "security": [{"key": []}],
        "paths": {
            "/v1/leads/search": _operation("Find leads", "Search", "Page"),
            "/v1/leads/search/{cursor}": _operation("Another page of a search", "NextPage", "Page", cursor=True),
            "/v1/leads/enrich": _operation("Stored data of domains", "Enrich", "Enriched"),
        },
        "components": {
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
            "schemas": {
                "Search": _search_body(),
                "NextPage": {
                    "type": "object",
                    "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}},
                    "additionalProperties": False,
                },
                "Lead": _record((*SEARCH_DEFAULT, *SEARCH_SELECTABLE[len(SEARCH_DEFAULT) :]), enrich=False),
                "Page": {
                    "type": "object",
                    "required": ["result_id", "total_results", "size", "results", "filters", "next", "previous"],
                    "properties": {
                        "result_id": {"type": "string", "format": "uuid"},
                        "total_results": {"type": "integer"},
                        "size": {"type": "integer"},
                        "results": {"type": "array", "items": {"$ref": "#/components/schemas/Lead"}},
                        "filters": {"type": "object", "description": "Send it as a body to repeat the search."},
                        "next": path,
                        "previous": path,
                    },
                },
                "Enrich": {
                    "type": "object",
                    "required": ["domains"],
                    "properties": {
                        "domains": {**_STRINGS, "minItems": 1, "examples": [["example.com"]]},
                        "select": {"type": "array", "items": {"enum": list(ENRICH_FIELDS)}},
                    },
                    "additionalProperties": False,
                },
                "Enriched": {"type": "object", "properties": {"results": {"type": "array", "items": item}}},
                "Error": {
                    "type": "object",
                    "required": ["error", "message"],
                    "properties": {
                        "error": {"type": "string"},
                        "message": {"type": "string"},
                        "details": {"type": "array", "items": {"type": "object"}},
                    },
                },
            },
        },
    }
