"""The makers of sentences. Generated ones are the same for the same seed, cover every directive, and carry readable
labels. Noise changes what it says and no more."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from siteglass.query.fields import DIRECTIVES
from siteglass.query.natural import MAX_QUERY_CHARS
from testing.sentences.generate import generate, main
from testing.sentences.meaning import atoms
from testing.sentences.noise import KINDS, noisy
from testing.sentences.score import LEVELS, Labelled, read_set
from testing.sentences.searches import draw_search
from testing.sentences.words import LANGUAGES

COUNT = 2_000
# Sentences are labelled as they were before trades and histories existed: see `testing.sentences.trade_labels` and
# `testing.sentences.change_labels`. No words ask for a confidence.
ALL = {asked.ask.directive for asked in DIRECTIVES.values()} - {"trade", "email_confidence", "added", "dropped"}


@pytest.fixture(scope="module")
def sentences() -> list[Labelled]:
    return list(generate(COUNT, 7))


def test_the_same_seed_makes_the_same_sentences(sentences: list[Labelled]) -> None:
    assert list(generate(200, 7)) == sentences[:200]
    assert list(generate(200, 8)) != sentences[:200]


def directives(gold: Sequence[str]) -> list[str]:
    return [line.lstrip("!@").split("(")[0] for line in gold]


def test_every_directive_is_asked_for_and_denied(sentences: list[Labelled]) -> None:
    said = Counter(name for one in sentences for name in directives(one.gold))
    assert set(said) == ALL
    assert min(said.values()) >= 10, said.most_common()[-5:]
    denied = {line.split("(")[0] for one in sentences for line in one.gold if line.startswith("!")}
    assert denied >= {
        *("!@technology", "!@country", "!@state", "!@city", "!@lang", "!@lacks", "!@offers", "!@pages", "!@spends"),
        *("!@service_type", "!@updated_within", "!@has_phone", "!@has_linkedin", "!@missing_sitemap", "!@not_secure"),
    }


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_every_language_says_them(spoken: str) -> None:
    draw = Random(1)
    assert {name for _ in range(1_000) for name in directives(draw_search(draw, spoken).gold)} == ALL


def test_sentences_are_whole(sentences: list[Labelled]) -> None:
    for one in sentences:
        assert not re.search(r"[{}|]|:[mf]\b|,,|  ", one.query), one.query
        assert one.query == one.query.strip()
        assert len(one.query) <= MAX_QUERY_CHARS
        assert atoms(one.gold)
        assert one.tags[0] in LEVELS
        assert one.tags[1] in LANGUAGES
    assert len({one.query for one in sentences}) > COUNT * 0.9


def test_the_command_writes_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made.jsonl"
    monkeypatch.setattr("sys.argv", ["generate", "--count", "20", "--seed", "3", "--out", str(path)])
    main()
    assert read_set(path) == list(generate(20, 3))
    assert set(json.loads(path.read_text().splitlines()[0])) == {"query", "gold", "tags"}


SENTENCE = Labelled("Find me the Shopify stores, with a phone number.", ("@technology(Shopify)", "@has_phone"), ("L1",))


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_repeatable_and_keeps_the_label(kind: str) -> None:
    made = list(noisy([SENTENCE] * 20, kind, 1))
    assert made == list(noisy([SENTENCE] * 20, kind, 1))
    assert made
    assert all(changed.gold == clean.gold and changed.query != clean.query for clean, changed in made)


def test_noise_of_each_kind() -> None:
    made = {kind: next(changed.query for _, changed in noisy([SENTENCE], kind, 1)) for kind in KINDS}
    clean = SENTENCE.query
    assert made["lower_case"] == clean.lower()
    assert made["upper_case"] == clean.upper()
    assert made["dropped_words"] == "Find me Shopify stores, with phone number."
    blanks = re.sub(" +", " ", made["blanks_and_punctuation"])
    assert blanks == "Find me the Shopify stores with a phone number"
    assert sorted(made["typo_swap"]) == sorted(clean)
    assert len(made["typo_drop"]) == len(clean) - 1
    assert len(made["typo_double"]) == len(clean) + 1
    assert sum(a != b for a, b in zip(made["typo_neighbour"], clean, strict=True)) == 1


def test_commas_that_end_a_negation_stay() -> None:
    denied = Labelled("no CRM, LinkedIn profile, Spain", ("@lacks(crm)", "@has_linkedin", "@country(ESP)"), ("L1",))
    assert all(changed.query.count(",") == 2 for _, changed in noisy([denied] * 20, "blanks_and_punctuation", 1))


def test_case_is_left_where_it_tells_a_technology_from_a_word() -> None:
    ambiguous = Labelled("sites with Segment and Stripe", ("@technology(Segment)",), ("L3", "tech_common_word"))
    assert not list(noisy([ambiguous], "lower_case", 1))
