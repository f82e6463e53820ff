"""When a website began or stopped using a technology, as one number: the technology's × 65,536 + days since 1970.

So "added Klaviyo since this day" is one range of numbers. `technology_numbers.txt` has a technology per line, and its
number is that of its line. Stored leads contain these numbers: lines are only ever appended, and the line of a
technology that leaves the vocabulary stays.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

DAYS_PER_TECHNOLOGY = 65_536
"""Days that have a number: to the year 2149."""


class StoredChange(NamedTuple):
    """What a stored number says."""

    technology: str
    day: int
    """Days since 1970."""


class NumberRange(NamedTuple):
    """Stored numbers from `first` on, below `end`."""

    first: int
    end: int


@cache
def numbered_technologies() -> tuple[str, ...]:
    """Every technology that has a number, those that left the vocabulary too; the first one has the number 1."""
    text = files("siteglass.query").joinpath("technology_numbers.txt").read_text("utf-8")
    return tuple(text.removesuffix("\n").split("\n"))


@cache
def _numbers() -> dict[str, int]:
    return {name: number for number, name in enumerate(numbered_technologies(), start=1)}


def has_history(technology: str) -> bool:
    """Whether changes of a technology have numbers."""
    return technology in _numbers()


def encode_change(technology: str, day: int) -> int:
    """The number to store; KeyError if the technology has none, because it never was in the vocabulary."""
    if not 0 <= day < DAYS_PER_TECHNOLOGY:
        raise ValueError(f"expected a day from 0 to {DAYS_PER_TECHNOLOGY - 1} since 1970, found {day}")
    return _numbers()[technology] * DAYS_PER_TECHNOLOGY + day


def decode_change(number: int) -> StoredChange:
    """What a number says; ValueError if it is not that of a change."""
    line, day = divmod(number, DAYS_PER_TECHNOLOGY)
    if not 1 <= line <= len(numbered_technologies()):
        raise ValueError(f"no technology has the number {line}")
    return StoredChange(numbered_technologies()[line - 1], day)


def changes_since(technology: str, day: int) -> NumberRange | None:
    """The numbers of all changes of a technology on a day or later; None if it has no history."""
    number = _numbers().get(technology)
    if number is None:
        return None
    start = number * DAYS_PER_TECHNOLOGY
    return NumberRange(start + min(max(day, 0), DAYS_PER_TECHNOLOGY - 1), start + DAYS_PER_TECHNOLOGY)
