"""Families of sentences, from words collected without sight of the rules: what is left out is never demanded, what was
said is either read or doubted, and a doubt is rare on readings that are right."""

from __future__ import annotations

import os

import pytest

from siteglass.query.body import read_meaning
from siteglass.query.doubt import find_doubts, needs_review
from testing.sentences.families import NOW_MS, Member, exclusions, judge, others
from testing.sentences.honesty import open_sentences
from testing.sentences.score import score

# Without SITEGLASS_LONG every so-manieth sentence; a prime, so that every word and every object has its turn.
STEP = 1 if os.environ.get("SITEGLASS_LONG") else 23


def sample(members: list[Member]) -> list[Member]:
    return members[::STEP]


def test_what_is_left_out_is_never_demanded_unasked() -> None:
    made = [judge(one) for one in sample(list(exclusions()))]
    assert [one.member.query for one in made if one.opposite and not one.stopped] == []
    assert sum(one.equal for one in made) >= 0.93 * len(made)


@pytest.mark.parametrize("family", ["amounts", "alternatives"])
def test_a_wrong_reading_is_doubted(family: str) -> None:
    made = [judge(one) for one in others(family)]
    assert [one.member.query for one in made if not one.equal and not one.warned] == []


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Shopify-free SaaS companies", "-free"),
        ("niet-CRM-gebruikers: SaaS-bedrijven", "niet"),
        ("empresas SaaS, fora Roma", "fora"),
    ],
)
def test_an_exclusion_that_was_not_read_stops_whoever_buys(sentence: str, words: str) -> None:
    meaning = read_meaning({"query": sentence}, NOW_MS)
    assert words in [doubt.said for doubt in find_doubts(meaning) if doubt.excludes]
    assert needs_review(meaning)


def test_readings_that_are_right_are_seldom_doubted() -> None:
    rows = open_sentences()[:: 1 if STEP == 1 else 5]
    doubted = right = 0
    for row in rows:
        sentence = read_meaning({"query": row.query}, NOW_MS).sentence
        assert sentence is not None
        directives = sentence.directives
        if not score([row], lambda _: directives).failed:  # noqa: B023 - called in this round only
            right += 1
            doubted += bool(sentence.doubted)
    assert doubted <= 0.02 * right
