"""Bodies and records as JSON Schema, from the rows of the catalogue and the limits in the code."""

from __future__ import annotations

from typing import Any

from siteglass.corpus.domains import MAX_INPUT_CHARS
from siteglass.corpus.lead import SOCIAL_NETWORKS
from siteglass.leads.requests import DEFAULT_LIMIT, DEFAULT_SORT, MAX_LEAD_CREDITS
from siteglass.leads.search import ALWAYS_SHOWN
from siteglass.openapi.texts import directive_table, known_values, short_vocabulary
from siteglass.query.criteria import MAX_VALUES
from siteglass.query.cursor import MAX_CURSOR_CHARS
from siteglass.query.directives import MAX_TEXT_CHARS
from siteglass.query.field import Ask, Field, Filter, Form, Show
from siteglass.query.fields import BY_NAME, ENRICH_FIELDS, FILTERS, SEARCH_SELECTABLE, SORTS
from siteglass.query.natural import LOW_CONFIDENCE, MAX_QUERY_CHARS
from siteglass.query.values import MAX_VALUE_CHARS
from siteglass.settings import Settings
from siteglass.web.operations import MAX_LIMIT, SEARCH_PATH

CURSOR = {"type": "string", "maxLength": MAX_CURSOR_CHARS, "pattern": "^[A-Za-z0-9_-]+$"}

_VALUE = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARS}
_OPERATORS = "An operator (`>` `<` `>=` `<=` `=`, `less than`, `greater than`) and a whole number."
# Every lead has these; anything else may be unknown.
_ALWAYS_KNOWN = ("domain", "crawled_at")


def _object(properties: dict[str, Any], required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        **({"required": required} if required else {}),
        "properties": properties,
        "additionalProperties": False,
        **more,
    }


# --- what is sent -------------------------------------------------------------------------------


def _form(ask: Ask, form: Form) -> dict[str, Any]:
    match form:
        case Form.ONE:
            return dict(_VALUE)
        case Form.MANY:
            return {"type": "array", "maxItems": MAX_VALUES, "items": _VALUE}
        case Form.MIN | Form.MAX:
            return {"type": "integer", "minimum": ask.bounds[0], "maximum": ask.bounds[1]}
        case Form.SWITCH:
            return {"type": "boolean"}
        case Form.SPAN | Form.COMPARISON | Form.MOMENT:
            return {"type": "string"}


def _filter(name: str, ask: Ask, filter_: Filter) -> dict[str, Any]:
    """A filter as it comes back in `filters`: as it was sent, so in any of the forms that are understood."""
    notes = [filter_.meaning]
    if name == filter_.alias:
        notes.append(f"The same as `{filter_.name}`.")
    if filter_.form is Form.SWITCH:
        notes.append("`false` does not restrict.")
    if filter_.form is Form.COMPARISON:
        notes.append(_OPERATORS)
    if known := known_values(ask):
        notes.append(known)
    return {**_form(ask, filter_.form), "description": " ".join(notes), "examples": [filter_.example]}


def _sent_filter(name: str, ask: Ask, filter_: Filter) -> dict[str, Any]:
    """A filter as a caller had best send it."""
    schema = _filter(name, ask, filter_)
    if filter_.form is Form.MOMENT:
        schema["format"] = "date-time"
    if filter_.form is Form.ONE and ask.closed and (values := short_vocabulary(ask)):
        schema["enum"] = list(values)
    return schema


def _wrapped_query() -> dict[str, Any]:
    return {
        "type": "string",
        "maxLength": MAX_TEXT_CHARS,
        "description": directive_table(),
        "examples": ["@country(USA)\n!@technology(Wix)"],
    }


def _limit(description: str, **more: Any) -> dict[str, Any]:
    bounds = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
    return {**bounds, **more, "description": description, "examples": [50]}


def _select(names: tuple[str, ...], description: str, example: list[str]) -> dict[str, Any]:
    items = {"type": "string", "enum": list(names)}
    return {"type": "array", "items": items, "description": description, "examples": [example]}


def _spending() -> dict[str, Any]:
    quoted = "Only tell the price of exactly this: nothing is shown, nothing is charged."
    most = "Refuse with 402 rather than charge more lead credits than this for this one answer."
    whole = {"type": "integer", "minimum": 0, "maximum": MAX_LEAD_CREDITS}
    return {
        "dry_run": {"type": "boolean", "default": False, "description": quoted, "examples": [True]},
        "max_lead_credits": {**whole, "description": most, "examples": [20]},
    }


def _switches() -> dict[str, Any]:
    told = "Add `interpretation` to the answer: how the search was read, with the words of every condition."
    refused = (
        "Refuse with 400 rather than search if a word of `query` was not used, corrected or replaced by a "
        f"filter, or if the confidence is below {LOW_CONFIDENCE:g}. Nothing is charged then."
    )
    switch = {"type": "boolean", "default": False, "examples": [True]}
    return {"explain": {**switch, "description": told}, "strict": {**switch, "description": refused}}


def _search() -> dict[str, Any]:
    text = {
        "type": "string",
        "maxLength": MAX_QUERY_CHARS,
        "description": "What to find, in plain language. Not read if `wrapped_query` is there. A filter replaces what "
        "the query says about the same thing. Words that are no known value are searched in the text of the sites.",
        "examples": ["slow Shopify stores in Texas", "organic bakery"],
    }
    shown = f"Fields of the records; `{ALWAYS_SHOWN}` always comes with them. Without it: the 17 usual ones."
    order = "Order of the leads, `-` for the highest first. Equal ones come in a fixed shuffle."
    return _object(
        {
            "query": text,
            "wrapped_query": _wrapped_query(),
            "limit": _limit("Leads on a page.", default=DEFAULT_LIMIT),
            "select": _select(SEARCH_SELECTABLE, shown, ["domain", "emails", "service_type"]),
            "sort": {
                "type": "string",
                "enum": list(SORTS),
                "default": DEFAULT_SORT,
                "description": order,
                "examples": ["-spending"],
            },
            **_spending(),
            **_switches(),
            **{name: _sent_filter(name, asked.ask, filter_) for name, (asked, filter_) in FILTERS.items()},
        },
        description="Every field is optional; `null` and `[]` count as not given. All conditions must hold.",
    )


def _enrich(settings: Settings) -> dict[str, Any]:
    domains = {
        "type": "array",
        "minItems": 1,
        "maxItems": settings.max_enrich_domains,
        "items": {"type": "string", "maxLength": MAX_INPUT_CHARS},
        "description": "Domains to look up: a domain, a host or an address of a page, in any spelling.",
        "examples": [["example.com", "https://www.example.org/about"]],
    }
    shown = "Fields of the records. Without it: all of them."
    return _object(
        {
            "domains": domains,
            "select": _select(ENRICH_FIELDS, shown, ["domain", "emails", "technologies"]),
            **_spending(),
        },
        ["domains"],
    )


# --- what is answered ---------------------------------------------------------------------------


def _shown(field: Field, show: Show, *, enrich: bool) -> dict[str, Any]:
    kind = show.enrich_type if enrich and show.enrich_type else show.type
    networks = {network: {"type": "string"} for network in SOCIAL_NETWORKS}
    schemas: dict[str, dict[str, Any]] = {
        "string": {"type": "string"},
        "strings": {"type": "array", "items": {"type": "string"}},
        "object": {"type": "object", "properties": networks, "additionalProperties": False},
        "integer": {"type": ["integer", "null"], "minimum": 0},
        "boolean": {"type": ["boolean", "null"]},
        "time": {"type": ["string", "null"], "format": "date-time"},
    }
    schema = {**schemas[kind], "description": f"{field.meaning}.", "examples": [shown_example(field, show, enrich)]}
    if field.name in _ALWAYS_KNOWN:
        schema["type"] = "string"
    elif field.name == "spending" and kind == "string":
        schema["type"] = ["string", "null"]
        schema["pattern"] = r"^\d+(-\d+|\+)$"
    if field.name == "score" and field.ask:
        schema["maximum"] = field.ask.bounds[1]
    return schema


def shown_example(field: Field, show: Show, enrich: bool) -> Any:
    """The catalogue's example of a field, as search or enrichment spells it."""
    if enrich and show.enrich_type == "integer":
        return int(str(field.example).partition("-")[0])
    return field.example


def _record(names: tuple[str, ...], *, enrich: bool) -> dict[str, Any]:
    fields = (BY_NAME[name] for name in names)
    return {field.name: _shown(field, field.show, enrich=enrich) for field in fields if field.show}


def _page() -> dict[str, Any]:
    neighbour = {
        "type": ["string", "null"],
        "maxLength": len(SEARCH_PATH) + 1 + MAX_CURSOR_CHARS,
        "pattern": f"^{SEARCH_PATH}/[A-Za-z0-9_-]+$",
    }
    count = {"type": "integer", "minimum": 0}
    properties = {
        "result_id": {"type": "string", "format": "uuid", "description": "Of the search: the same on every page."},
        "total_results": {**count, "description": "All matches; the same on every page."},
        "size": {**count, "maximum": MAX_LIMIT, "description": "Leads on this page."},
        "results": {"type": "array", "maxItems": MAX_LIMIT, "items": {"$ref": "#/components/schemas/Lead"}},
        "filters": {"$ref": "#/components/schemas/Filters"},
        "next": {**neighbour, "description": "Path of the next page; null on the last."},
        "previous": {**neighbour, "description": "Path of the page before; null on the first."},
    }
    read = {"$ref": "#/components/schemas/Interpretation"}
    return _object({**properties, "interpretation": read}, list(properties))


def _quote(told: str, meaning: str) -> dict[str, Any]:
    """What a dry run answers."""
    count = {"type": "integer", "minimum": 0}
    properties = {
        "dry_run": {"type": "boolean", "const": True},
        "api_credits": {**count, "description": "API credits that this would cost now."},
        "lead_credits": {**count, "description": "Lead credits that this would cost now."},
        told: {**count, "description": meaning},
    }
    return _object(properties, list(properties), description="The price, if `dry_run` was asked for.")


def _items() -> dict[str, Any]:
    sent = {"type": "string", "description": "The domain as it was sent."}

    def item(status: str, description: str, **more: Any) -> dict[str, Any]:
        properties = {"status": {"type": "string", "const": status}, "domain": sent, **more}
        return _object(properties, list(properties), description=description)

    message = {"type": "string", "description": "What happened, for people."}
    return {
        "EnrichFound": item("success", "The stored data.", data={"$ref": "#/components/schemas/Enrichment"}),
        "EnrichNotFound": item("not_found", "Nothing is stored for the domain; not charged.", message=message),
        "EnrichFailed": item("error", "The text is no host name, or its look-up failed; not charged.", message=message),
    }


def schemas(settings: Settings) -> dict[str, Any]:
    """All bodies and records by name."""
    items = _items()
    statuses = {
        schema["properties"]["status"]["const"]: f"#/components/schemas/{name}" for name, schema in items.items()
    }
    one_of = {
        "oneOf": [{"$ref": reference} for reference in statuses.values()],
        "discriminator": {"propertyName": "status", "mapping": statuses},
    }
    results = {"type": "array", "minItems": 1, "maxItems": settings.max_enrich_domains, "items": one_of}
    echo = {name: _filter(name, asked.ask, filter_) for name, (asked, filter_) in FILTERS.items()}
    echoed = "What was searched. Sent as the body of a new search, it repeats this one."
    return {
        "Search": _search(),
        "Page": _object(
            {"limit": _limit("Leads on this page and the following; without it as before."), **_spending()}
        ),
        "Enrich": _enrich(settings),
        "SearchAnswer": _page(),
        "SearchQuote": _quote("total_results", "All matches."),
        "EnrichQuote": _quote("found", "Leads found, each counted once."),
        "Filters": _object({"wrapped_query": {"type": "string"}, **echo}, description=echoed),
        "Lead": _object(_record(SEARCH_SELECTABLE, enrich=False), [ALWAYS_SHOWN]),
        "EnrichAnswer": _object(
            {"results": {**results, "description": "One item for each domain, in the order of the request."}},
            ["results"],
        ),
        **items,
        "Enrichment": _object(_record(ENRICH_FIELDS, enrich=True)),
    }
