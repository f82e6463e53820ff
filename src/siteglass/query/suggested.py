"""What a language model says a sentence means, checked against the sentence and the rules' interpretation. Pure.

The model's response is trusted as little as the sentence. It can only name conditions that directives can express, for
words of the sentence that the rules could not interpret. Anything else is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import msgspec

from siteglass.errors import QueryError
from siteglass.query.criteria import Clause, Condition, Criteria, Value, merge
from siteglass.query.directives import parse, print_condition
from siteglass.query.field import Kind, SearchableField
from siteglass.query.fields import DIRECTIVES
from siteglass.query.folding import fold
from siteglass.query.natural import LOW_CONFIDENCE, Interpretation
from siteglass.query.natural.accounting import NOT_USED
from siteglass.query.natural.interpretation import Note, Span, Understood
from siteglass.query.natural.leftovers import NOT_UNDERSTOOD
from siteglass.query.value_text import is_unknown
from siteglass.query.values import MAX_VALUE_CHARS, ValueProblem, WrittenValue, read_all

MAX_SUGGESTIONS = 16
MAX_VALUES = 16
MAX_SOURCE_CHARS = 200
# Below LOW_CONFIDENCE: with `strict`, an interpretation by a model is never used.
CONFIDENCE = 0.5
RULE = "model"

# By the rules, words that are not known values are keywords, or ignored if negated: no model is needed for that. A
# model does not know the date, so it cannot name a time; it can name an age.
FIELDS: dict[str, SearchableField] = {
    asked.ask.directive: asked for asked in DIRECTIVES.values() if asked.ask.kind not in (Kind.TEXT, Kind.TIME)
}
OPERATORS = ("is", ">", ">=", "<", "<=", "=", "between")
_WORD = re.compile(r"\w+")

Reason = Literal["form", "field", "source", "value", "sign", "words", "filter", "size"]


class Suggestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One condition as a model writes it."""

    field: str
    operator: str
    values: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=MAX_VALUE_CHARS)], ...], msgspec.Meta(max_length=MAX_VALUES)
    ]
    negated: bool
    source_text: Annotated[str, msgspec.Meta(max_length=MAX_SOURCE_CHARS)]


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    conditions: list[Any]


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The conditions of an answer that have the right form, and how many have not."""

    conditions: tuple[Suggestion, ...]
    malformed: int = 0


@dataclass(frozen=True, slots=True)
class AcceptedSuggestion:
    """A condition of the model that goes into the search, and the words that say it."""

    condition: Condition
    words: Span


@dataclass(frozen=True, slots=True)
class CheckedSuggestions:
    """What is left of the suggestions, and why the rest is not."""

    accepted: tuple[AcceptedSuggestion, ...]
    displaced: tuple[Condition, ...]
    """Keywords of the rules, all of whose words the model reads as something else."""
    notes: tuple[Note, ...]
    rejected: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class SecondReading:
    """What a model made of a sentence that the rules had read."""

    model: str
    conditions: dict[Clause, Understood]
    """Those of the search that the model has part in, with their words."""
    notes: tuple[Note, ...]
    settled: tuple[Note, ...]
    """What the rules reported as not understood, and the model has read."""
    rejected: tuple[Reason, ...]
    """Why conditions of the model were not taken, one for each."""


def schema() -> dict[str, Any]:
    """The JSON Schema of a response: flat, and with known names only."""
    texts = {"type": "array", "items": {"type": "string"}}
    properties = {
        "field": {"type": "string", "enum": list(FIELDS)},
        "operator": {"type": "string", "enum": list(OPERATORS)},
        "values": texts,
        "negated": {"type": "boolean"},
        "source_text": {"type": "string"},
    }
    closed = {"type": "object", "additionalProperties": False}
    condition = {**closed, "properties": properties, "required": list(properties)}
    conditions = {"type": "array", "items": condition}
    return {**closed, "properties": {"conditions": conditions}, "required": ["conditions"]}


def decode(content: str) -> Suggestions:
    """The suggestions in a response; raises ValueError if it is malformed."""
    try:
        listed = msgspec.json.decode(content, type=_Content).conditions
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("no answer of the form that was asked for") from None
    conditions = []
    for one in listed[:MAX_SUGGESTIONS]:
        try:
            conditions.append(msgspec.convert(one, Suggestion))
        except msgspec.ValidationError:
            continue
    return Suggestions(tuple(conditions), len(listed) - len(conditions))


def is_wanted(sentence: Interpretation) -> bool:
    """Whether the rules are unsure, and there are words that a model may read as a condition."""
    return bool(_open_words(sentence))


def check(sentence: Interpretation, suggestions: Suggestions, given: Sequence[Condition]) -> CheckedSuggestions:
    """Hold the suggestions against the sentence, the rules' reading of it and the filters that are given."""
    known = {polar for one in (*sentence.criteria.plain, *given) for polar in _polarities(one)}
    replacing = {one.thing: one for one in given}
    denied, open_words = _denied_words(sentence), _open_words(sentence)
    accepted: list[AcceptedSuggestion] = []
    notes: list[Note] = []
    rejected: list[Reason] = ["form"] * suggestions.malformed
    for suggestion in suggestions.conditions:
        made = _read(sentence.query, suggestion, open_words)
        if not isinstance(made, AcceptedSuggestion):
            rejected.append(made)
            continue
        polarities = set(_polarities(made.condition))
        if polarities <= known:
            continue  # said already
        if any((field, value, not negated) in known for field, value, negated in polarities):
            rejected.append("sign")
            notes.append(_left_out(made, "it is known with the other sign, which holds"))
        elif not _touches(made.words, open_words):
            rejected.append("words")
        elif _affirms(made.condition) and _touches(made.words, denied):
            rejected.append("sign")
            notes.append(_left_out(made, "the words deny something"))
        elif not made.condition.negated and made.condition.thing in replacing:
            rejected.append("filter")
            holds = print_condition(replacing[made.condition.thing])
            notes.append(Note((made.words,), f"{holds} is given, and replaces this"))
        else:
            known |= polarities
            accepted.append(made)
    displaced = _displace_keywords(sentence, accepted)
    notes.extend(note for _, note in displaced)
    return CheckedSuggestions(
        tuple(accepted), tuple(condition for condition, _ in displaced), tuple(notes), tuple(rejected)
    )


def _read(query: str, suggestion: Suggestion, open_words: Sequence[Span]) -> AcceptedSuggestion | Reason:
    """The condition and its words, or why there is none."""
    asked = FIELDS.get(suggestion.field)
    if asked is None or suggestion.operator not in OPERATORS:
        return "field"
    words = _find(query, suggestion.source_text, open_words)
    if words is None:
        return "source"
    condition = _condition(asked, suggestion, words)
    return "value" if condition is None else AcceptedSuggestion(condition, words)


def _find(query: str, source_text: str, open_words: Sequence[Span]) -> Span | None:
    """Where the sentence says so, letter case and blanks aside; rather among the open words than elsewhere."""
    if not _WORD.search(source_text):
        return None
    pattern = r"\s+".join(map(re.escape, source_text.split()))
    places = [Span(m[0], *m.span()) for m in re.finditer(pattern, query, re.IGNORECASE)]
    return next((place for place in places if _touches(place, open_words)), places[0] if places else None)


def _condition(asked: SearchableField, suggestion: Suggestion, words: Span) -> Condition | None:
    """The condition as the directive parser reads it; None if a value is unknown, or is not in the sentence."""
    ask = asked.ask
    texts = _texts(asked, suggestion)
    if texts is None:
        return None
    try:
        values = read_all(ask, [WrittenValue(text) for text in texts], excluding=suggestion.negated)
        for value in values:
            # Pages have no vocabulary: they must be made of words that were said.
            said = ask.kind is not Kind.PATH or set() < _words(str(value)) <= _words(words.text)
            if not said or is_unknown(ask, value):
                return None
        (condition,) = parse(print_condition(Condition(asked.name, values, suggestion.negated))).plain
    except (ValueProblem, QueryError):
        return None
    return condition


def _words(text: str) -> set[str]:
    return set(_WORD.findall(fold(text)))


def _texts(asked: SearchableField, suggestion: Suggestion) -> list[str] | None:
    """The values as directives write them; None if operator and values do not go together."""
    operator, values = suggestion.operator, list(suggestion.values)
    if asked.ask.kind is Kind.FLAG:
        return [] if operator == "is" and not values else None
    if not values:
        return None
    if asked.ask.kind is not Kind.NUMBER:
        return values if operator in ("is", "=") else None
    if operator == "between":
        return ["-".join(values)] if len(values) == 2 else None
    return values if operator == "is" else [f"{operator}{value}" for value in values]


def _polarities(condition: Condition) -> Iterator[tuple[str, Value | None, bool]]:
    """Field, value and sign of all that a condition says; what is lacked is a category not used."""
    lacks = condition.field == "lacks"
    field = "categories_uses" if lacks else condition.field
    for value in condition.values or (None,):
        yield field, value, condition.negated != lacks


def _affirms(condition: Condition) -> bool:
    """Whether a condition asks for what a site has or is, so that words which deny something cannot say it."""
    lacking = condition.ask.kind is Kind.FLAG and not condition.field.startswith("has_")
    return (
        not condition.negated and not lacking and condition.ask.kind in (Kind.TERM, Kind.CHANGE, Kind.PATH, Kind.FLAG)
    )


def _left_out(made: AcceptedSuggestion, why: str) -> Note:
    return Note((made.words,), f"a language model reads this as {print_condition(made.condition)}; {why}")


def _not_understood(sentence: Interpretation) -> list[Note]:
    return [note for note in sentence.unsupported if note.message in NOT_UNDERSTOOD or note.message == NOT_USED]


def _keywords(sentence: Interpretation) -> list[tuple[Condition, Understood]]:
    read = sentence.understood
    return [(condition, read[condition]) for condition in sentence.criteria.plain if read[condition].rule == "keyword"]


def _denied_words(sentence: Interpretation) -> list[Span]:
    """Words that the rules could not place, where they know that something is denied, not what."""
    notes = _not_understood(sentence)
    denied = any(note.message in NOT_UNDERSTOOD for note in notes)
    return [span for note in notes for span in note.words] if denied else []


def _open_words(sentence: Interpretation) -> list[Span]:
    """Words that a model may interpret as a condition: for all others the rules decide."""
    spans = [span for note in _not_understood(sentence) for span in note.words]
    if sentence.confidence < LOW_CONFIDENCE:
        spans.extend(span for _, one in _keywords(sentence) for span in one.words)
    return spans


def _touches(place: Span, spans: Iterable[Span]) -> bool:
    return any(place.start < span.end and span.start < place.end for span in spans)


def _displace_keywords(sentence: Interpretation, accepted: list[AcceptedSuggestion]) -> list[tuple[Condition, Note]]:
    """Keywords whose every phrase the model reads as part of something else: said twice, they would find nothing.

    What helped to say them ("that sell") now helps to say that.
    """
    displaced: list[tuple[Condition, Note]] = []
    for condition, keyword in _keywords(sentence):
        phrases = {word for value in condition.values for word in _words(str(value))}
        for at, one in enumerate(accepted):
            if phrases <= _words(one.words.text) and _touches(one.words, keyword.words):
                accepted[at] = replace(one, words=_widened(sentence.query, one.words, keyword.words))
                message = f"a language model reads this as {print_condition(one.condition)}, not as keywords"
                displaced.append((condition, Note(keyword.words, message)))
                break
    return displaced


def _widened(query: str, words: Span, others: Iterable[Span]) -> Span:
    """The words with those of the others that overlap them."""
    spans = [words, *(other for other in others if _touches(words, [other]))]
    start, end = min(span.start for span in spans), max(span.end for span in spans)
    return Span(query[start:end], start, end)


def second_reading(
    model: str, sentence: Interpretation, checked: CheckedSuggestions, before: Criteria, after: Criteria
) -> SecondReading:
    """What the model made of the sentence; `before` and `after` are the whole search without and with it."""
    rules = sentence.understood
    merged = merge([*before.conditions, *(one.condition for one in checked.accepted)])
    made: dict[Clause, Understood] = {}
    for condition in after.conditions:
        origins = merged.get(condition, [])
        words = [one.words for one in checked.accepted if one.condition in origins]
        if condition in before.conditions or not words:
            continue
        # Exclusions of one field are one condition, whoever said them.
        known = [rules[one] for one in before.conditions if one in origins and one in rules]
        spans = (*(span for one in known for span in one.words), *words)
        rule = ", ".join([*(one.rule for one in known), RULE])
        made[condition] = Understood(print_condition(condition), spans, rule, CONFIDENCE)
    return SecondReading(model, made, checked.notes, _settled(sentence, checked.accepted), checked.rejected)


def too_large(model: str, checked: CheckedSuggestions) -> SecondReading:
    """Nothing of the model's is taken, because the search would be larger than one may be."""
    left_out: list[Reason] = ["size"] * len(checked.accepted)
    return SecondReading(model, {}, (), (), (*checked.rejected, *left_out))


def _settled(sentence: Interpretation, accepted: Sequence[AcceptedSuggestion]) -> tuple[Note, ...]:
    """What the rules did not understand, and every word of which the model has read."""
    return tuple(
        note
        for note in _not_understood(sentence)
        if all(any(inside(span, one.words) for one in accepted) for span in note.words)
    )


def inside(span: Span, other: Span) -> bool:
    """Whether a span is entirely inside another."""
    return other.start <= span.start and span.end <= other.end
