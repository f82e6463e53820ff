"""Whole requests and responses as examples. Tests send every request and compare the responses with the service's."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.datastructures import QueryParams

from siteglass.corpus.evidence_files import Sighting
from siteglass.index.counting import Total
from siteglass.index.facets import BaseCounts, FacetCounts, FieldCounts, KeyCount
from siteglass.leads.diagnose import Diagnosis, diagnose_response
from siteglass.leads.evidence import Evidence
from siteglass.leads.facets import facets_response, read_facets
from siteglass.leads.interpret import interpretation_of
from siteglass.leads.records import shown_example
from siteglass.leads.requests import read_search
from siteglass.leads.responses import (
    SEARCH_PATH,
    Interpretation,
    evidence_response,
    interpret_response,
    values_response,
)
from siteglass.leads.values import read_values
from siteglass.query.completion import CompletedValue, KnownValue
from siteglass.query.cursor import Continuation, CursorSealer, Position
from siteglass.query.fields import BY_NAME, ENRICH_FIELDS, SEARCH_DEFAULT
from siteglass.query.relaxations import single_relaxations
from siteglass.web.operations import Examples

# When the examples were asked, 15 November 2026: ages become moments.
_NOW_MS = 1_794_744_000_000

# Searches find something with a test key, too: that is what a newcomer sends first.
_FILTERS = {"country": "USA", "state": "TX", "technologies": ["Shopify"], "has_email": True, "min_score": 40}
_SENTENCE = "slow Shopify stores in Texas that spend over $500 a month, without a CRM"
_RESULT_ID = "7c2f1a52-3f0e-4a8c-9d54-0e6b8a7f2c11"

SEARCHES: Examples = {
    "filters": {"summary": "By filters", "value": {**_FILTERS, "limit": 1}},
    "directives": {
        "summary": "By directives, with some fields",
        "value": {
            "wrapped_query": "@country(USA, CAN)\n@technology(Shopify)\n!@offers(marketing)\n@score(>40)",
            "select": ["domain", "business_name", "emails", "technologies"],
            "sort": "-spending",
        },
    },
    "plain_language": {"summary": "By plain language", "value": {"query": _SENTENCE, "limit": 10}},
    "explained": {
        "summary": "By plain language, with its interpretation, refused if that is not clear",
        "value": {"query": _SENTENCE, "explain": True, "strict": True, "limit": 1},
    },
    "directives_and_filters": {
        "summary": "By directives and filters, which must both match",
        "value": {"wrapped_query": "!@technology(Wix)\n@updated_within(365d)", "service_type": "Agency"},
    },
    "everything": {"summary": "All leads", "value": {}},
    "price": {"summary": "Get only the price of a page", "value": {"country": "USA", "limit": 100, "dry_run": True}},
}

INTERPRETED: Examples = {
    "sentence": {"summary": "What a sentence means", "value": {"query": "shopfy stores in Georgia, best ones first"}},
    "filter": {
        "summary": "A sentence with a filter, which replaces the sentence's place",
        "value": {"query": _SENTENCE, "country": "CAN"},
    },
    "directives": {
        "summary": "Directives, to check and convert to canonical form",
        "value": {"wrapped_query": "@TECHNOLOGY(shopify)  # any case\n@country(Germany, at)\n@score( < 40 )"},
    },
}

FACETED: Examples = {
    "filters": {
        "summary": "Where the stores are, and what else they use",
        "value": {"service_type": "Ecommerce", "facets": ["country", "technologies", "has_email"], "size": 5},
    },
    "sentence": {"summary": "Every facet of a sentence", "value": {"query": _SENTENCE}},
}

DIAGNOSED: Examples = {
    "typo": {
        "summary": "A search that finds nothing",
        "value": {"country": "USA", "technologies": ["shopfy"], "min_score": 40},
    },
    "sentence": {"summary": "What each condition of a sentence removes", "value": {"query": _SENTENCE}},
}

PAGES: Examples = {
    "as_before": {"summary": "The same number of leads as on the previous page", "value": {}},
    "another_size": {"summary": "A different number of leads", "value": {"limit": 50}},
    "capped": {"summary": "With a maximum price", "value": {"limit": 50, "max_lead_credits": 40}},
}

ENRICHMENTS: Examples = {
    "all_fields": {
        "summary": "All fields",
        "value": {"domains": ["example.com", "nobody.example.org", "localhost"]},
    },
    "some_fields": {
        "summary": "Some fields",
        "value": {"domains": ["https://www.example.com/about"], "select": ["domain", "emails", "technologies"]},
    },
    "price": {"summary": "Only the price", "value": {"domains": ["example.com"], "dry_run": True}},
}


def _cursor(domain: str, *, backward: bool) -> str:
    """A cursor in the right format that does not work: it is encrypted with a made-up secret."""
    here = Continuation(_FILTERS, None, "-score", 1, Position(72, domain, backward), 42, 0, _RESULT_ID)
    return CursorSealer(["no secret, only an example of one"], 0).seal(here, "example", 0)


NEXT = _cursor("example.com", backward=False)
PREVIOUS = _cursor("example.com", backward=True)


def _record(names: tuple[str, ...], *, enrich: bool) -> dict[str, Any]:
    fields = (BY_NAME[name] for name in names)
    return {field.name: shown_example(field, field.show, enrich=enrich) for field in fields if field.show}


def _page(next_: str | None, previous: str | None) -> dict[str, Any]:
    return {
        "result_id": _RESULT_ID,
        "total_results": 42,
        "size": 1,
        "results": [_record(SEARCH_DEFAULT, enrich=False)],
        "filters": _FILTERS,
        "next": next_ and f"{SEARCH_PATH}/{next_}",
        "previous": previous and f"{SEARCH_PATH}/{previous}",
    }


def _quote(api: int, lead: int, **told: Any) -> dict[str, Any]:
    quoted = {"dry_run": True, "api_credits": api, "lead_credits": lead, **told}
    return {"summary": "The price, with `dry_run`", "value": quoted}


def _reading_of(body: dict[str, Any]) -> Interpretation:
    """How the service reads a body."""
    request, _ = read_search(body, _NOW_MS)
    return interpretation_of(request.meaning)


def search_pages() -> Examples:
    """Responses of a search; made when asked for, as they need the tables of the language."""
    read = msgspec.to_builtins(_reading_of(SEARCHES["explained"]["value"]))
    return {
        "first_page": {"summary": "The first page, one lead on it", "value": _page(NEXT, None)},
        "explained": {
            "summary": "The same, with the interpretation",
            "value": {**_page(NEXT, None), "filters": read["filters"], "interpretation": read},
        },
        "price": _quote(0, 1, total_results=42),
    }


def readings() -> Examples:
    """Responses of interpret."""
    return {
        name: {
            "summary": example["summary"],
            "value": msgspec.to_builtins(interpret_response(_reading_of(example["value"]), 42)),
        }
        for name, example in INTERPRETED.items()
    }


def counted_facets() -> Examples:
    """The response of facets."""
    request = read_facets({"service_type": "Ecommerce", "facets": ["country"], "size": 1}, _NOW_MS)
    counts = FacetCounts(
        Total(42_000),
        Total(29_400),
        Total(1_200),
        [FieldCounts("country", [KeyCount("usa", 21_000, 0, 21_000)], True, False, 42_000)],
    )
    value = msgspec.to_builtins(facets_response(request, counts, BaseCounts(500_000, {"country": {"usa": 100_000}})))
    return {"response": {"summary": "The most frequent country", "value": value}}


def diagnoses() -> Examples:
    """The response of diagnose."""
    request, _ = read_search(DIAGNOSED["typo"]["value"], _NOW_MS)
    country, typo, score = request.meaning.said.conditions
    (change,) = [one for one in single_relaxations(request.meaning.said) if one.replaced]
    diagnosis = Diagnosis(
        0,
        {country: 100_000, typo: 0, score: 300_000},
        {country: 0, typo: 61_000, score: 0},
        [(change, change.apply(request.meaning.said), 4_200)],
    )
    value = msgspec.to_builtins(diagnose_response(request.meaning, diagnosis))
    return {"response": {"summary": "A misspelt technology", "value": value}}


def later_pages() -> Examples:
    """Responses of a cursor page."""
    return {
        "last_page": {"summary": "The last page, one lead on it", "value": _page(None, PREVIOUS)},
        "price": _quote(0, 1, total_results=42),
    }


def enriched() -> Examples:
    """Responses of an enrichment."""
    return {
        "all_fields": {
            "summary": "A domain that was found, one that was not, and a text that is not a domain",
            "value": {
                "results": [
                    {"status": "success", "domain": "example.com", "data": _record(ENRICH_FIELDS, enrich=True)},
                    {
                        "status": "not_found",
                        "domain": "nobody.example.org",
                        "message": "No data found for nobody.example.org",
                    },
                    {
                        "status": "error",
                        "domain": "localhost",
                        "message": "'localhost' is a single label, not a domain such as example.com",
                    },
                ]
            },
        },
        "price": _quote(1, 1, found=1, on_lists={"paid": 1}),
    }


def evidence_found() -> Examples:
    """The response of evidence."""
    sighting = Sighting(
        domain="example.com",
        kind="email",
        value="hello@example.com",
        page="https://example.com/contact",
        method="mailto",
        first_seen_ms=1_788_000_000_000,
        last_seen_ms=1_790_000_000_000,
    )
    evidence = Evidence("example.com", {"emails": [(sighting.value, [sighting])], "phones": []})
    value = msgspec.to_builtins(evidence_response(evidence))
    return {"response": {"summary": "One address, seen once", "value": value}}


def completed_values() -> Examples:
    """The response of values."""
    values = [CompletedValue(KnownValue("Munich", "Munich", "DEU", "DE-BY"), "munchen")]
    request = read_values("city", QueryParams("q=münchen&limit=1&country=DEU"))
    value = msgspec.to_builtins(values_response(request, values, more=True))
    return {"response": {"summary": "The best matches.", "value": value}}
