"""Which parts of compound words a keyword finds, and which it must not: pairs that were chosen by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from siteglass.query.compounds import LANGUAGES, MAX_WORD_CHARS, parts_of_texts, parts_of_word
from siteglass.query.folding import fold

_, *PAIRS = [line.split("\t") for line in Path(__file__).with_name("compounds.tsv").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("language", "keyword", "word", "found"), PAIRS)
def test_a_part_is_found_exactly_where_it_means_what_it_says(
    language: str, keyword: str, word: str, found: str
) -> None:
    assert (fold(keyword) in parts_of_word(word, language)) is (found == "yes")


def test_words_are_split_in_the_language_of_the_lead_only() -> None:
    texts = ["Zahnarztpraxis am Markt", "Zahnarztpraxis, Autowerkstatt"]
    assert parts_of_texts(texts, "de") == ["zahnarzt", "praxis", "auto", "werkstatt"]
    assert parts_of_texts(texts, "en") == parts_of_texts(texts, "") == []
    assert parts_of_word("tannlegesenter", "nb") == parts_of_word("tannlegesenter", "no")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_long_or_strange_word_takes_no_time(language: str) -> None:
    assert parts_of_word("zahn" * 9 + "q", language) == ()
    assert parts_of_word("a" * MAX_WORD_CHARS, language) == parts_of_word("haus" * 99, language) == ()
