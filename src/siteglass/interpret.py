"""Operation 3: what a search means, without running it: each condition with the words that say it, and the total."""

from __future__ import annotations

from typing import Any

from siteglass.backends import Backends
from siteglass.errors import Problem, QueryError
from siteglass.index import pages
from siteglass.index.names import Names
from siteglass.query.body import Meaning
from siteglass.query.directives import print_condition
from siteglass.query.filters import directive_can_say
from siteglass.query.natural import LOW_CONFIDENCE, Interpretation
from siteglass.query.natural.interpretation import Note, Span

_REPLACED = "a filter that is given says this otherwise, and holds"


async def count(backends: Backends, names: Names, meaning: Meaning) -> pages.Total:
    """How many leads match."""
    return await pages.count(backends, names, meaning.criteria)


def note_count(meaning: Meaning) -> int:
    """How many things a caller may want to know before trusting the reading of a sentence."""
    return 0 if meaning.sentence is None else meaning.sentence.notes + len(meaning.replaced)


def refuse_if_unsure(meaning: Meaning) -> None:
    """Raise QueryError if a word was not understood or corrected, or the reading is not sure."""
    sentence = meaning.sentence
    if sentence is None:
        return
    problems = [_problem(note.words, note.message) for note in (*sentence.unsupported, *_replaced(meaning))]
    problems.extend(
        _problem((one.word,), f"{one.word.text!r} is no known word; did you mean {one.to!r}?", one.to)
        for one in sentence.corrections
    )
    if not problems and sentence.confidence < LOW_CONFIDENCE:
        unsure = min(sentence.conditions, key=lambda one: one.confidence)
        problems.append(_problem(unsure.words, f"not sure that this means {unsure.directive}; say it in other words"))
    if problems:
        raise QueryError(problems)


def _problem(words: tuple[Span, ...], message: str, nearest: str | None = None) -> Problem:
    column = words[0].start + 1 if words else 1
    said = " ".join(span.text for span in words)
    return Problem("query", f"{said[:64]!r}: {message}" if said else message, 1, column, nearest)


def explained(meaning: Meaning) -> dict[str, Any]:
    """The reading of a search, as it is answered."""
    sentence = meaning.sentence
    read = {} if sentence is None else {one.directive: one for one in sentence.conditions}
    conditions = []
    for condition in meaning.criteria.conditions:
        directive = print_condition(condition)
        known = read.get(directive)
        conditions.append(
            {
                "directive": directive,
                "words": [] if known is None else _spans(known.words),
                "rule": "given" if known is None else known.rule,
                "confidence": 1.0 if known is None else known.confidence,
            }
        )
    return {
        "query": None if sentence is None else sentence.query,
        "directives": [print_condition(one) for one in meaning.criteria.conditions if directive_can_say(one)],
        "filters": meaning.filters,
        "conditions": conditions,
        **_notes(meaning, sentence),
        "confidence": 1.0 if sentence is None else sentence.confidence,
    }


def _notes(meaning: Meaning, sentence: Interpretation | None) -> dict[str, Any]:
    if sentence is None:
        return {name: [] for name in ("assumptions", "corrections", "alternatives", "ignored", "unsupported")}
    return {
        "assumptions": [_note(note) for note in sentence.assumptions],
        "corrections": [{**_span(one.word), "to": one.to} for one in sentence.corrections],
        "alternatives": [
            {"words": _spans(one.words), "reading": one.reading, "directives": list(one.directives)}
            for one in sentence.alternatives
        ],
        "ignored": _spans(sentence.ignored),
        "unsupported": [_note(note) for note in (*sentence.unsupported, *_replaced(meaning))],
    }


def _replaced(meaning: Meaning) -> list[Note]:
    """Words whose condition a given filter replaces."""
    if meaning.sentence is None:
        return []
    gone = {print_condition(condition) for condition in meaning.replaced}
    return [Note(one.words, _REPLACED) for one in meaning.sentence.conditions if one.directive in gone]


def _note(note: Note) -> dict[str, Any]:
    return {"words": _spans(note.words), "message": note.message}


def _spans(spans: tuple[Span, ...]) -> list[dict[str, Any]]:
    return [_span(span) for span in spans]


def _span(span: Span) -> dict[str, Any]:
    return {"text": span.text, "start": span.start, "end": span.end}
