"""What somebody should know before trusting a search: corrected words, other readings, unused words, wishes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from siteglass.dashboard.explore.address import ExploreSearch
from siteglass.dashboard.explore.chips import clause_name, value_text, words_text
from siteglass.query.body import Meaning
from siteglass.query.criteria import Condition
from siteglass.query.directives import parse
from siteglass.query.doubt import Doubt, find_doubts
from siteglass.query.natural import Interpretation
from siteglass.query.natural.wishes import WISHES
from siteglass.query.notes import SearchNote, find_notes
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


def make_hints(search: ExploreSearch, meaning: Meaning | None) -> list[SearchHint]:
    """The hints on a search, those on its words first."""
    hints = [] if meaning is None or meaning.sentence is None else [*_on_words(search, meaning, meaning.sentence)]
    hints += [hint for note in find_notes(search.criteria) for hint in _on_conditions(search, note)]
    return hints[:MAX_SHOWN]


def _on_words(search: ExploreSearch, meaning: Meaning, sentence: Interpretation) -> Iterator[SearchHint]:
    for doubt in find_doubts(meaning):
        if doubt.kind == "unused":
            yield from _on_unused(search, doubt)
        elif doubt.kind == "corrected":
            yield SearchHint(f"Read “{doubt.said}” as “{doubt.to}”.")
        elif doubt.words:
            yield SearchHint(f"Check “{words_text(doubt.words)}”: {doubt.message}.", warns=doubt.excludes)
    for other in sentence.alternatives:
        conditions = parse("\n".join(other.directives)).conditions
        path = search.changed([*conditions, *search.added]).path
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
