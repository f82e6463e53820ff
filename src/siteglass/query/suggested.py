"""What a language model says a sentence means: another reading, which is offered beside that of the rules. Pure.

The model's response is trusted as little as the sentence. It can only name conditions that directives can express, for
words that are in the sentence. Anything else is rejected. Nothing of it is searched unless somebody chooses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from siteglass.errors import QueryError
from siteglass.query.criteria import Clause, Condition, Criteria, criteria
from siteglass.query.directives import parse, print_condition, size_problem
from siteglass.query.field import Kind, SearchableField
from siteglass.query.fields import DIRECTIVES
from siteglass.query.filters import directive_can_say
from siteglass.query.folding import fold
from siteglass.query.natural import Interpretation
from siteglass.query.natural.interpretation import Alternative, Span
from siteglass.query.value_text import is_unknown
from siteglass.query.values import MAX_VALUE_CHARS, ValueProblem, WrittenValue, read_all

MAX_SUGGESTIONS = 16
MAX_VALUES = 16
MAX_SOURCE_CHARS = 200

# A model does not know the date, so it cannot name a time; it can name an age.
FIELDS: dict[str, SearchableField] = {
    asked.ask.directive: asked for asked in DIRECTIVES.values() if asked.ask.kind is not Kind.TIME
}
OPERATORS = ("is", ">", ">=", "<", "<=", "=", "between")
_WORD = re.compile(r"\w+")

Reason = Literal["form", "field", "source", "value", "size"]


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
class ModelReading:
    """What a model that answered makes of a sentence."""

    model: str
    other: Alternative | None
    """Its reading, if it is another one."""
    rejected: tuple[Reason, ...]
    """Why conditions of the model were not taken, one for each."""


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A condition of the model, and the words that say it."""

    condition: Condition
    words: Span


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


def read_suggestions(model: str, sentence: Interpretation, suggestions: Suggestions) -> ModelReading:
    """The whole sentence as the model reads it; what no condition of a model can say stays as the rules read it."""
    accepted: list[_Accepted] = []
    rejected: list[Reason] = ["form"] * suggestions.malformed
    for suggestion in suggestions.conditions:
        made = _read(sentence.query, suggestion)
        if isinstance(made, _Accepted):
            accepted.append(made)
        else:
            rejected.append(made)
    whole = criteria([*_kept(sentence, accepted), *(one.condition for one in accepted)])
    if accepted and size_problem(whole):
        left_out: list[Reason] = ["size"] * len(accepted)
        return ModelReading(model, None, (*rejected, *left_out))
    return ModelReading(model, _other(model, sentence, accepted, whole) if accepted else None, tuple(rejected))


def _kept(sentence: Interpretation, accepted: Sequence[_Accepted]) -> list[Clause]:
    """What the rules read that has no form in a suggestion, unless the model reads its words as something else."""
    taken = [one.words for one in accepted]
    return [
        clause
        for clause, known in sentence.understood.items()
        if not _model_could_say(clause) and directive_can_say(clause) and not _touches(known.words, taken)
    ]


def _other(model: str, sentence: Interpretation, accepted: Sequence[_Accepted], whole: Criteria) -> Alternative | None:
    """The reading of the model with what differs; None if it is ours."""
    ours = [clause for clause in sentence.criteria.conditions if directive_can_say(clause)]
    added = [clause for clause in whole.conditions if clause not in ours]
    left_out = [clause for clause in ours if clause not in whole.conditions]
    if not added and not left_out:
        return None
    spans = {one.words for one in accepted if one.condition not in ours}
    spans |= {span for clause in left_out for span in sentence.understood[clause].words}
    words = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
    with_, without = ([print_condition(one) for one in clauses] for clauses in (added, left_out))
    said = [*(f"with {line}" for line in with_), *(f"without {line}" for line in without)]
    lines = tuple(map(print_condition, whole.conditions))
    return Alternative(words, f"{', '.join(said)}, as {model} reads it", lines, model)


def other_readings(sentence: Interpretation, offered: ModelReading | None) -> list[Alternative]:
    """Other readings of a sentence, each once: by our rules, and by a language model."""
    ours = sentence.alternatives
    known = {sentence.directives, *(one.directives for one in ours)}
    new = offered.other if offered is not None else None
    return [*ours, *([new] if new is not None and new.directives not in known else ())]


def _read(query: str, suggestion: Suggestion) -> _Accepted | Reason:
    """The condition and its words, or why there is none."""
    asked = FIELDS.get(suggestion.field)
    if asked is None or suggestion.operator not in OPERATORS:
        return "field"
    words = _find(query, suggestion.source_text)
    if words is None:
        return "source"
    condition = _condition(asked, suggestion, words)
    return "value" if condition is None else _Accepted(condition, words)


def _find(query: str, source_text: str) -> Span | None:
    """Where the sentence says so, letter case and blanks aside."""
    if not _WORD.search(source_text):
        return None
    found = re.search(r"\s+".join(map(re.escape, source_text.split())), query, re.IGNORECASE)
    return Span(found[0], *found.span()) if found else None


def _condition(asked: SearchableField, suggestion: Suggestion, words: Span) -> Condition | None:
    """The condition as the directive parser reads it; None if a value is unknown, or is not in the sentence."""
    ask = asked.ask
    texts = _texts(asked, suggestion)
    if texts is None:
        return None
    try:
        values = read_all(ask, [WrittenValue(text) for text in texts], excluding=suggestion.negated)
        for value in values:
            # Pages and keywords have no vocabulary: they must be made of words that were said.
            free = ask.kind in (Kind.PATH, Kind.TEXT)
            said = not free or set() < _words(str(value)) <= _words(words.text)
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


def _model_could_say(clause: Clause) -> bool:
    """Whether a condition has the form of a suggestion: alternatives of several fields and times have not."""
    return isinstance(clause, Condition) and clause.ask.kind is not Kind.TIME


def _touches(places: Iterable[Span], spans: Sequence[Span]) -> bool:
    return any(place.start < span.end and span.start < place.end for place in places for span in spans)
