"""docs/guides/sentences.md: the sentence that it works through is read as its tables show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

import pytest

from siteglass.query.natural import Interpretation, interpret
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.reading import read, split
from siteglass.query.natural.sentence import Steps
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "guides" / "sentences.md").read_text()
SENTENCE = re.search(r"^> (.+)$", PAGE, re.MULTILINE)[1]  # type: ignore[index]
TODAY = date(2026, 11, 15)


def _table(*rows: Iterable[str]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * lines[0].count(" | ") + " --- |", *lines[1:]])


def _words_with_senses() -> str:
    words = split(SENTENCE)
    rows = []
    for token, matches in zip(words.tokens, words.found, strict=True):
        phrases = [f"{length} words: " * (length > 1) + ", ".join(s.kind for s in senses) for length, senses in matches]
        rows.append((token.text, token.key if token.corrected else "", "; ".join(phrases)))
    return _table(("word", "corrected", "phrases that begin here, and what they can mean"), *rows)


def _decided_places() -> str:
    words = split(SENTENCE)
    rows = [(words.tokens[at].text, sense.kind, ", ".join(sense.values)) for at, (_, sense) in words.decided.items()]
    return _table(("word", "meaning", "value"), *rows)


def _phrases() -> str:
    parts = read(split(SENTENCE), TODAY, Steps(1_000)).parts
    rows = []
    for part in parts:
        fate = "reported" if part.refused else ", ".join(dict.fromkeys(reading.rule for reading in part.readings))
        rows.append((part.text, part.kind, part.denied_by.text if part.denied_by else "", fate or "says nothing"))
    return _table(("phrase", "meaning", "denied by", "becomes"), *rows)


def _conditions(reading: Interpretation) -> str:
    rows = [
        (f"`{one.directive}`", " … ".join(span.text for span in one.words), one.rule, f"{one.confidence:.2f}")
        for one in reading.conditions
    ]
    return _table(("condition", "words", "rule", "confidence"), *rows)


@pytest.mark.parametrize(
    "table",
    [_words_with_senses(), _decided_places(), _phrases(), _conditions(interpret(SENTENCE, TODAY))],
    ids=["words", "places", "phrases", "conditions"],
)
def test_the_page_shows_what_the_stages_make_of_the_sentence(table: str) -> None:
    assert table in PAGE, f"the page should have this table:\n{table}"


def test_the_page_shows_the_confidence_of_the_whole_and_what_is_reported() -> None:
    reading = interpret(SENTENCE, TODAY)
    assert f"The confidence of the whole is {reading.confidence:.2f}" in PAGE
    assert reading.unsupported == ()
    assert "No word is reported as not used" in PAGE


def test_every_kind_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`Role\.([A-Z_]+)`", PAGE))
    assert named
    assert named <= set(Role.__members__)
