"""Sentences made from all values: US places as people type them, groups, denials, amounts, wishes, languages."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from siteglass.query.natural import LOW_CONFIDENCE, interpret
from siteglass.query.natural.wishes import WISHES
from testing.outcomes import judge_times
from testing.sentences.crafted import crafted, least_times
from testing.sentences.honesty import is_refused, measure_confidence, open_sentences, other_languages
from testing.sentences.meaning import atoms
from testing.sentences.probes import FAMILIES, is_reversed
from testing.sentences.score import SETS, read_set, service

TODAY = date(2026, 11, 15)
TABLE = tomllib.loads(Path("scripts/language/wishes.toml").read_text())
# How many probes of each family must be right.
LEAST = {
    "city and state": 45, "in state": 45, "state at end": 45, "capital codes": 48, "large cities": 84, "groups": 30,
    "denials and amounts": 500,
}  # fmt: skip
REFUSED = 45
# Of all readings, and of the sure ones.
REACH, RIGHT = 0.6, 0.97
P50_MS, P99_MS, WORST_MS = 1, 5, 50
BUSY = 3


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
    assert len(WISHES) >= 39


@pytest.mark.parametrize(
    ("query", "wish", "directives"),
    [
        ("companies hiring developers in Amsterdam", "hiring", ("@country(NLD)", "@city(Amsterdam)")),
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
    refused = [query for query in other_languages() if is_refused(query)]
    assert len(refused) >= REFUSED
    assert all(interpret(query, TODAY).confidence < LOW_CONFIDENCE for query in refused)
    assert [row.query for row in open_sentences() if is_refused(row.query)] == []


@pytest.mark.no_cover
def test_a_sure_reading_is_right() -> None:
    made = measure_confidence(open_sentences())
    assert made.reach >= REACH
    assert made.right >= RIGHT, made.wrong


@pytest.mark.timing
@pytest.mark.no_cover
def test_no_sentence_takes_long() -> None:
    """Processor time, the least of several runs: 1, 5 and 50 ms are meant, and a busy host may take thrice."""
    times = sorted(least_times([row.query for row in read_set(SETS / "grammar1.jsonl")], 5))
    rows = dict(crafted())
    slow = {
        name: took for name, took in zip(rows, least_times(rows.values(), 3), strict=True) if took > BUSY * WORST_MS
    }
    p50_ms, p99_ms = times[len(times) // 2], times[int(len(times) * 0.99)]
    within = p50_ms <= BUSY * P50_MS and p99_ms <= BUSY * P99_MS and slow == {}
    judge_times(within, (p50_ms, p99_ms, slow))
