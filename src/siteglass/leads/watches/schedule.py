"""When a watch runs: every day or on one day of the week, at an hour of a time zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import Final, Literal, TypeAlias, get_args
from zoneinfo import ZoneInfo, available_timezones

Every: TypeAlias = Literal["day", "week"]
EVERY: Final = get_args(Every)
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@cache
def time_zones() -> Sequence[str]:
    """The names of the IANA database, such as Europe/Berlin; they are read from many files."""
    return sorted(available_timezones())


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times of a watch."""

    every: Every = "week"
    weekday: int = 0
    """Of a weekly watch; 0 is Monday."""
    hour: int = 8
    time_zone: str = "UTC"

    def next_after(self, now: datetime) -> datetime:
        """The first run after a time. The hour is that of the clocks there, also when they change."""
        zone = ZoneInfo(self.time_zone)
        day = now.astimezone(zone).date()
        if self.every == "week":
            day += timedelta(days=(self.weekday - day.weekday()) % 7)
        step = timedelta(days=1 if self.every == "day" else 7)
        at = datetime.combine(day, time(self.hour), zone).astimezone(UTC)
        return at if at > now else datetime.combine(day + step, time(self.hour), zone).astimezone(UTC)
