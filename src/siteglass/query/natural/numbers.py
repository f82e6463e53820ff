"""Numbers as they are written: $2.5k, 10,000+, 3 Mio., and days of the calendar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_PARTS = re.compile(
    r"(?P<before>(?:US|R|A|C|AU|CA|NZ|HK|MX)?[$€£])?\s?(?P<digits>\d{1,3}(?:[ '’]\d{3})+|\d+(?:[.,]\d+)*)\s?"
    r"(?P<scale>k|mm|mio|mil|tsd|grand|lakh|m)?(?P<plus>\+)?\s?(?P<after>[€£$])?",
    re.IGNORECASE,
)
_SCALES = {"k": 1_000, "grand": 1_000, "tsd": 1_000, "mil": 1_000, "m": 10**6, "mm": 10**6, "mio": 10**6, "lakh": 10**5}
# Nobody means a longer number.
MOST_DIGITS = 15
_THOUSANDS = re.compile(r"\d{1,3}([.,]\d{3})+")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it was written."""

    number: float
    currency: str = ""
    or_more: bool = False
    scaled: bool = False
    """It was written with a k or the like: of a range, both numbers are meant so."""


def read_amount(text: str) -> Amount | None:
    """The number of a word, or None."""
    found = _PARTS.fullmatch(text.strip())
    if not found:
        return None
    digits = re.sub(r"[ '’]", "", found["digits"])
    if len(digits) > MOST_DIGITS:
        return None
    scale = (found["scale"] or "").lower()
    sign = found["before"] or found["after"] or ""
    return Amount(_value(digits) * _SCALES.get(scale, 1), sign, found["plus"] is not None, bool(scale))


def _value(digits: str) -> float:
    """A point or comma separates thousands if three digits follow each, else it is the decimal one."""
    if _THOUSANDS.fullmatch(digits):
        return float(re.sub(r"[.,]", "", digits))
    if digits.count(".") + digits.count(",") == 1:
        return float(digits.replace(",", "."))
    return float(re.sub(r"\D", "", digits))


def iso_day(text: str) -> date | None:
    """A day written as 2026-10-01."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def day(year: int, month: int, of_month: int) -> date | None:
    """A day of the calendar, if there is such a one."""
    try:
        return date(year, month, of_month)
    except ValueError:
        return None
