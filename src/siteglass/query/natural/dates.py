"""Days of the calendar to conditions: since when a site was seen, or before when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from siteglass.query.natural import numbers
from siteglass.query.natural.kinds import Role
from siteglass.query.natural.quantities import denied_amount
from siteglass.query.natural.sentence import Sentence

_DATE_CUES = (Role.SINCE, Role.CRAWLED, Role.GREATER, Role.LESS)


class SaidDate(NamedTuple):
    """A day, and the places of the first and the last phrase that stand for it."""

    day: date
    first: int
    last: int


def read_dates(sentence: Sentence) -> None:
    """Write since when a site was seen, or before when."""
    for when, first, last in find_dates(sentence):
        _say_date(sentence, when, first, last)


def find_dates(sentence: Sentence) -> Iterator[SaidDate]:
    """ "since 1 September 2026", "since March 2026": every day that is said."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.used:
            continue
        if part.key in sentence.sets.yesterday:
            yield SaidDate(sentence.today - timedelta(days=1), at, at)
        if part.kind == Role.DATE and (written := numbers.iso_day(part.tokens[0].text)):
            yield SaidDate(written, at, at)
        month = part.sense(Role.MONTH)
        if month is None:
            continue
        of_month, year, first, last = 1, sentence.today.year, at, at
        before_at = _skip_date_words(sentence, at, -1)
        before, after = (parts[before_at] if before_at >= 0 else None), sentence.after(at)
        if before and before.amount and before.amount.number <= 31:
            of_month, first = int(before.amount.number), before_at
        elif after and after.amount and after.amount.number <= 31:
            of_month, last = int(after.amount.number), at + 1
        year_at = _skip_date_words(sentence, last, 1)
        after = parts[year_at] if year_at < len(parts) else None
        if after and after.amount and 2000 <= after.amount.number <= 2100:
            year, last = int(after.amount.number), year_at
        when = numbers.day(year, int(month.values[0]), of_month)
        if when:
            yield SaidDate(when, first, last)


def _skip_date_words(sentence: Sentence, at: int, step: int) -> int:
    """The place beside one, past what only parts a date: "15 de junio de 2026", "20. März", "May 10, 2026"."""
    i = at + step
    while 0 <= i < len(sentence.parts) and sentence.parts[i].key in (".", ",", "de", "del", "of", "the"):
        i += step
    return i


def _say_date(sentence: Sentence, when: date, first: int, last: int) -> None:
    if sentence.near(first, _DATE_CUES, back=4, ahead=0):
        cues = [part for part in sentence.parts[max(0, first - 4) : first] if part.has(*_DATE_CUES)]
        before = sentence.parts[first - 1] if first else None
        earlier = before is not None and before.tokens[-1].key in sentence.sets.before
        denial = denied_amount(sentence, first)
        others = [part for part in (denial, before if earlier else None) if part is not None]
        said = [*others, *cues, *sentence.parts[first : last + 1]]
        negated = earlier != (denial is not None)
        sentence.say("updated_after", [when.isoformat()], said, "date", negated=negated)
