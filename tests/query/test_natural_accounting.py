"""No word is lost: each is part of a condition, says nothing, or is reported, lowers the confidence and is refused by
`strict`. The labelled sentences are in `sentences`; most were written before the reader was made to pass them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from siteglass.errors import QueryError
from siteglass.leads.interpret import refuse_if_unsure
from siteglass.query.body import Meaning, read_meaning
from siteglass.query.doubt import find_doubts
from siteglass.query.folding import fold
from siteglass.query.natural import LOW_CONFIDENCE, Interpretation, interpret
from siteglass.query.natural.interpretation import Span
from testing.outcomes import first_by_day
from testing.sentences.generate import generate
from testing.sentences.honesty import OPEN_SETS
from testing.sentences.score import TODAY

SENTENCES = Path(__file__).parent / "sentences"
SETS = Path("testing/sentences/sets")
SURE = 0.95
CHUNKS, PER_CHUNK = 4, 2_500
SHOWN = 20
_WORD = re.compile(r"[^\W_]+")


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SENTENCES / name).read_text().splitlines()]


def _by_query(row: dict[str, Any]) -> str:
    return str(row["query"])


def _meaning(query: str) -> tuple[Meaning, Interpretation]:
    meaning = read_meaning({"query": query}, int(TODAY.timestamp() * 1000))
    assert meaning.sentence is not None
    return meaning, meaning.sentence


def _words(spans: Iterator[Span]) -> set[str]:
    return {word for span in spans for word in _WORD.findall(fold(span.text))}


def _reported(sentence: Interpretation) -> set[str]:
    return _words(span for note in sentence.unsupported for span in note.words)


@pytest.mark.promise("query.no_word_lost")
@pytest.mark.parametrize("row", _rows("unused_words.jsonl"), ids=_by_query)
def test_a_word_that_no_condition_uses_is_reported_and_refused(row: dict[str, Any]) -> None:
    """How many leads somebody wants, and what they say of themselves, is reported, but leaves no doubt."""
    meaning, sentence = _meaning(row["query"])
    assert {fold(word) for word in row["unused"]} <= _reported(sentence)
    if row.get("settled"):
        assert find_doubts(meaning) == []
        return
    assert sentence.confidence < SURE
    assert find_doubts(meaning)
    with pytest.raises(QueryError):
        refuse_if_unsure(meaning)


@pytest.mark.parametrize("row", _rows("used_words.jsonl"), ids=_by_query)
def test_a_word_that_looks_lost_belongs_to_a_condition(row: dict[str, Any]) -> None:
    _, sentence = _meaning(row["query"])
    said = {one.directive: _words(iter(one.words)) for one in sentence.conditions}
    for directive in row["by"]:
        assert {fold(word) for word in row["used"]} <= said[directive]


@pytest.mark.promise("query.no_word_lost")
@pytest.mark.parametrize("row", _rows("clear.jsonl"), ids=_by_query)
def test_a_clear_sentence_has_no_notes(row: dict[str, Any]) -> None:
    """Ambiguous names (London, Canada) and keywords are less sure, but `strict` takes them."""
    meaning, sentence = _meaning(row["query"])
    assert sentence.unsupported == ()
    assert find_doubts(meaning) == []
    assert sentence.confidence >= (LOW_CONFIDENCE if row.get("ambiguous") else SURE)
    refuse_if_unsure(meaning)


@pytest.mark.parametrize("query", ["IT brands in Germany", "IT-Marken in Bayern"])
def test_a_code_that_is_rather_a_word_is_refused(query: str) -> None:
    """The reader takes IT for Italy, and says that it is not sure."""
    meaning, sentence = _meaning(query)
    assert sentence.confidence < LOW_CONFIDENCE
    with pytest.raises(QueryError, match="IT"):
        refuse_if_unsure(meaning)
    assert _meaning("stores in DE, IT and FR")[1].confidence >= LOW_CONFIDENCE


@cache
def _empty_words() -> frozenset[str]:
    lines = (SENTENCES / "empty_words.txt").read_text().splitlines()
    return frozenset(fold(word) for line in lines if not line.startswith("#") for word in line.split())


def _lost(query: str) -> list[str]:
    """Words that are in no condition and in no note, and that the list of the tests does not call empty."""
    sentence = interpret(query, TODAY.date())
    spans = [span for one in sentence.conditions for span in one.words]
    spans.extend(span for note in sentence.unsupported for span in note.words)
    spans.extend(one.word for one in sentence.corrections if fold(one.to) in _empty_words())
    return [
        word[0]
        for word in _WORD.finditer(sentence.query)
        if not any(span.start < word.end() and word.start() < span.end for span in spans)
        and fold(word[0]) not in _empty_words()
        and not _numbers_an_item(sentence.query, word)
    ]


def _numbers_an_item(query: str, word: re.Match[str]) -> bool:
    """ "(1) business type", "2) Leeds", "lookin 4", "stores 4 kayaks" and the name of a field before "="."""
    numbered = word[0].isdigit() and (
        query[word.end() : word.end() + 1] == ")" or query[: word.start()].endswith(("lookin ", "stores "))
    )
    return numbered or query[word.start() :].startswith("service_type =")


def _labelled(name: str) -> Iterator[str]:
    for line in (SETS / name).read_text().splitlines():
        yield json.loads(line)["query"]


@pytest.mark.promise("query.no_word_lost")
@pytest.mark.no_cover
@pytest.mark.parametrize("name", OPEN_SETS)
def test_no_content_word_is_lost(name: str) -> None:
    _assert_none_lost(_labelled(f"{name}.jsonl"))


@pytest.mark.promise("query.no_word_lost")
@pytest.mark.no_cover
@pytest.mark.parametrize("seed", first_by_day(range(CHUNKS)))
def test_no_content_word_of_a_generated_sentence_is_lost(seed: int) -> None:
    _assert_none_lost(row.query for row in generate(PER_CHUNK, seed=83 + seed))


def _assert_none_lost(queries: Iterable[str]) -> None:
    lost = {query: words for query in queries if (words := _lost(query))}
    assert not lost, f"{len(lost)} sentences, such as {list(lost.items())[:SHOWN]}"
