"""Numbers by day as a chart, its legend and a table that says the same; drawn by static/charts.js."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

OTHER_COLOUR = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One name, and a number for every day. `colour` is that of the token --chart-N, or --chart-bad."""

    label: str
    values: Sequence[int]
    colour: int | Literal["bad"]

    @property
    def total(self) -> int:
        """Over all days."""
        return sum(self.values)


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn: bars on top of each other, or lines beside each other."""

    id: str
    title: str
    unit: str
    """What is counted, such as `API credits`."""
    days: Sequence[date]
    lines: Sequence[Line]
    kind: Literal["bars", "lines"] = "bars"

    @property
    def total(self) -> int:
        """Everything together."""
        return sum(line.total for line in self.lines)

    @property
    def data(self) -> str:
        """What the script reads."""
        lines = [{"label": line.label, "colour": line.colour, "values": line.values} for line in self.lines]
        days = [day.isoformat() for day in self.days]
        return json.dumps({"kind": self.kind, "unit": self.unit, "days": days, "lines": lines}, separators=(",", ":"))

    @property
    def summary(self) -> str:
        """The chart in a sentence, for those who do not see it."""
        parts = ", ".join(f"{line.label} {line.total:,}" for line in self.lines)
        return f"{self.title}, {_day(self.days[0])} to {_day(self.days[-1])}: {parts}. The table below lists the days."

    @property
    def rows(self) -> list[tuple[str, tuple[str, ...]]]:
        """The table, the newest day first, without days on which nothing was; formatted here, not by a filter for each
        of
        some thousand numbers."""
        values = list(zip(*(line.values for line in self.lines), strict=True))
        return [
            (_day(day), tuple(f"{value:,}" for value in found))
            for day, found in zip(reversed(self.days), reversed(values), strict=True)
            if any(found)
        ]


def _day(day: date) -> str:
    return f"{day.day} {day:%b %Y}"
