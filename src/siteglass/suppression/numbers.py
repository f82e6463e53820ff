"""Phone numbers in texts, however they are written there: which of them mean a suppressed one. Pure.

The list holds hashes of whole numbers. A number without its country code is compared with the suppressed numbers of the
record, which are known in clear text. It is also looked up with the code of the record's country.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Self

from siteglass.suppression.calling_codes import ALL_CODES, CALLING_CODES
from siteglass.suppression.values import MAX_PHONE_DIGITS, MIN_PHONE_DIGITS, NotAValue, phone_digits

# Digits in a row that surely belong to one number, wherever they are: with fewer, "0171 123456" would be cut in two.
SURE_DIGITS = 9
MAX_GROUPS = 4_000
# Each takes some 3 µs. Beyond it numbers are compared with those known in clear only.
MAX_ASKED = 10_000

# In links a blank and brackets may be written as %20, %28 and %29.
_RUN = re.compile(r"\d[\d\s().\-/%（）－ー‐‑‒–—―−·|]{4,}+")
_GROUP = re.compile(r"%2[089]|(\d+)")
_TRUNK = re.compile(r"(?:[(（]|%28)\s?\Z")
# What is dialled before a number inside of a country, where that is not 0.
_TRUNK_DIGITS = "168"


def may_hold_number(text: str) -> bool:
    """Whether there is anything to be looked at."""
    return _RUN.search(text) is not None


class Numbers:
    """What of the numbers in the texts of one record is suppressed."""

    def __init__(self, hidden: Iterable[str], country: str | None, hides: Callable[[str], bool]) -> None:
        """`hidden`: suppressed numbers that are known in clear. `country` None: it may be any."""
        self._clear = tuple(_digits_of(hidden))
        self._codes = ALL_CODES if country is None else tuple(filter(None, [CALLING_CODES.get(country)]))
        self._hides = hides
        self._asked = 0
        self._known: dict[tuple[str, bool, bool], bool] = {}

    @classmethod
    def in_clear(cls, hidden: Iterable[str]) -> Self:
        """Those that are known, and no others."""
        return cls(hidden, "", lambda _: False)

    def cut(self, text: str) -> str:
        """The text without suppressed numbers."""
        kept, at = [], 0
        for start, end in self._found(text):
            kept.append(text[at:start])
            at = end
        return "".join((*kept, text[at:])) if kept else text

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        left = MAX_GROUPS
        for run in _RUN.finditer(text):
            groups = list(islice((one.span(1) for one in _GROUP.finditer(text, *run.span()) if one[1]), left))
            left -= len(groups)
            at = 0
            while at < len(groups):
                end = self._end(text, groups, at)
                if end is None:
                    at += 1
                else:
                    yield _with_sign(text, groups[at][0]), groups[end][1]
                    at = end + 1

    def _end(self, text: str, groups: list[tuple[int, int]], first: int) -> int | None:
        """The last group of the longest suppressed number that begins with a group."""
        start = groups[first][0]
        has_plus = text[max(0, start - 1) : start] in ("+", "＋")
        begins = first == 0 or has_plus or text[start] == "0" or "\n" in text[groups[first - 1][1] : start]
        candidates: list[tuple[int, str]] = []
        digits = ""
        for place in range(first, len(groups)):
            group = text[slice(*groups[place])]
            if not (digits and group == "0" and _TRUNK.search(text, max(0, groups[place][0] - 4), groups[place][0])):
                digits += group
            if len(digits) > MAX_PHONE_DIGITS + 2:
                break
            candidates.append((place, digits))
        codes = () if has_plus else self._codes
        return next(
            (place for place, number in reversed(candidates) if self._is_hidden(number, begins, codes)),
            None,
        )

    def _is_hidden(self, written: str, begins: bool, codes: tuple[str, ...]) -> bool:
        """`codes`: of the countries that it may be of, if it does not say so."""
        if len(written) < MIN_PHONE_DIGITS:
            return False
        key = (written, begins, bool(codes))
        if key not in self._known:
            digits = written if written.isascii() else "".join(str(int(char)) for char in written)
            bare = digits.lstrip("0")
            is_long_enough = len(bare) >= (MIN_PHONE_DIGITS if begins else SURE_DIGITS)
            self._known[key] = is_long_enough and (
                self._is_clear(bare) or any(map(self._asks, _meanings(digits, bare, codes)))
            )
        return self._known[key]

    def _is_clear(self, bare: str) -> bool:
        local = bare[1:] if bare[0] in _TRUNK_DIGITS and len(bare) >= SURE_DIGITS else bare
        return any(
            one.endswith((bare, local)) or (len(one) >= SURE_DIGITS and bare.endswith(one)) for one in self._clear
        )

    def _asks(self, digits: str) -> bool:
        self._asked += 1
        return self._asked <= MAX_ASKED and self._hides(digits)


def _digits_of(phones: Iterable[str]) -> Iterator[str]:
    for phone in phones:
        with contextlib.suppress(NotAValue):
            yield phone_digits(phone).lstrip("0")


def _meanings(digits: str, bare: str, codes: tuple[str, ...]) -> Iterator[str]:
    yield digits
    # With fewer digits a number of any country is too often another one, and its first part.
    if not digits.startswith("00") and (len(codes) == 1 or len(bare) >= SURE_DIGITS - 1):
        yield from (code + bare for code in codes)
        if len(codes) == 1 and digits != bare:
            yield codes[0] + digits  # a 0 that is dialled from abroad, too


def _with_sign(text: str, start: int) -> int:
    while start and text[start - 1] in "+(＋（":
        start -= 1
    return start
