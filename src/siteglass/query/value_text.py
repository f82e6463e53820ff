"""The values of conditions as directive text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from siteglass.query.criteria import Change, Range, Value, name_in
from siteglass.query.field import Ask, Kind
from siteglass.query.values import EPOCH_DAY, moment_text
from siteglass.query.vocabulary import vocabulary

_NEEDS_QUOTES = re.compile(r'[,()"\\#]')


def is_unknown(ask: Ask, value: Value) -> bool:
    """Whether a value is outside its open vocabulary, and so must be quoted to be used literally."""
    return (
        ask.vocabulary is not None
        and not ask.closed
        and isinstance(value, str | Change)
        and name_in(value) not in vocabulary().resolve(ask.vocabulary, name_in(value))
    )


def print_values(ask: Ask, values: Iterable[Value]) -> Iterator[str]:
    """The values of a condition as directive text; of changes, technologies and after them their window."""
    for window, some in groupby(values, lambda value: window_text(value) if isinstance(value, Change) else None):
        yield from (quote_if_needed(ask, value) for value in some)
        if window:
            yield window


def print_value(ask: Ask, value: Value) -> str:
    """A value as directive text, without quotes; of a change the technology, without its window."""
    if isinstance(value, Change):
        return value.technology
    if isinstance(value, Range):
        return print_range(value)
    if isinstance(value, int):
        return moment_text(value) if ask.kind is Kind.TIME else f"{value}d"
    return value


def quote_if_needed(ask: Ask, value: Value) -> str:
    """A value as directive text, quoted where its characters or its being unknown ask for it."""
    text = print_value(ask, value)
    if isinstance(value, str | Change) and (_NEEDS_QUOTES.search(text) or is_unknown(ask, value)):
        return quote(text)
    return text


def quote(text: str) -> str:
    """A text in double quotes; those inside it, and backslashes, are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def print_range(value: Range) -> str:
    """A range in its shortest form."""
    if value.low is not None and value.high is not None:
        return f"={value.low}" if value.low == value.high else f"{value.low}-{value.high}"
    if value.low is not None:
        return f"{'>' if value.above else '>='}{value.low}"
    return f"{'<' if value.below else '<='}{value.high}"


def window_text(change: Change) -> str:
    """When a technology changed, as directives write it."""
    return day_text(change.days) if change.fixed else f"{change.days}d"


def day_text(day: int) -> str:
    """A day since 1970 as a date."""
    return (EPOCH_DAY + dt.timedelta(days=day)).isoformat()
