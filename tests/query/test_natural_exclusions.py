"""Words of exclusion: whatever excludes never demands, and a full stop inside a phrase changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siteglass.query.body import read_meaning
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse

NOW_MS = 1_795_000_000_000
# 30 and 5 ways to exclude × 10 objects, written without sight of the rules.
SET: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "testing/sentences/sets/exclusions.json").read_text("utf-8")
)
FRAMES = [*SET["frames"], *SET["extra_frames"]]


def conditions(sentence: str) -> frozenset[Clause]:
    return frozenset(read_meaning({"query": sentence}, NOW_MS).criteria.conditions)


def said(*directives: str) -> frozenset[Clause]:
    return frozenset(parse("\n".join(directives)).conditions)


@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_excluded_is_excluded_and_nothing_else(frame: str) -> None:
    base = said(*SET["base"])
    for thing in SET["objects"]:
        sentence = frame.replace("{x}", thing["text"])
        expected = [base | said(accepted) for accepted in thing["directives"]]
        assert conditions(sentence) in expected, sentence


@pytest.mark.parametrize(
    ("sentence", "directives"),
    [
        ("dentists in Texas excl. Austin", ["@country(USA)", "@state(TX)", "!@city(Austin)", "@trade(dentist)"]),
        ("shops in Germany, max. 5k ad spend", ["@country(DEU)", "@service_type(Ecommerce)", "@spends(<=5000)"]),
        ("SEO score max. 40", ["@score(<=40)"]),
        ("load time max. 3s", ["@load_time(<=3000)"]),
        ("Shops in Deutschland exkl. Berlin", ["@country(DEU)", "!@city(Berlin)", "@service_type(Ecommerce)"]),
        ("tiendas en España, máx. 5k en anuncios", ["@country(ESP)", "@service_type(Ecommerce)", "@spends(<=5000)"]),
        ("dentists in Texs", ["@country(USA)", "@state(TX)", "@trade(dentist)"]),
        ("sites crawled since January 1, 2025", ["@updated_after(2025-01-01T00:00:00Z)"]),
    ],
)
def test_single_faults(sentence: str, directives: list[str]) -> None:
    assert conditions(sentence) == said(*directives)


@pytest.mark.parametrize("thing", ["dentists", "agencies", "Shopify stores"])
def test_what_is_not_excluded_stays(thing: str) -> None:
    assert conditions(f"{thing} not excluding Austin") == conditions(f"{thing} in Austin")
    assert conditions(f"{thing} not excluded") == conditions(thing)


@pytest.mark.parametrize(
    "word", ["excl", "exc", "exkl", "max", "min", "approx", "mind", "maks", "aprox", "env", "ca", "avg"]
)
@pytest.mark.parametrize("frame", ["shops in Germany, {} 5k ad spend", "shops in Texas {} Austin", "SEO score {} 40"])
def test_a_full_stop_after_an_abbreviation_changes_nothing(frame: str, word: str) -> None:
    assert conditions(frame.format(f"{word}.")) == conditions(frame.format(word))


def test_a_full_stop_that_ends_a_sentence_still_does() -> None:
    expected = said("@country(USA)", "@state(TX)", "@trade(dentist)", "@technology(Shopify)")
    assert conditions("Dentists in Texas, no max. Uses Shopify.") >= expected
    assert conditions("dentists in Texas. Shopify") == expected
