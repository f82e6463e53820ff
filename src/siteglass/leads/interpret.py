"""Operation 3: what a search means, without running it: each condition with the words that say it, and the total."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

from siteglass.errors import Problem, QueryError, Unavailable
from siteglass.index import counting
from siteglass.index.compile import Extra
from siteglass.index.index import Index
from siteglass.leads.language_model import LanguageModel
from siteglass.leads.responses import (
    CORRECTED_HEADER,
    MAX_SUMMARY_CHARS,
    NOTES_HEADER,
    UNUSED_HEADER,
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
from siteglass.query.body import Meaning
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse, print_condition
from siteglass.query.doubt import NO_CONDITION, Doubt, confidence_of, find_doubts, needs_review, said_by, unused_notes
from siteglass.query.filters import describe_clause, directive_can_say
from siteglass.query.natural.interpretation import Note, Span, Understood
from siteglass.query.notes import MAX_LOOKED_UP, MAX_NOTES, find_notes
from siteglass.query.read_back import read_back
from siteglass.query.suggested import ModelReading, other_readings, read_suggestions

MAX_HEADER_CHARS = 1_000
# Characters of one entry: percent-encoded, each has at most 12, so that the first always fits.
MAX_HEADER_WORDS = 80


async def count(index: Index, meaning: Meaning, listed: tuple[Extra, ...] = ()) -> counting.Total:
    """How many leads match; none where a search would be refused."""
    if finds_all_leads(meaning):
        return counting.Total(0)
    try:
        async with asyncio.timeout(index.settings.request_timeout_ms / 1000):
            return await counting.count(index, meaning.criteria, listed)
    except TimeoutError as error:
        raise Unavailable("the matches were not counted before the request's deadline") from error


async def ask_model(model: LanguageModel, meaning: Meaning) -> ModelReading | None:
    """What a language model makes of a sentence whose reading is doubtful; None if it is not, or the model is silent.

    It is offered: what is searched depends on the sentence and our rules alone.
    """
    if meaning.sentence is None or all(doubt.kind == "condition" for doubt in find_doubts(meaning)):
        return None
    suggestions = await model.suggestions(meaning.sentence.query)
    if suggestions is None:
        return None
    made = read_suggestions(model.name, meaning.sentence, suggestions)
    for reason in made.rejected:
        metrics.LANGUAGE_MODEL_REJECTIONS.labels(reason).inc()
    return made


def note_headers(meaning: Meaning) -> dict[str, str]:
    """How many things a caller may want to know before trusting the search, and the words that they are about."""
    doubts = find_doubts(meaning)
    unused = [quote(one.said[:MAX_HEADER_WORDS]) for one in doubts if one.kind == "unused"]
    corrected = [f"{quote(one.said)}={quote(one.to)}" for one in doubts if one.kind == "corrected"]
    headers = {NOTES_HEADER: str(len(doubts)), UNUSED_HEADER: _listed(unused), CORRECTED_HEADER: _listed(corrected)}
    return {name: value for name, value in headers.items() if value}


def _listed(words: list[str]) -> str:
    """As many as fit into a header."""
    while words and len(", ".join(words)) > MAX_HEADER_CHARS:
        words = words[:-1]
    return ", ".join(words)


def refuse_if_unsure(meaning: Meaning) -> None:
    """Raise QueryError if a word was not understood, corrected or replaced, or the reading is not sure."""
    sentence = meaning.sentence
    if sentence is None:
        return
    doubts = find_doubts(meaning)
    certain = [_problem(sentence, one) for one in doubts if one.kind in ("unused", "corrected")]
    problems = certain or [_problem(sentence, one) for one in doubts if one.kind in ("empty", "unsure")]
    if problems:
        raise QueryError(problems)


def finds_all_leads(meaning: Meaning) -> bool:
    """Whether a sentence was sent, and neither it nor anything beside it restricts the search."""
    return meaning.sentence is not None and not meaning.criteria.conditions


def refuse_if_empty(meaning: Meaning) -> None:
    """Raise QueryError if a sentence says nothing to search for: it would find, and charge, all leads."""
    sentence = meaning.sentence
    if sentence is not None and finds_all_leads(meaning):
        unused = [one for one in find_doubts(meaning) if one.kind == "unused"]
        raise QueryError([_problem(sentence, one) for one in (Doubt("empty", NO_CONDITION), *unused)])


def _problem(sentence: natural.Interpretation, doubt: Doubt) -> Problem:
    """A doubt as a reason to refuse, with the place of its words."""
    if not doubt.words:
        return Problem("query", doubt.message, 1, 1)
    before = sentence.query[: doubt.words[0].start]
    message, nearest = f"{said_by(doubt)}: {doubt.message}", None
    if doubt.kind == "corrected":
        message, nearest = f"{doubt.said!r} is not a known word; did you mean {doubt.to!r}?", doubt.to
    return Problem("query", message, before.count("\n") + 1, len(before) - before.rfind("\n"), nearest)


def summary_of(meaning: Meaning) -> str:
    """The reading in one line, for people who are about to pay: what is searched, what was corrected and not used."""
    doubts = find_doubts(meaning)
    corrected = [f'"{one.said}" read as {one.to}' for one in doubts if one.kind == "corrected"]
    unused = ", ".join(f'"{one.said}"' for one in doubts if one.kind == "unused")
    unsure = [f'"{one.said}": {one.message}' for one in doubts if one.kind == "unsure"]
    others = [one.message for one in doubts if one.kind == "condition"]
    whole = [_read_back(meaning) or "Nothing to search for", *corrected, *([f"not used: {unused}"] if unused else ())]
    return " · ".join([*whole, *unsure, *others])[:MAX_SUMMARY_CHARS]


def _read_back(meaning: Meaning) -> str | None:
    return None if finds_all_leads(meaning) else read_back(meaning.said)


def interpretation_of(meaning: Meaning, offered: ModelReading | None = None) -> Interpretation:
    """The reading of a search, as it is returned, with another one that a language model offers."""
    sentence = meaning.sentence
    understood = sentence.understood if sentence else {}
    read = {one: known for one, known in understood.items() if one not in meaning.unused}
    return Interpretation(
        query=None if sentence is None else sentence.query,
        read_back=_read_back(meaning),
        summary=summary_of(meaning),
        needs_review=needs_review(meaning),
        directives=[print_condition(one) for one in meaning.said.conditions if directive_can_say(one)],
        filters=meaning.filters,
        conditions=[_condition(one, read.get(one)) for one in meaning.said.conditions],
        **_notes(meaning, sentence, offered),
        notes=notes_on_search(meaning),
        confidence=confidence_of(meaning),
        backend="rules" if offered is None else "rules+model",
        model=None if offered is None else offered.model,
    )


def _condition(condition: Clause, known: Understood | None) -> ConditionReading:
    return ConditionReading(
        directive=describe_clause(condition),
        words=[] if known is None else _spans(known.words),
        rule="given" if known is None else known.rule,
        confidence=1.0 if known is None else known.confidence,
    )


def _notes(
    meaning: Meaning, sentence: natural.Interpretation | None, offered: ModelReading | None
) -> dict[str, list[Any]]:
    if sentence is None:
        return {name: [] for name in ("assumptions", "corrections", "alternatives", "ignored", "unsupported")}
    return {
        "assumptions": [_note(note) for note in sentence.assumptions],
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
            for one in other_readings(sentence, offered)
        ],
        "ignored": [_span(span) for span in sentence.ignored],
        "unsupported": [_note(note) for note in unused_notes(meaning)],
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


def _note(note: Note) -> NoteOnWords:
    return NoteOnWords(words=_spans(note.words), message=note.message)


def _spans(spans: tuple[Span, ...]) -> list[Words]:
    return [_span(span) for span in spans]


def _span(span: Span) -> Words:
    return Words(text=span.text, start=span.start, end=span.end)
