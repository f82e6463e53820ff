"""Read the values of a condition from text: shared by the directive language and the body filters."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from siteglass.errors import MAX_REPEATED_CHARS, repeated
from siteglass.query.criteria import Change, Range, Value, name_in
from siteglass.query.field import Ask, Kind
from siteglass.query.folding import fold
from siteglass.query.technology_changes import DAYS_PER_TECHNOLOGY
from siteglass.query.vocabulary import vocabulary

MAX_VALUE_CHARS = 256
EPOCH_DAY = dt.date(1970, 1, 1)
MAX_AGE_DAYS = 3_650
# A message names the values of a closed list that is not longer than this.
MAX_VALUES_LISTED = 25

_NUMBER = re.compile(r"(?:(?P<op>>=|<=|>|<|=|less\s+than|greater\s+than)\s*)?(?P<n>\d{1,12})", re.IGNORECASE | re.ASCII)
_SHARE = re.compile(r"(?<![\d.])(\d?)\.(\d{1,2})(?![\d.])", re.ASCII)
_SPAN = re.compile(r"(?P<low>\d{1,12})\s*-\s*(?P<high>\d{1,12})", re.ASCII)
_FROM = re.compile(r"(?P<low>\d{1,12})\s*\+", re.ASCII)
_AGE = re.compile(r"(\d{1,5})\s*d", re.IGNORECASE | re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2}))?", re.ASCII
)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_PATH_EDGES = re.compile(r"^[/\s]+|[/\s]+$")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class WrittenValue(NamedTuple):
    """A value as it is written, and where it starts in its line."""

    text: str
    quoted: bool = False
    column: int = 0


class ValueProblem(ValueError):
    """A text that is not a value of the field. `unknown` is what `nearest` may look a suggestion up for."""

    def __init__(self, message: str, unknown: str | None = None) -> None:
        super().__init__(message)
        self.unknown = unknown


def clean(text: str) -> str:
    """Blanks collapsed, composed form; the shape every text value has."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def read_values(
    ask: Ask, written: Sequence[WrittenValue], *, excluding: bool = False
) -> list[tuple[Value, ...] | ValueProblem]:
    """What each text of a condition stands for, or what is wrong with it."""
    if ask.kind is Kind.CHANGE:
        return _read_changes(ask, written, excluding=excluding)
    read: list[tuple[Value, ...] | ValueProblem] = []
    for value in written:
        try:
            read.append(read_value(ask, value.text, quoted=value.quoted, excluding=excluding))
        except ValueProblem as problem:
            read.append(problem)
    return read


def read_all(ask: Ask, written: Sequence[WrittenValue], *, excluding: bool = False) -> tuple[Value, ...]:
    """The values that the texts of a condition stand for; raises ValueProblem, the first one."""
    values: list[Value] = []
    for read in read_values(ask, written, excluding=excluding):
        if isinstance(read, ValueProblem):
            raise read
        values.extend(read)
    return tuple(values)


def read_value(ask: Ask, text: str, *, quoted: bool = False, excluding: bool = False) -> tuple[Value, ...]:
    """The canonical values that a text stands for (a state's name may stand for several); raises ValueProblem.

    Of a change it reads the technology alone: `read_values` reads it with its window.
    """
    if len(text) > MAX_VALUE_CHARS:
        raise ValueProblem(f"expected at most {MAX_VALUE_CHARS} characters, found {len(text)}")
    text = clean(text)
    if not text:
        raise ValueProblem("expected a value, found blank text")
    if _CONTROL.search(text):
        raise ValueProblem("expected text without control characters")
    match ask.kind:
        case Kind.TERM | Kind.LACKS | Kind.CHANGE:
            return _term(ask, text, quoted=quoted, excluding=excluding or ask.kind is Kind.LACKS)
        case Kind.PATH:
            return (path(text),)
        case Kind.TEXT:
            return (_lower(text),)
        case Kind.NUMBER:
            return (number(in_percent(ask, text), ask.directive_bounds or ask.bounds, bare=ask.bare_number),)
        case Kind.TIME:
            return (moment(text),)
        case Kind.AGE:
            return (_age(text),)
        case Kind.FLAG:
            raise ValueProblem("expected no value")


def _read_changes(
    ask: Ask, written: Sequence[WrittenValue], *, excluding: bool
) -> list[tuple[Value, ...] | ValueProblem]:
    """Technologies, and after them the window that holds for all since the window before: "Klaviyo, Mailchimp, 30d".

    Usually there is one window, the last value. Exclusions of a field are one condition, which may have several.
    """
    read: list[tuple[Value, ...] | ValueProblem] = []
    technologies: list[str] = []
    expects_technology = True
    for value in written:
        try:
            if is_window(value):
                days, fixed = read_window(value.text)
                if expects_technology:
                    raise ValueProblem(f"expected a technology before {clean(value.text)}")
                read.append(tuple(Change(technology, days, fixed) for technology in technologies))
                technologies, expects_technology = [], True
            else:
                expects_technology = False
                named = read_value(ask, value.text, quoted=value.quoted, excluding=excluding)
                technologies.extend(map(name_in, named))
                read.append(())
        except ValueProblem as problem:
            read.append(problem)
    if not expects_technology and read[-1] == ():
        found = repeated(clean(written[-1].text))
        read[-1] = ValueProblem(
            f"expected days from 1d to {MAX_AGE_DAYS}d such as 30d, or a date such as 2026-10-15, as the last value, "
            f"found {found}"
        )
    return read


def is_window(value: WrittenValue) -> bool:
    """Whether it says when technologies changed; in quotes it is the name of one."""
    text = clean(value.text)
    return not value.quoted and (_AGE.fullmatch(text) or _DAY.fullmatch(text)) is not None


def read_window(text: str) -> tuple[int, bool]:
    """Days before the search, or days since 1970, and whether they are the latter; raises ValueProblem."""
    text = clean(text)
    if not _DAY.fullmatch(text):
        return _age(text), False
    try:
        day = (dt.date.fromisoformat(text) - EPOCH_DAY).days
    except ValueError:
        raise ValueProblem(f"expected a date such as 2026-10-15, found {text}") from None
    if not 0 <= day < DAYS_PER_TECHNOLOGY:
        raise ValueProblem(f"expected a date from 1970 to 2149, found {text}")
    return day, True


def _term(ask: Ask, text: str, *, quoted: bool, excluding: bool) -> tuple[str, ...]:
    if ask.vocabulary is None:
        raise TypeError(f"{ask.directive} is a term without a vocabulary")
    known = vocabulary().resolve(ask.vocabulary, text)
    if known:
        return known
    if ask.closed:
        known = vocabulary().values(ask.vocabulary)
        listed = f" ({', '.join(known)})" if len(known) <= MAX_VALUES_LISTED else ""
        expected = f"expected a {ask.vocabulary.replace('_', ' ')}{listed}"
        elsewhere = known_elsewhere(ask, text)
        hint = f", which is {elsewhere}" if elsewhere else f"; {ask.hint}" if ask.hint else ""
        raise ValueProblem(f"{expected}, found {repeated(text)}{hint}", unknown=None if elsewhere else text)
    if excluding and not quoted:
        if elsewhere := known_elsewhere(ask, text):
            raise ValueProblem(f"{repeated(text)} is {elsewhere}")
        example = f': "{text}"' if len(text) <= MAX_REPEATED_CHARS else ""
        raise ValueProblem(
            f"{repeated(text)} is not known, and excluding it would match every lead; "
            f"correct it, or put it in double quotes to use it literally{example}",
            unknown=text,
        )
    folded = fold(text)
    if not folded:
        raise ValueProblem(f"expected a {ask.vocabulary}, found {repeated(text)}")
    return (folded,)


def nearest(ask: Ask, unknown: str) -> str | None:
    """The known value that an unknown one most resembles."""
    return vocabulary().nearest(ask.vocabulary, unknown) if ask.vocabulary else None


def nearest_names(ask: Ask, unknown: str, limit: int) -> tuple[str, ...]:
    """The known values that an unknown one most resembles, the best first."""
    return vocabulary().nearest_several(ask.vocabulary, unknown, limit) if ask.vocabulary else ()


def known_elsewhere(ask: Ask, text: str) -> str | None:
    """What a value is that is unknown here, but known to another field; and how to ask for it."""
    words = vocabulary()
    if ask.kind is Kind.CHANGE:
        return "a software category, and only technologies have a history" if words.resolve("category", text) else None
    match ask.vocabulary:
        case "category" if known := words.resolve("technology", text):
            name = known[0]
            return (
                f"a technology, not a software category; write !@technology({name}) for sites without it, "
                f"@technology({name}) for sites with it"
            )
        case "technology" if known := words.resolve("category", text):
            name = known[0]
            return (
                f"a software category, not a technology; write @lacks({name}) for sites without it, "
                f"@categories_uses({name}) for sites with it"
            )
        case "country" if known := words.resolve("state", text):
            return f"a state: ask for it by `state`, as {' or '.join(known)}"
        case "state" if known := words.resolve("country", text):
            return f"a country: ask for it by `country`, as {known[0]}"
        case "city" if known := words.resolve("country", text):
            return f"a country, not a city; write @country({known[0]})"
        case "city" if known := words.resolve("state", text):
            return f"a state, not a city; write @state({', '.join(known)})"
    return None


def _lower(text: str) -> str:
    # Lower case can leave composed form and the other way round ("İ"): settle both.
    for _ in range(3):
        lowered = clean(text.lower())
        if lowered == text:
            break
        text = lowered
    return text


def path(text: str) -> str:
    """A page path as leads store it: lower case, one leading slash, no query or fragment, no trailing slash."""
    return "/" + _PATH_EDGES.sub("", re.split(r"[?#]", _lower(text), maxsplit=1)[0])


def in_percent(ask: Ask, text: str) -> str:
    """A text of a field in percent, with shares of 1 as whole numbers: ">0.8" is ">80"."""
    if not ask.percent:
        return text
    return _SHARE.sub(lambda share: str(int(share[1] or 0) * 100 + int(share[2].ljust(2, "0"))), text)


def number(text: str, bounds: tuple[int, int], *, bare: bool = False) -> Range:
    """A comparison or range; a bare number means equality where it is allowed."""
    text = clean(text)
    if found := _SPAN.fullmatch(text):
        return span(int(found["low"]), int(found["high"]), bounds)
    if found := _FROM.fullmatch(text):
        return span(int(found["low"]), None, bounds)
    found = _NUMBER.fullmatch(text)
    if found and not found["op"] and not bare:
        # People mean "at least" as often as "exactly": a guess would find the wrong leads.
        only = found["n"]
        raise ValueProblem(
            f"expected an operator or a range, found only {only}; write {only}+ for at least {only}, "
            f"{only}-{only} for exactly {only}"
        )
    if found:
        return comparison(found["op"] or "=", int(found["n"]), bounds)
    raise ValueProblem(
        f"expected a whole number with an operator (>, <, >=, <=, =, less than, greater than) or a range "
        f"such as {bounds[0]}-{min(bounds[1], 5000)}, found {repeated(text)}"
    )


def operator_number(text: str, bounds: tuple[int, int]) -> Range:
    """A comparison whose operator must be written."""
    found = _NUMBER.fullmatch(clean(text))
    if not found or not found["op"]:
        raise ValueProblem(
            f"expected an operator and a whole number such as '>=50' or 'less than 50', found {repeated(text)}"
        )
    return comparison(found["op"], int(found["n"]), bounds)


def comparison(operator: str, bound: int, bounds: tuple[int, int]) -> Range:
    """The range that an operator and a number mean."""
    _within(bound, bounds)
    match " ".join(operator.lower().split()):
        case ">" | "greater than":
            return Range(bound, None, above=True)
        case "<" | "less than":
            return Range(None, bound, below=True)
        case ">=":
            return Range(bound, None)
        case "<=":
            return Range(None, bound)
        case _:
            return Range(bound, bound)


def span(low: int, high: int | None, bounds: tuple[int, int]) -> Range:
    """Both ends included."""
    _within(low, bounds)
    if high is not None:
        _within(high, bounds)
        if low > high:
            raise ValueProblem(f"expected a minimum not above the maximum, found {low}-{high}")
    return Range(low, high)


def _within(value: int, bounds: tuple[int, int]) -> None:
    if not bounds[0] <= value <= bounds[1]:
        raise ValueProblem(f"expected a number from {bounds[0]} to {bounds[1]}, found {value}")


def moment(text: str) -> int:
    """An RFC 3339 time, or a date for 00:00 UTC of that day, in ms; finer fractions are cut."""
    found = _MOMENT.fullmatch(clean(text))
    message = (
        f"expected an RFC 3339 time such as 2026-10-15T00:00:00Z or a date such as 2026-10-15, found {repeated(text)}"
    )
    if not found:
        raise ValueProblem(message)
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    try:
        time = dt.datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=_zone(offset)
        )
        whole = (time - _EPOCH) // dt.timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise ValueProblem(message) from None
    if not 0 <= whole < 2**42:
        raise ValueProblem("expected a time from 1970 to 2109")
    return whole + int((fraction or "0").ljust(3, "0")[:3])


def _zone(offset: str | None) -> dt.tzinfo:
    if offset is None or offset in "Zz":
        return dt.UTC
    sign = -1 if offset[0] == "-" else 1
    minutes = int(offset[4:6])
    if minutes > 59:
        raise ValueError("the minutes of an offset must not exceed 59")
    return dt.timezone(sign * dt.timedelta(hours=int(offset[1:3]), minutes=minutes))


def moment_text(ms: int) -> str:
    """A time as answers and canonical text spell it: UTC with Z, milliseconds only if there are any."""
    text = (_EPOCH + dt.timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    return f"{text[:19]}Z" if ms % 1000 == 0 else f"{text[:23]}Z"


def _age(text: str) -> int:
    found = _AGE.fullmatch(text)
    if not found or not 1 <= int(found[1]) <= MAX_AGE_DAYS:
        raise ValueProblem(f"expected whole days from 1d to {MAX_AGE_DAYS}d such as 30d, found {repeated(text)}")
    return int(found[1])
