"""Words for trades in eight languages, written without sight of the tables (`testing/corpus/README.md`)."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from siteglass.query.trades import trades

FOLDER = Path(__file__).parents[2] / "testing" / "corpus" / "trades"
LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "nl", "pl"}


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_at_least_95_of_100_words_name_their_trade_and_none_names_another() -> None:
    pairs = _rows("trade_pairs.tsv")
    assert len(pairs) >= 300
    counts = Counter(row["language"] for row in pairs)
    assert set(counts) == LANGUAGES
    assert min(counts.values()) >= 30
    answers = [(row, trades().find(row["word"], row["language"])) for row in pairs]
    right = sum(answer == (row["trade"],) for row, answer in answers)
    wrong = [(row["word"], answer) for row, answer in answers if answer and row["trade"] not in answer]
    assert wrong == []
    assert right / len(pairs) >= 0.95


def test_no_other_word_names_a_trade() -> None:
    lines = (FOLDER / "not_trades.txt").read_text().splitlines()
    assert len(lines) >= 100
    named = {line: trades().find(text, language) for line in lines for language, text in [line.split("\t")]}
    assert {line: answer for line, answer in named.items() if answer} == {}


def test_every_label_is_a_trade() -> None:
    known = set(trades().ids())
    labels = {row["trade"] for name in ("trade_pairs.tsv", "real_pages.tsv") for row in _rows(name)}
    assert labels - known <= {"-"}
