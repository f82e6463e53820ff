"""Pages on bodies: the fields that answers show, and the parameters that requests send."""

from __future__ import annotations

from reference.markdown import code, json_code, paragraph, plain, table
from reference.messages import body_table
from siteglass.leads.facets import FacetOptions
from siteglass.leads.requests import PageOptions
from siteglass.query.field import Ask, Field, Filter, Form, Show
from siteglass.query.fields import BY_NAME, ENRICH_SELECTABLE, FIELDS, SEARCH_SELECTABLE
from siteglass.web.messages import names_of

SHOWN_TYPES = {
    "string": "string",
    "integer": "integer",
    "boolean": "boolean",
    "strings": "array of strings",
    "profiles": "object of strings",
    "texts_by_name": "object of strings",
    "email_details": "array of objects",
    "technology_details": "array of objects",
    "phone_details": "array of objects",
    "time": "RFC 3339 time",
}
_FORM_TYPES = {
    Form.ONE: "string",
    Form.MANY: "array of strings",
    Form.MIN: "integer",
    Form.MAX: "integer",
    Form.SPAN: "string: `<min>-<max>`, `<min>+`, or operator and number",
    Form.COMPARISON: "string: operator and number",
    Form.MOMENT: "string: RFC 3339 time or date",
    Form.SWITCH: "boolean",
}


def fields_page() -> str:
    """Every field that an answer can show."""
    names = dict.fromkeys((*SEARCH_SELECTABLE, *ENRICH_SELECTABLE))
    rows = [_field_row(field, field.show) for field in map(BY_NAME.__getitem__, names) if field.show]
    return (
        "# Fields\n\n"
        + paragraph(
            "The fields of a lead in a response. *Default*: in a response without `select`. *On select*: only if "
            "`select` names it. A search always adds `crawled_at`; an enrichment returns exactly what `select` names."
        )
        + paragraph(
            'Unknown values are `""`, `[]` or `{}`; for numbers, booleans, times and `spending` they are `null`.'
        )
        + table(["field", "type", "meaning", "example", "search", "enrichment"], rows)
    )


def _field_row(field: Field, show: Show) -> list[str]:
    kind = SHOWN_TYPES[show.type]
    if show.enrich_type:
        kind += f"; {SHOWN_TYPES[show.enrich_type]} in enrichment"
    shown = {"default": "default", "select": "on select", None: ""}
    return [
        code(field.name),
        kind,
        plain(field.meaning),
        json_code(field.example),
        shown[show.search],
        shown[show.enrich],
    ]


def filters_page() -> str:
    """Every parameter of every body."""
    asked = [(field.ask, filter_) for field in FIELDS if field.ask for filter_ in field.ask.filters]
    return (
        "# Parameters of requests\n\n"
        + paragraph(
            "Bodies are JSON objects. Only `domains` is required, and it must not be empty. `null` and `[]` mean that "
            "a field is not given. An unknown name is refused with the nearest one."
        )
        + "## Search: POST /v1/leads/search\n\n"
        + body_table("SearchBody", names_of(PageOptions))
        + "\n### Filters\n\n"
        + paragraph(
            "A lead must match all filters and all lines of `wrapped_query`; the elements of an array are "
            "alternatives. A boolean that is `false` restricts nothing. Operators are `>` `<` `>=` `<=` `=`, "
            "`less than`, `greater than`."
        )
        + table(["name", "type", "meaning", "example", "bounds", "same as"], [_filter_row(*one) for one in asked])
        + "\n## What a search means: POST /v1/leads/interpret\n\n"
        + paragraph(
            "Takes the body of a search and returns no leads. Fields that only concern a page (`limit`, `select`, "
            "`sort`, `dry_run`, `max_lead_credits`, `explain`) are allowed and have no effect."
        )
        + "\n## Counts of a search: POST /v1/leads/facets\n\n"
        + paragraph(
            "Takes the body of a search, with the fields below, and returns no leads. Bands of `score` and `spending` "
            "and months of `crawled_at` are counted, and for flags the leads with and without."
        )
        + body_table("FacetsBody", names_of(FacetOptions)[-2:])
        + "\n## Why a search finds nothing: POST /v1/leads/diagnose\n\n"
        + paragraph("Takes the body of a search and returns no leads.")
        + "\n## Another page: POST the path in `next` or `previous`\n\n"
        + paragraph(
            "The path contains the search. The body is `{}` or empty, or it changes the page size or the price "
            "options below. Without `limit`, the page size stays the same."
        )
        + body_table("PageBody")
        + "\n## Enrichment: POST /v1/leads/enrich\n\n"
        + body_table("EnrichBody")
    )


def _filter_row(ask: Ask, filter_: Filter) -> list[str]:
    name = code(filter_.name) + (f", alias {code(filter_.alias)}" if filter_.alias else "")
    example = json_code(filter_.example)
    same = f"[`@{ask.directive}`](directives.md)"
    return [name, _FORM_TYPES[filter_.form], plain(filter_.meaning), example, _bounds(ask, filter_), same]


def _bounds(ask: Ask, filter_: Filter) -> str:
    if filter_.form in (Form.MIN, Form.MAX, Form.SPAN, Form.COMPARISON):
        low, high = ask.bounds
        return f"{low:,} to {high:,}"
    if ask.vocabulary is None:
        return ""
    return f"[known values](values.md#{ask.vocabulary.replace('_', '-')}){' only' if ask.closed else ''}"
