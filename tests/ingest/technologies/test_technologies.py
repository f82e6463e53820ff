"""Every rule finds its technology on a page as such a site serves it, and nothing else on any page."""

from __future__ import annotations

import re
from functools import cache

import pytest

from siteglass.ingest.extract.page import Page
from siteglass.ingest.extract.technologies import technologies
from siteglass.ingest.extract.technologies.matcher import Matcher
from siteglass.ingest.extract.technologies.rules import long_tail, own_rules
from siteglass.ingest.extract.technologies.signals import Signals
from siteglass.query.vocabulary import vocabulary
from tests.ingest.technologies.snippets import FOLDER, TRAPS, Snippet, all_snippets, snippets

pages = cache(all_snippets)


def test_exactly_the_expected_technologies_are_found_on_every_page() -> None:
    wrong = {}
    for one in pages():
        found = set(technologies(one.page))
        if found != set(one.expected):
            wrong[one.where] = (
                f"missing {sorted(set(one.expected) - found)}, too many {sorted(found - set(one.expected))}"
            )
    assert wrong == {}


def test_every_rule_has_a_page_that_is_about_it() -> None:
    shown = [one.expected[0] for file in FOLDER.glob("*.txt") if file.name != TRAPS for one in snippets(file)]
    assert set(own_rules()) - set(shown) == set()
    assert len(own_rules()) >= 420
