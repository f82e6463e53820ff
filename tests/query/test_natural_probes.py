"""Sentences made from all values: US places as people type them, groups, denials, amounts, wishes, languages."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from siteglass.query.natural import LOW_CONFIDENCE, interpret
from siteglass.query.natural.leftovers import FOREIGN
from siteglass.query.natural.wishes import WISHES
from testing.sentences.meaning import atoms
from testing.sentences.probes import FAMILIES, is_reversed
from testing.sentences.score import SETS, read_set, service

TODAY = date(2026, 11, 15)
SETS_READ = ("dev", "grammar1", "grammar2", "polish")
TABLE = tomllib.loads(Path("scripts/language/wishes.toml").read_text())
# How many probes of each family must be right.
LEAST = {
    "city and state": 45, "in state": 45, "state at end": 45, "capital codes": 48, "large cities": 84, "groups": 30,
    "denials and amounts": 490,
}  # fmt: skip
REFUSED = 43


@pytest.mark.parametrize("family", FAMILIES)
def test_probes(family: str) -> None:
    wrong, reversed_ = [], []
    probes = list(FAMILIES[family]())
    for probe in probes:
        found, wanted = atoms(service(probe.query)), atoms(probe.gold)
        if found != wanted:
            wrong.append(probe.query)
            reversed_ += [probe.query] if is_reversed(found, wanted) else []
    assert reversed_ == []
    assert len(probes) - len(wrong) >= LEAST[family], wrong


def test_every_wish_has_phrases_and_a_sentence() -> None:
    assert TABLE.keys() == WISHES.keys()
    assert len(WISHES) >= 40


@pytest.mark.parametrize(
    ("query", "wish", "directives"),
    [
        ("companies hiring developers in Amsterdam", "hiring", ("@country(NLD)", "@city(Amsterdam)")),
        ("stores that switched from Magento to Shopify", "switched", ("@service_type(Ecommerce)",)),
        ("stores in Peru that recently added Klaviyo", "added", ("@country(PER)", "@service_type(Ecommerce)")),
        ("companies like hubspot.com", "similar", ()),
        ("dentists near me", "near_me", ("@trade(dentist)",)),
        ("shops in Romania with 10,000 visitors", "traffic", ("@country(ROU)", "@service_type(Ecommerce)")),
    ],
)
def test_a_wish_without_data_is_answered(query: str, wish: str, directives: tuple[str, ...]) -> None:
    read = interpret(query, TODAY)
    assert read.directives == directives
    assert WISHES[wish] in [note.message for note in read.unsupported]


def test_sentences_in_other_languages_are_refused_and_none_in_those_that_are_read() -> None:
    rows = (SETS / "other_languages.txt").read_text().splitlines()
    other = [interpret(row.split("\t")[1], TODAY) for row in rows]
    refused = [one for one in other if FOREIGN in [note.message for note in one.unsupported]]
    assert len(refused) >= REFUSED
    assert all(one.confidence < LOW_CONFIDENCE for one in refused)
    queries = [row.query for name in SETS_READ for row in read_set(SETS / f"{name}.jsonl")]
    assert [query for query in queries if FOREIGN in [n.message for n in interpret(query, TODAY).unsupported]] == []
