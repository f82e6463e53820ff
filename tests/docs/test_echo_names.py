"""Every example of the docs that is written as directives or as a sentence is echoed under names of the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from siteglass.errors import BadRequest, QueryError
from siteglass.query.body import read_meaning
from siteglass.query.directives import parse
from siteglass.query.fields import ASKED
from tests.docs.blocks import ROOT, blocks, pages
from tests.docs.test_natural_language import MISSPELT, NOW_MS, PLAIN, UNSAID

# Spec 4.1, copied: not read from the code that is tested.
SECTION_4_1 = {
    "query", "limit", "language", "select", "wrapped_query", "country", "state", "city", "technologies", "keywords",
    "categories_uses", "service_type", "offers", "pages", "has_phone", "has_facebook", "has_linkedin", "has_twitter",
    "has_instagram", "has_youtube", "has_tiktok", "has_pinterest", "exclude_generic_emails", "spending",
    "min_spending", "max_spending", "min_score", "max_score", "updated_after", "not_secure", "missing_sitemap",
    "missing_schema", "not_responsive", "load_time_ms", "seo_score",
}  # fmt: skip

_BODY = re.compile(r"""-d '(\{.*?\})'""", re.DOTALL)
_DIRECTIVE = re.compile(r"`(!?@[a-z_]+(?:\([^`]*\))?|!?@any\[[^`]*\])`")


def _bodies() -> Iterator[dict[str, Any]]:
    """What readers of the docs send: sentences of the tables, directives in the text, bodies of requests."""
    yield from ({"query": row.sentence} for row in (*PLAIN, *MISSPELT, *UNSAID))
    for page in pages():
        yield from ({"wrapped_query": line} for line in _DIRECTIVE.findall(page.read_text()) if _is_readable(line))
        for block in blocks(page):
            for text in _BODY.findall(block.text):
                body = json.loads(text)
                if {"query", "wrapped_query"} & set(body):
                    yield body


def _is_readable(line: str) -> bool:
    try:
        return bool(parse(line).conditions)
    except QueryError:  # a name alone, or an example of an error
        return False


BODIES = list(_bodies())


def test_every_example_is_echoed_under_names_of_the_contract() -> None:
    for body in BODIES:
        try:
            filters = read_meaning(body, NOW_MS).filters
        except BadRequest:  # an example of an error
            continue
        assert set(filters) - set(body) <= SECTION_4_1, body


def test_every_directive_is_among_the_examples() -> None:
    text = "\n".join(str(body.get("wrapped_query", "")) for body in BODIES)
    for asked in ASKED.values():
        assert f"@{asked.ask.directive}" in text
    assert "@any[" in text
    assert sum("query" in body for body in BODIES) > 80


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_responses_show_names_of_the_contract(page: Any) -> None:
    for block in blocks(page):
        for shown in re.findall(r'"filters": (\{.*?\})', block.text):
            assert set(json.loads(shown)) <= SECTION_4_1
