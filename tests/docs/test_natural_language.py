"""docs/reference/natural-language.md: every sentence of its tables means what is written beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from siteglass.leads.interpret import interpretation_of
from siteglass.query.body import read_meaning
from siteglass.query.directives import ANY
from siteglass.query.fields import DIRECTIVES
from tests.docs.blocks import ROOT

PAGE = ROOT / "docs" / "reference" / "natural-language.md"
GRAMMAR = ROOT / "docs" / "guides" / "sentences.md"
NOW_MS = round(datetime(2026, 11, 15, 12, tzinfo=UTC).timestamp() * 1000)


class Row(NamedTuple):
    """A line of a table: the sentence, the conditions beside it, and what is reported about its words."""

    sentence: str
    meaning: list[str]
    told: str


def _rows(head: str, page: Path = PAGE) -> Iterator[Row]:
    """The rows of the tables with this head."""
    for table in re.findall(rf"^{re.escape(head)}\n\| ---.*\n((?:\|.*\n)+)", page.read_text(), re.MULTILINE):
        for line in table.splitlines():
            sentence, meaning, *told = line.strip("| ").replace("&lt;", "<").split(" | ")
            yield Row(sentence, re.findall(r"`([^`]+)`", meaning.replace("\\|", "|")), "".join(told))


PLAIN = [*_rows("| sentence | means |"), *_rows("| sentence | means |", GRAMMAR)]
MISSPELT = list(_rows("| sentence | means | corrected |"))
UNSAID = list(_rows("| sentence | means | not searched |"))


def _read(sentence: str) -> dict[str, Any]:
    reading: dict[str, Any] = msgspec.to_builtins(interpretation_of(read_meaning({"query": sentence}, NOW_MS)))
    return reading


def _text(words: list[dict[str, Any]]) -> str:
    return " ".join(each["text"] for each in words)


@pytest.mark.promise("query.meaning")
@pytest.mark.parametrize("row", [*PLAIN, *MISSPELT, *UNSAID], ids=lambda row: row.sentence)
def test_a_sentence_means_what_the_page_says(row: Row) -> None:
    assert [one["directive"] for one in _read(row.sentence)["conditions"]] == row.meaning


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row.sentence)
def test_nothing_of_it_is_left_over(row: Row) -> None:
    told = _read(row.sentence)
    assert told["unsupported"] == told["corrections"] == []


@pytest.mark.parametrize("row", MISSPELT, ids=lambda row: row.sentence)
def test_what_is_misspelt_is_corrected(row: Row) -> None:
    told = _read(row.sentence)
    assert "; ".join(f"{one['text']} → {one['to']}" for one in told["corrections"]) == row.told
    assert told["unsupported"] == []


@pytest.mark.parametrize("row", UNSAID, ids=lambda row: row.sentence)
def test_what_cannot_be_said_is_told(row: Row) -> None:
    unsupported = _read(row.sentence)["unsupported"]
    assert "; ".join(f"{_text(one['words'])}: {one['message']}" for one in unsupported) == row.told


def test_everything_that_can_be_searched_can_be_said() -> None:
    said = {name for row in PLAIN for line in row.meaning for name in re.findall(r"^!?@(\w+)", line)}
    # No words ask for a confidence.
    assert said == {ANY, *(asked.ask.directive for asked in DIRECTIVES.values())} - {"email_confidence"}
    assert len(PLAIN) > 80
    assert MISSPELT
    assert UNSAID
