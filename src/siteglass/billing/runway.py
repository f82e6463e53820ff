"""When a balance is used up at a pace, while some of its credits expire: arithmetic, no database."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction

MAX_DAYS_AHEAD = 3_650
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)
# More than is looked ahead, and still a time: a balance may last for longer than there are years.
_BEYOND = (MAX_DAYS_AHEAD + 1) * (_DAY // _MICROSECOND)


def last_day(at: datetime, balance: int, per_day: float, expiring: Iterable[tuple[datetime, int]]) -> date | None:
    """The day on which nothing is left; None: not within MAX_DAYS_AHEAD.

    `expiring` are those credits of the balance that expire, soonest first: they are used in this order, before what
    never expires, and what is not used by then is lost. That some are bought is not foreseen.
    """
    # Exact: where it ends at midnight, an error of a float would tell another day.
    left, per_microsecond = Fraction(balance), Fraction(per_day) / (_DAY // _MICROSECOND)
    clock, used_of_later = at, Fraction(0)
    for ends, credits in expiring:
        used = per_microsecond * ((ends - clock) // _MICROSECOND)
        if used >= left:
            break
        used_of_later += used
        lost = max(Fraction(0), credits - used_of_later)
        used_of_later = max(Fraction(0), used_of_later - credits)
        left -= used + lost
        clock = ends
        if left <= 0:
            return _if_soon(at, clock - at)
    if not per_microsecond:
        return None
    return _if_soon(at, (clock - at) + min(left / per_microsecond // 1, _BEYOND) * _MICROSECOND)


def _if_soon(at: datetime, lasts: timedelta) -> date | None:
    return (at + lasts).date() if lasts <= MAX_DAYS_AHEAD * _DAY else None
