"""The reading of a search in the document: its schema, and examples made by the code that answers."""

from __future__ import annotations

from typing import Any

from siteglass.leads.interpret import explained
from siteglass.leads.requests import read_search
from siteglass.openapi.shapes import or_null, said, shape
from siteglass.query.criteria import MAX_CONDITIONS
from siteglass.query.natural import LOW_CONFIDENCE, MAX_QUERY_CHARS
from siteglass.query.natural.interpretation import MAX_ALTERNATIVES

# When the examples were asked, 15 November 2026: ages become moments.
_NOW_MS = 1_794_744_000_000
_TEXT = {"type": "string"}
_PLACE = {"type": "integer", "minimum": 0, "maximum": MAX_QUERY_CHARS}
_SURE = {"type": "number", "minimum": 0, "maximum": 1}
_WORDS = {"$ref": "#/components/schemas/Words"}


def _list(items: dict[str, Any], description: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more, "description": description}


_WHICH = _list(_WORDS, "The words, in their order.")
_MESSAGE = said(_TEXT, "What to know about them, for people.")
_SPAN = {
    "text": said(_TEXT, "The words as they were sent."),
    "start": said(_PLACE, "Characters of `query` before them."),
    "end": said(_PLACE, "Characters of `query` up to their end."),
}


def _condition() -> dict[str, Any]:
    return shape(
        "A condition, and why it is there.",
        directive=said(
            _TEXT,
            "As a line of `wrapped_query`; a score outside 1 to 90, which no line can say, as the filter that can: "
            "`seo_score: >95`.",
        ),
        words=_list(_WORDS, "The words that say it; none if a filter or `wrapped_query` gives it."),
        rule=said(
            _TEXT,
            "What read the words, such as `place`, `technology`, `amount` or `keyword`; `model` if a language model "
            "did; `given` if no word said it.",
        ),
        confidence=said(_SURE, "How sure it is that the words mean this."),
    )


def _reading() -> dict[str, dict[str, Any]]:
    alternative = shape(
        "Another reading.",
        words=_WHICH,
        reading=said(_TEXT, "What they would be taken for."),
        directives=_list(_TEXT, "What the whole sentence would mean then, without filters sent beside it."),
    )
    note = shape("A note.", words=_WHICH, message=_MESSAGE)
    corrected = shape("A misspelt word.", **_SPAN, to=said(_TEXT, "What it was taken for."))
    return {
        "query": said(or_null(_TEXT), "The sentence; null if there is none, or `wrapped_query` stands beside it."),
        "directives": _list(
            _TEXT,
            "The search in canonical lines of `wrapped_query`, without what only a filter can say.",
            maxItems=MAX_CONDITIONS,
        ),
        "filters": {"$ref": "#/components/schemas/Filters"},
        "conditions": _list(_condition(), "All conditions, with their reasons.", maxItems=MAX_CONDITIONS),
        "assumptions": _list(note, 'What was taken for granted, such as what "slow" means.'),
        "corrections": _list(corrected, "Misspelt words, and what they were taken for."),
        "alternatives": _list(alternative, "Other readings of ambiguous words.", maxItems=MAX_ALTERNATIVES),
        "ignored": _list(_WORDS, "Words that say nothing about a lead."),
        "unsupported": _list(
            note,
            "Words that say something and are not searched: no search can do it, no condition says it, or a filter "
            "replaces it. Each lowers the confidence.",
        ),
        "confidence": said(
            _SURE,
            f"How sure the whole reading is. Below {LOW_CONFIDENCE:g} a search with `strict` is refused; 0 if the "
            "sentence says nothing to search for.",
        ),
        "backend": {
            "type": "string",
            "enum": ["rules", "rules+model"],
            "description": "What read the search: rules, or a language model as well, for words that the rules could "
            "not place.",
        },
        "model": said(or_null(_TEXT), "The name of that model; null if none has answered."),
    }


def interpretation_schemas() -> dict[str, Any]:
    """The schemas by name."""
    total = {"type": "integer", "minimum": 0, "description": "How many leads match."}
    return {
        "Words": shape("Words of `query` that stand side by side.", **_SPAN),
        "Interpretation": shape(
            "How a search was read. Every word of `query` stands in `conditions`, `ignored` or `unsupported`.",
            **_reading(),
        ),
        "InterpretAnswer": shape(
            "How a search is read, and how many leads it finds.", **_reading(), total_results=total
        ),
    }


def reading_of(body: dict[str, Any]) -> dict[str, Any]:
    """How the service reads a body."""
    asked, _ = read_search(body, _NOW_MS)
    return explained(asked.meaning)
