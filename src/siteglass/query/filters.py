"""The filters of a search body: JSON to conditions, and criteria back to the body that repeats the search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siteglass.errors import Problem, Problems
from siteglass.query.criteria import AnyOf, Change, Clause, Condition, Criteria, Range, Value
from siteglass.query.directives import MAX_HINT_CHARS, MAX_SUGGESTIONS, print_condition
from siteglass.query.field import Ask, Filter, Form, Kind
from siteglass.query.fields import FILTERS
from siteglass.query.value_text import is_unknown, print_range, print_value, quote_if_needed, window_text
from siteglass.query.values import (
    ValueProblem,
    WrittenValue,
    comparison,
    in_percent,
    is_window,
    moment,
    moment_text,
    nearest,
    number,
    operator_number,
    read_value,
    read_values,
    read_window,
)

# Arrays with more values than this together are always refused: as they were sent, they do not fit a cursor.
MAX_ARRAY_VALUES = 1_200
# A hint repeats no more values than this.
MAX_HINT_VALUES = 10

# The filters of the contract's section 4.1. The echo writes conditions that came from text under these names where it
# can, otherwise as directives. Readers of the contract know no other names.
CONTRACT_FILTERS = frozenset(
    (
        "language", "country", "state", "city", "technologies", "keywords", "categories_uses", "service_type", "offers",
        "pages", "has_phone", "has_facebook", "has_linkedin", "has_twitter", "has_instagram", "has_youtube",
        "has_tiktok", "has_pinterest", "exclude_generic_emails", "spending", "min_spending", "max_spending",
        "min_score", "max_score", "updated_after", "not_secure", "missing_sitemap", "missing_schema", "not_responsive",
        "load_time_ms", "seo_score",
    )
)  # fmt: skip

_MIN_MAX = (("min_score", "max_score"), ("min_spending", "max_spending"))


class FilterReader:
    """Reads the filters of one body; gathers conditions, problems, and what to echo as it was sent."""

    def __init__(self) -> None:
        self.conditions: list[Condition] = []
        self.problems = Problems()
        self.sent: dict[str, Any] = {}
        self._array_values = 0

    def read(self, body: Mapping[str, Any]) -> None:
        """Read every filter of the body; names that are not filters are left to others."""
        for name, value in body.items():
            if name in FILTERS and value is not None:
                self._filter(name, value)
        if low := _crossed(self.sent):
            high = dict(_MIN_MAX)[low]
            self.problems.append(Problem(low, f"expected at most {high} ({self.sent[high]}), found {self.sent[low]}"))

    def _filter(self, name: str, value: Any) -> None:
        asked, filter_ = FILTERS[name]
        if (filter_.form is Form.SWITCH and value is False) or (filter_.form is Form.MANY and value == []):
            return  # not given
        if filter_.form is Form.MANY and not isinstance(value, list):
            hint = written_as_array(value)
            self.problems.append(Problem(name, f"expected an array of strings, found {type_name(value)}{hint}"))
            return
        if filter_.form is Form.ONE and isinstance(value, list):
            hint = _written_as_directive(asked.ask, value)
            self.problems.append(Problem(name, f"expected a string, found an array; {hint}"))
            return
        if filter_.form is Form.MANY:
            self._array_values += len(value)
            if self._array_values > MAX_ARRAY_VALUES:
                expected = f"expected at most {MAX_ARRAY_VALUES} values in all arrays together"
                self.problems.append(Problem(name, f"{expected}, found {self._array_values}"))
                return
        values: list[Value] = []
        wrong = False
        for read in _read(asked.ask, filter_.form, value):
            if isinstance(read, ValueProblem):
                wrong = True
                self._problem(name, asked.ask, read)
            else:
                values.extend(read)
        if not wrong:
            self.conditions.append(Condition(asked.name, tuple(values)))
            self.sent[name] = as_whole(value)

    def _problem(self, name: str, ask: Ask, error: ValueProblem) -> None:
        if self.problems.is_full:
            self.problems.count += 1
            return
        suggest = error.unknown is not None and len(self.problems) < MAX_SUGGESTIONS
        near = nearest(ask, error.unknown) if suggest and error.unknown else None
        hint = f"; did you mean {near}?" if near else ""
        self.problems.append(Problem(name, f"{error}{hint}", nearest=near))


def _read(ask: Ask, form: Form, value: Any) -> list[tuple[Value, ...] | ValueProblem]:
    """What a filter, or each element of its array, stands for, or what is wrong with it."""
    elements = value if form is Form.MANY else [value]
    if ask.kind is Kind.CHANGE and all(isinstance(element, str) for element in elements):
        return read_values(ask, [_written(element) for element in elements])
    read: list[tuple[Value, ...] | ValueProblem] = []
    for element in elements:
        try:
            read.append(_read_one(ask, form, element))
        except ValueProblem as problem:
            read.append(problem)
    return read


def _read_one(ask: Ask, form: Form, value: Any) -> tuple[Value, ...]:
    """The values that a filter, or one element of its array, stands for; raises ValueProblem."""
    match form:
        case Form.ONE | Form.MANY:
            written = _written(_string(value))
            return read_value(ask, written.text, quoted=written.quoted)
        case Form.SWITCH:
            if not isinstance(value, bool):
                raise ValueProblem(f"expected true or false, found {type_name(value)}")
            return ()
        case Form.MIN | Form.MAX:
            return (comparison(">=" if form is Form.MIN else "<=", _integer(value), ask.bounds),)
        case Form.SPAN:
            return (number(_string(value), ask.bounds),)
        case Form.COMPARISON:
            return (operator_number(in_percent(ask, _string(value)), ask.bounds),)
        case Form.MOMENT:
            return (moment(_string(value)),)


def _written(text: str) -> WrittenValue:
    """A JSON string; double quotes inside it mean the literal value."""
    quoted = len(text) > 2 and text[0] == text[-1] == '"'
    return WrittenValue(text[1:-1] if quoted else text, quoted)


def fix_windows(sent: Mapping[str, Any], now_ms: int) -> dict[str, Any]:
    """Filters as they were sent, with days before the search as dates, so that every later page means the same."""
    return {
        name: [_fixed_window(text, now_ms) for text in value] if FILTERS[name][0].ask.kind is Kind.CHANGE else value
        for name, value in sent.items()
    }


def _fixed_window(text: str, now_ms: int) -> str:
    written = _written(text)
    return window_text(Change("", *read_window(text)).fixed_at(now_ms)) if is_window(written) else text


def type_name(value: Any) -> str:
    """What a JSON value is, for a message."""
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        dict: "an object",
    }
    return names.get(type(value), "null")


def as_whole(value: Any) -> Any:
    """40.0 as the whole number 40, as JSON Schema takes it; any other value as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read_text(body: Mapping[str, Any], name: str, max_chars: int, problems: Problems) -> str | None:
    """A text of the body, None if it is not given or wrong."""
    text = body.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        problems.append(Problem(name, f"expected a string, found {type_name(text)}"))
        return None
    if len(text) > max_chars:
        problems.append(Problem(name, f"expected at most {max_chars} characters, found {len(text)}"))
        return None
    return text


def written_as_array(value: Any) -> str:
    """For a message: how to send a text where an array of texts is expected."""
    if not isinstance(value, str):
        return ""
    parts = [part.strip() for part in value[:MAX_HINT_CHARS].split(",") if part.strip()]
    return f"; write {json.dumps(parts, ensure_ascii=False)}" if parts else ""


def _written_as_directive(ask: Ask, values: list[Any]) -> str:
    """For a message: how to send several values where a filter takes one."""
    texts = [value for value in values[:MAX_HINT_VALUES] if isinstance(value, str) and value.strip()]
    shown = ", ".join(quote_if_needed(ask, text) for text in texts)
    if not texts or len(texts) < len(values) or len(shown) > MAX_HINT_CHARS:
        return f"alternatives go in wrapped_query, in the parentheses of @{ask.directive}"
    return f"alternatives go in wrapped_query: @{ask.directive}({shown})"


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueProblem(f"expected a string, found {type_name(value)}")
    return value


def _integer(value: Any) -> int:
    value = as_whole(value)
    if isinstance(value, bool) or not isinstance(value, int):
        found = f"{value:g}" if isinstance(value, float) else type_name(value)
        raise ValueProblem(f"expected a whole number, found {found}")
    return value


def write_filters(criteria: Criteria, sent: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The body that says these criteria: filters of the contract where one says exactly that, else `wrapped_query`.

    `sent` are filters that the body already has.
    """
    # What no directive can say (a score outside 1-90) chooses its filters first.
    must = [condition for condition in criteria.plain if not directive_can_say(condition)]
    body = _assigned(must, dict(sent or {}))
    if body is None:
        raise ValueError("these criteria cannot be written as a request body")
    unsaid: list[Clause] = []
    for clause in criteria.conditions:
        if clause not in must:
            said = None if isinstance(clause, AnyOf) else _assigned([clause], body)
            unsaid.extend([clause] if said is None else [])
            body = body if said is None else said
    if unsaid:
        body["wrapped_query"] = "\n".join(map(print_condition, unsaid))
    return {name: value for name, value in body.items() if not sent or name not in sent}


def _assigned(conditions: Sequence[Condition], body: dict[str, Any]) -> dict[str, Any] | None:
    """The body with a separate filter for each condition, or None if that is impossible."""
    if not conditions:
        return body
    for name, value in _as_filters(conditions[0]):
        if name not in body:
            longer = {**body, name: value}
            if not _crossed(longer):
                found = _assigned(conditions[1:], longer)
                if found is not None:
                    return found
    return None


def _crossed(body: Mapping[str, Any]) -> str | None:
    """The name of a minimum above its maximum, which no body may hold."""
    for low, high in _MIN_MAX:
        if low in body and high in body and body[low] > body[high]:
            return low
    return None


def directive_can_say(clause: Clause) -> bool:
    """Whether directive text can express the clause."""
    if isinstance(clause, AnyOf):
        return all(directive_can_say(condition) for branch in clause.branches for condition in branch)
    bounds = clause.ask.directive_bounds
    if bounds is None:
        return True
    ends = (end for value in clause.values if isinstance(value, Range) for end in value[:2] if end is not None)
    return all(bounds[0] <= end <= bounds[1] for end in ends)


def describe_clause(clause: Clause) -> str:
    """A clause as a line of directive text; a score that no directive can say as the filter that can."""
    if directive_can_say(clause):
        return print_condition(clause)
    ((name, value),) = write_filters(Criteria((clause,))).items()
    return f"{name}: {value}"


def _as_filters(condition: Condition) -> Iterator[tuple[str, Any]]:
    """Each filter of the contract that says exactly this condition, with its value."""
    if condition.negated:
        return
    for filter_ in condition.ask.filters:
        value = _filter_value(condition, filter_) if filter_.name in CONTRACT_FILTERS else None
        if value is not None:
            yield filter_.name, value


def _filter_value(condition: Condition, filter_: Filter) -> Any:
    ask, values = condition.ask, condition.values
    match filter_.form:
        case Form.SWITCH:
            return True
        case Form.MANY:
            return [_json_text(ask, value) for value in values]
        case Form.ONE:
            return _json_text(ask, values[0]) if len(values) == 1 else None
        case Form.MOMENT:
            return moment_text(values[0]) if len(values) == 1 and isinstance(values[0], int) else None
        case _:
            only = values[0] if len(values) == 1 else None
            return _number_value(filter_.form, only) if isinstance(only, Range) else None


def _number_value(form: Form, value: Range) -> int | str | None:
    strict = value.above or value.below
    both = value.low is not None and value.high is not None
    match form:
        case Form.MIN:
            return value.low if not strict and value.high is None else None
        case Form.MAX:
            return value.high if not strict and value.low is None else None
        case Form.SPAN:
            if both:
                return f"{value.low}-{value.high}"
            return f"{value.low}+" if not strict and value.high is None else None
        case Form.COMPARISON if not both or value.low == value.high:
            return print_range(value)
        case _:
            return None


def _json_text(ask: Ask, value: Value) -> str:
    text = print_value(ask, value)
    # A positive unknown value reads the same without quotes; one that is missing must be meant on purpose.
    needed = (ask.kind is Kind.LACKS and is_unknown(ask, value)) or text[0] == text[-1] == '"'
    return f'"{text}"' if needed else text
