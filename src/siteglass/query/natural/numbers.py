"""Numbers of a sentence: amounts, comparisons, ranges, ages and dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

_PARTS = re.compile(
    r"(?P<before>[$€£])?\s?(?P<digits>\d{1,3}(?:[ ]\d{3})+|\d+(?:[.,]\d+)*)\s?"
    r"(?P<scale>k|mm|mio|mil|tsd|grand|lakh|m)?(?P<plus>\+)?\s?(?P<after>[€£$])?",
    re.IGNORECASE,
)
_SCALES = {"k": 1_000, "grand": 1_000, "tsd": 1_000, "mil": 1_000, "m": 10**6, "mm": 10**6, "mio": 10**6, "lakh": 10**5}
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar enero janvier janeiro",
            "february feb februar febrero fevrier fevereiro",
            "march mar marz marzo mars marco",
            "april apr abril avril",
            "may mai mayo maio",
            "june jun juni junio juin junho",
            "july jul juli julio juillet julho",
            "august aug agosto aout",
            "september sep sept septiembre septembre setembro",
            "october oct okt oktober octubre octobre outubro",
            "november nov noviembre novembre novembro",
            "december dec dez dezember diciembre decembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
DAYS = {
    "day": 1, "days": 1, "d": 1, "tag": 1, "tage": 1, "tagen": 1, "dia": 1, "dias": 1, "jour": 1, "jours": 1,
    "week": 7, "weeks": 7, "wk": 7, "wks": 7, "woche": 7, "wochen": 7, "semana": 7, "semanas": 7, "semaine": 7,
    "semaines": 7, "month": 30, "months": 30, "mo": 30, "monat": 30, "monate": 30, "monaten": 30, "mes": 30,
    "meses": 30, "mois": 30, "year": 365, "years": 365, "jahr": 365, "jahre": 365, "jahren": 365, "ano": 365,
    "anos": 365, "an": 365, "ans": 365,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as it was written."""

    number: float
    money: bool = False
    or_more: bool = False


def read_amount(text: str) -> Amount | None:
    """The number of a word such as $2.5k, 10,000+ or 3 Mio."""
    found = _PARTS.fullmatch(text.strip())
    if not found:
        return None
    digits = found["digits"].replace(" ", "")
    if re.fullmatch(r"\d{1,3}([.,]\d{3})+", digits):
        value = float(re.sub(r"[.,]", "", digits))
    else:
        value = (
            float(digits.replace(",", "."))
            if digits.count(".") + digits.count(",") == 1
            else float(re.sub(r"\D", "", digits))
        )
    value *= _SCALES.get((found["scale"] or "").lower(), 1)
    sign = found["before"] or found["after"]
    return Amount(value, sign is not None, found["plus"] is not None)


def date_line(year: int, month: int, day: int) -> str | None:
    """The directive for "since that day"."""
    try:
        return f"@updated_after({date(year, month, day).isoformat()})"
    except ValueError:
        return None


def start_of_year(today: date) -> str:
    return f"@updated_after({today.year}-01-01)"
