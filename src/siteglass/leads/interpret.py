"""Operation 3: what a search means, without running it: each condition with the words that say it, and the total."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from siteglass.errors import Problem, QueryError, Unavailable
from siteglass.index import pages
from siteglass.index.compile import Extra
from siteglass.index.index import Index
from siteglass.leads.language_model import LanguageModel
from siteglass.leads.responses import (
    AlternativeReading,
    ConditionReading,
    Correction,
    Interpretation,
    NoteOnConditions,
    NoteOnWords,
    Words,
)
from siteglass.platform import metrics
from siteglass.query import natural
from siteglass.query.body import Meaning, with_suggestions
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse, print_condition
from siteglass.query.filters import describe_clause, directive_can_say
from siteglass.query.natural import LOW_CONFIDENCE
from siteglass.query.natural.interpretation import TOO_LARGE, Note, Span, Understood
from siteglass.query.notes import MAX_LOOKED_UP, MAX_NOTES, find_notes
from siteglass.query.read_back import read_back
from siteglass.query.suggested import CONFIDENCE, inside, is_wanted

_MOST_WORDS_TOLD_CHARS = 64
_NOTHING = Problem(
    "query",
    "it contains no condition, so it would match all leads. Describe the leads you want, send a filter, or omit "
    "`query` to search all leads. Nothing was charged",
    1,
    1,
)


async def count(index: Index, meaning: Meaning, listed: tuple[Extra, ...] = ()) -> pages.Total:
    """How many leads match; none where a search would be refused."""
    if finds_all_leads(meaning):
        return pages.Total(0)
    try:
        async with asyncio.timeout(index.settings.request_timeout_ms / 1000):
            return await pages.count(index, meaning.criteria, listed)
    except TimeoutError as error:
        raise Unavailable("the matches were not counted before the request's deadline") from error


async def with_model(model: LanguageModel, meaning: Meaning, body: Mapping[str, Any], now_ms: int) -> Meaning:
    """What the body means with what the model makes of words that the rules could not place; else as it was."""
    if meaning.sentence is None or not is_wanted(meaning.sentence):
        return meaning
    suggestions = await model.suggestions(meaning.sentence.query)
    if suggestions is None:
        return meaning
    made = with_suggestions(meaning, body, now_ms, model.name, suggestions)
    for reason in made.second.rejected if made.second else ():
        metrics.LANGUAGE_MODEL_REJECTIONS.labels(reason).inc()
    return made


def note_count(meaning: Meaning) -> int:
    """How many things a caller may want to know before trusting the search."""
    on_search = len(find_notes(meaning.said))
    if meaning.sentence is None:
        return on_search
    second = meaning.second
    of_model = len(second.conditions) + len(second.notes) - len(second.settled) if second else 0
    notes = meaning.sentence.notes + len(_unused(meaning)) + of_model + on_search
    return notes or int(not meaning.criteria.conditions)  # a sentence that restricts nothing finds all leads


def refuse_if_unsure(meaning: Meaning) -> None:
    """Raise QueryError if a word was not understood, corrected or replaced, or the reading is not sure."""
    sentence = meaning.sentence
    if sentence is None:
        return
    problems = _not_searched(meaning, sentence)
    problems.extend(
        _problem(sentence, (one.word,), f"{one.word.text!r} is not a known word; did you mean {one.to!r}?", one.to)
        for one in sentence.corrections
    )
    if not problems and not sentence.criteria.conditions:
        problems.append(_NOTHING)
    if not problems and sentence.confidence < LOW_CONFIDENCE:
        problems.append(_unsure(sentence))
    if problems:
        raise QueryError(sorted(problems, key=lambda one: (one.line or 0, one.column or 0)))


def finds_all_leads(meaning: Meaning) -> bool:
    """Whether a sentence was sent, and neither it nor anything beside it restricts the search."""
    return meaning.sentence is not None and not meaning.criteria.conditions


def refuse_if_empty(meaning: Meaning) -> None:
    """Raise QueryError if a sentence says nothing to search for: it would find, and charge, all leads."""
    if meaning.sentence is not None and finds_all_leads(meaning):
        raise QueryError([_NOTHING, *_not_searched(meaning, meaning.sentence)])


def _not_searched(meaning: Meaning, sentence: natural.Interpretation) -> list[Problem]:
    return [
        _problem(sentence, note.words, f"{_said(note)}: {note.message}")
        for note in (*sentence.unsupported, *_unused(meaning))
    ]


def _unsure(sentence: natural.Interpretation) -> Problem:
    """The least certain condition, with its assumptions."""
    unsure = min(sentence.conditions, key=lambda one: one.confidence)
    why = "".join(f" ({note.message})" for note in sentence.assumptions if note.words == unsure.words)
    return _problem(sentence, unsure.words, f"{_said(unsure)}: not sure that this means {unsure.directive}{why}")


def _said(told: Note | Understood) -> str:
    return repr(" ".join(span.text for span in told.words)[:_MOST_WORDS_TOLD_CHARS])


def _problem(
    sentence: natural.Interpretation, words: tuple[Span, ...], message: str, nearest: str | None = None
) -> Problem:
    before = sentence.query[: words[0].start]
    return Problem("query", message, before.count("\n") + 1, len(before) - before.rfind("\n"), nearest)


def interpretation_of(meaning: Meaning) -> Interpretation:
    """The reading of a search, as it is returned."""
    sentence, second = meaning.sentence, meaning.second
    of_model = second.conditions if second else {}
    understood = sentence.understood if sentence else {}
    read = {**{one: known for one, known in understood.items() if one not in meaning.unused}, **of_model}
    return Interpretation(
        query=None if sentence is None else sentence.query,
        read_back=None if finds_all_leads(meaning) else read_back(meaning.said),
        directives=[print_condition(one) for one in meaning.said.conditions if directive_can_say(one)],
        filters=meaning.filters,
        conditions=[_condition(one, read.get(one)) for one in meaning.said.conditions],
        **_notes(meaning, sentence),
        notes=notes_on_search(meaning),
        confidence=_confidence(meaning),
        backend="rules" if second is None else "rules+model",
        model=None if second is None else second.model,
    )


def _confidence(meaning: Meaning) -> float:
    """How sure the whole reading is; not at all, if a sentence says nothing to search for."""
    if meaning.sentence is None:
        return 1.0
    if finds_all_leads(meaning):
        return 0.0
    of_model = meaning.second.conditions if meaning.second else {}
    return min(CONFIDENCE if of_model else 1.0, meaning.sentence.confidence)


def _condition(condition: Clause, known: Understood | None) -> ConditionReading:
    return ConditionReading(
        directive=describe_clause(condition),
        words=[] if known is None else _spans(known.words),
        rule="given" if known is None else known.rule,
        confidence=1.0 if known is None else known.confidence,
    )


def _notes(meaning: Meaning, sentence: natural.Interpretation | None) -> dict[str, list[Any]]:
    if sentence is None:
        return {name: [] for name in ("assumptions", "corrections", "alternatives", "ignored", "unsupported")}
    second = meaning.second
    settled, told = (second.settled, second.notes) if second else ((), ())
    taken = [span for one in second.conditions.values() for span in one.words] if second else []
    return {
        "assumptions": [_note(note) for note in (*sentence.assumptions, *told)],
        "corrections": [
            Correction(text=one.word.text, start=one.word.start, end=one.word.end, to=one.to)
            for one in sentence.corrections
        ],
        "alternatives": [
            AlternativeReading(
                words=_spans(one.words),
                reading=one.reading,
                directives=list(one.directives),
                read_back=read_back(parse("\n".join(one.directives))),
            )
            for one in sentence.alternatives
        ],
        "ignored": [_span(span) for span in sentence.ignored if not any(inside(span, other) for other in taken)],
        "unsupported": [_note(note) for note in (*sentence.unsupported, *_unused(meaning)) if note not in settled],
    }


def notes_on_search(meaning: Meaning) -> list[NoteOnConditions]:
    """Unknown values with the nearest known ones, and contradictions."""
    shown: list[NoteOnConditions] = []
    for note in find_notes(meaning.said)[:MAX_NOTES]:
        names = note.nearest() if len(shown) < MAX_LOOKED_UP else ()
        hint = f"; did you mean {names[0]}?" if names else ""
        directives = [describe_clause(condition) for condition in note.conditions]
        shown.append(NoteOnConditions(directives=directives, message=note.message + hint, nearest=list(names)))
    return shown


def _unused(meaning: Meaning) -> list[Note]:
    """Words of conditions that are not searched; one note where they say several."""
    if meaning.sentence is None:
        return []
    read = meaning.sentence.understood
    notes = {
        read[said].words: TOO_LARGE if given is None else f"{describe_clause(given)} is given, and replaces this"
        for said, given in meaning.unused.items()
    }
    return [Note(words, message) for words, message in notes.items()]


def _note(note: Note) -> NoteOnWords:
    return NoteOnWords(words=_spans(note.words), message=note.message)


def _spans(spans: tuple[Span, ...]) -> list[Words]:
    return [_span(span) for span in spans]


def _span(span: Span) -> Words:
    return Words(text=span.text, start=span.start, end=span.end)
