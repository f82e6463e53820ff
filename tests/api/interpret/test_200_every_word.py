"""Laws of readings, over a sample of the sentences for development."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from testing.api_calls import search
from testing.sentences.score import SETS
from tests.api.interpret.test_200 import read

DEVELOPMENT = SETS / "dev.jsonl"
SENTENCES = [json.loads(line)["query"] for line in DEVELOPMENT.read_text().splitlines()]
SAMPLE = SENTENCES[:: len(SENTENCES) // 150]
WORD = re.compile(r"[^\W_]+")
"""A run of letters and digits."""


def _words(told: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The words of each fate that a word can have."""
    return {
        "conditions": [words for one in told["conditions"] for words in one["words"]],
        "ignored": told["ignored"],
        "unsupported": [words for one in told["unsupported"] for words in one["words"]],
    }


def _spans(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for some in _words(told).values():
        yield from some
    yield from told["corrections"]
    for name in ("assumptions", "alternatives"):
        yield from (words for one in told[name] for words in one["words"])


@pytest.fixture(scope="module")
def readings(own: httpx.Client) -> dict[str, dict[str, Any]]:
    assert len(SAMPLE) >= 150
    return {query: read(own, {"query": query}) for query in SAMPLE}


@pytest.mark.promise("query.every_word")
def test_every_word_has_one_fate(readings: dict[str, dict[str, Any]]) -> None:
    for query, told in readings.items():
        for word in WORD.finditer(query):
            fates = [
                fate
                for fate, some in _words(told).items()
                if any(words["start"] <= word.start() and word.end() <= words["end"] for words in some)
            ]
            assert len(fates) == 1, (query, word[0], fates)


def test_every_text_is_what_stands_there(readings: dict[str, dict[str, Any]]) -> None:
    for query, told in readings.items():
        assert told["query"] == query
        for words in _spans(told):
            assert query[words["start"] : words["end"]] == words["text"], query
            assert words["text"] == words["text"].strip() != "", query


def test_every_condition_has_words_a_rule_and_a_confidence(readings: dict[str, dict[str, Any]]) -> None:
    for query, told in readings.items():
        for one in told["conditions"]:
            assert one["words"], (query, one)
            assert one["rule"] not in ("", "given"), (query, one)
            assert 0 < one["confidence"] <= 1, (query, one)
        assert told["confidence"] <= min((one["confidence"] for one in told["conditions"]), default=1.0), query


def test_every_reading_can_be_searched(own: httpx.Client, readings: dict[str, dict[str, Any]]) -> None:
    for query in SAMPLE[::5]:
        told = readings[query]
        page = search(own, {**told["filters"], "limit": 1})
        assert page["total_results"] == told["total_results"], query
        assert page["filters"] == told["filters"], query
