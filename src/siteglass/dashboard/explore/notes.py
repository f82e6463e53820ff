"""What somebody should know before trusting a search: corrected words, other readings, unused words, wishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from siteglass.dashboard.explore.address import ExploreSearch
from siteglass.dashboard.explore.chips import clause_name, value_text, words_text
from siteglass.query.body import Meaning
from siteglass.query.criteria import Condition
from siteglass.query.directives import parse
from siteglass.query.doubt import Doubt, find_doubts
from siteglass.query.natural.interpretation import Alternative
from siteglass.query.natural.wishes import WISHES
from siteglass.query.notes import SearchNote, find_notes
from siteglass.query.read_back import read_back
from siteglass.query.suggested import ModelReading, other_readings
from siteglass.query.values import MAX_VALUE_CHARS

MAX_SHOWN = 8


@dataclass(frozen=True, slots=True)
class SearchHint:
    """A line under the chips, perhaps with a link that changes the search."""

    text: str
    action: str = ""
    path: str = ""
    warns: bool = False
    """Whether the results lack what was asked for."""


def make_hints(search: ExploreSearch, meaning: Meaning | None, offered: ModelReading | None = None) -> list[SearchHint]:
    """The hints on a search, those on its words first; another reading may be offered by a language model."""
    hints: list[SearchHint] = []
    if meaning is not None and meaning.sentence is not None:
        hints += _on_words(search, meaning, other_readings(meaning.sentence, offered))
    hints += [hint for note in find_notes(search.criteria) for hint in _on_conditions(search, note)]
    return hints[:MAX_SHOWN]


def _on_words(search: ExploreSearch, meaning: Meaning, others: Iterable[Alternative]) -> Iterator[SearchHint]:
    for doubt in find_doubts(meaning):
        if doubt.kind == "unused":
            yield from _on_unused(search, doubt)
        elif doubt.kind == "corrected":
            yield SearchHint(f"Read “{doubt.said}” as “{doubt.to}”.")
        elif doubt.words:
            yield SearchHint(f"Check “{words_text(doubt.words)}”: {doubt.message}.", warns=doubt.excludes)
    for other in others:
        read = parse("\n".join(other.directives))
        path = search.changed([*read.conditions, *search.added]).path
        if other.model:
            yield SearchHint(f"{other.model} reads this as: {read_back(read)}.", "Search that instead?", path)
            continue
        yield SearchHint(f"“{words_text(other.words)}” can mean something else.", f"{other.reading} instead?", path)


def _on_unused(search: ExploreSearch, doubt: Doubt) -> Iterator[SearchHint]:
    words = words_text(doubt.words)
    required = Condition("keywords", (words,))
    if doubt.message in WISHES.values():
        yield SearchHint(f"{doubt.message} These results ignore “{words}”.", warns=True)
    elif doubt.excludes:
        yield SearchHint(f"Not used: “{words}”. Nothing was left out for it.", warns=True)
    elif len(words) > MAX_VALUE_CHARS:
        yield SearchHint(f"Not used: “{words}”.")
    elif required not in search.criteria.conditions:
        path = search.changed([*search.criteria.conditions, required]).path
        yield SearchHint(f"Not used: “{words}”.", "Require it?", path)


def _on_conditions(search: ExploreSearch, note: SearchNote) -> Iterator[SearchHint]:
    if note.undetected is not None:
        yield SearchHint(f"{clause_name(note.conditions[0])}: {note.message}.", warns=True)
        return
    if note.unknown is None:
        names = " and ".join(map(clause_name, note.conditions))
        why = note.message.rpartition(": ")[2]
        yield SearchHint(f"{names} contradict each other: {why}.", warns=True)
        return
    (condition,) = note.conditions
    nearest = note.nearest()
    text = f"We don't know {clause_name(replace(condition, values=(note.unknown,)))}."
    if not nearest or condition not in search.criteria.conditions:
        yield SearchHint(text, warns=True)
        return
    values = tuple(nearest[0] if value == note.unknown else value for value in condition.values)
    path = search.replacing(condition, replace(condition, values=values)).path
    yield SearchHint(text, f"{value_text(condition, nearest[0])} instead?", path, warns=True)
