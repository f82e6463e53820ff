"""The usage page: credits by day, operation and key, and how requests ended, over chosen days; as CSV, too."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal
from urllib.parse import urlencode

from starlette.responses import Response

from siteglass.billing import activity
from siteglass.billing.activity import CreditsByDay, RequestDay, Series
from siteglass.dashboard.charts import OTHER_COLOUR, Chart, Line
from siteglass.dashboard.downloads import file_answer
from siteglass.dashboard.forms import Form, FormError
from siteglass.dashboard.guard import Dashboard, DeclaredPage, Visit
from siteglass.dashboard.usage_csv import UsageCsv
from siteglass.platform.postgres import Postgres

USAGE = "/dashboard/usage"
RANGES = (7, 30, 90)
DEFAULT_DAYS = 30
# Lead credits first: most of a bill is made of them.
KINDS = ("lead", "api")
# An operation keeps its colour, whichever others there are.
_OPERATION_COLOURS = {"search": 1, "enrich": 2, "page": 3, "evidence": 4, "export": 5}
# What failed is nothing that the caller chose: it looks like something bad.
_OUTCOMES: tuple[tuple[str, int | Literal["bad"]], ...] = (
    ("Answered", 1),
    ("Refused", 2),
    ("Rate-limited", 3),
    ("Failed", "bad"),
)

_NOTHING = {"requests": "No requests were made in this period."}


@dataclass(frozen=True, slots=True)
class UsageSelection:
    """What the page shows: so many days up to today, or days of one's own; and which kind of credits."""

    first: date
    last: date
    days: int | None
    """One of RANGES; None: days of one's own."""
    kind: str

    def path(self, where: str = USAGE, *, days: int | None = None, kind: str = "") -> str:
        """The address of the same with something else chosen."""
        chosen = days or self.days
        own = {"first": self.first.isoformat(), "last": self.last.isoformat()}
        fields = {"credits": kind or self.kind, **({"days": str(chosen)} if chosen else own)}
        return f"{where}?{urlencode(fields)}"


def _last_days(count: int, kind: str) -> UsageSelection:
    today = datetime.now(UTC).date()
    return UsageSelection(today - timedelta(days=count - 1), today, count, kind)


def _kind(query: Form) -> str:
    return query.get("credits") if query.get("credits") in KINDS else KINDS[0]


def read_choice(query: Form) -> UsageSelection:
    """What an address asks for; raises FormError."""
    kind = _kind(query)
    first, last = query.day("first", label="First day"), query.day("last", label="Last day")
    if first is None and last is None:
        days = query.get("days")
        return _last_days(int(days) if days in map(str, RANGES) else DEFAULT_DAYS, kind)
    last = last or datetime.now(UTC).date()
    first = first or max(date.min, last - timedelta(days=min(DEFAULT_DAYS, last.toordinal()) - 1))
    if not 0 <= (last - first).days < activity.MAX_DAYS:
        raise FormError(
            "first", f"First day: must not be after the last day, and at most {activity.MAX_DAYS} days before it."
        )
    return UsageSelection(first, last, None, kind)


async def _from_opening(chosen: UsageSelection, postgres: Postgres, account_id: int) -> UsageSelection:
    """The same without days before the account was opened, unless somebody named the days."""
    if chosen.days is None:
        return chosen
    opened = await activity.opened_on(postgres, account_id)
    return replace(chosen, first=min(max(chosen.first, opened), chosen.last))


def requests_chart(days: Sequence[RequestDay], title: str) -> Chart:
    """How requests ended."""
    columns = list(zip(*days, strict=True))[1:]
    lines = [Line(label, counts, colour) for (label, colour), counts in zip(_OUTCOMES, columns, strict=True)]
    return Chart("requests", title, "requests", [day.day for day in days], lines)


def _credits_of(series: Series, kind: str) -> Sequence[int]:
    return series.api if kind == "api" else series.lead


def _by_operation(used: CreditsByDay, kind: str, label: str) -> Chart:
    lines = [
        Line(series.label, _credits_of(series, kind), _OPERATION_COLOURS.get(series.label, OTHER_COLOUR))
        for series in used.by_operation()
    ]
    # Some operations cost credits of one kind only.
    costly = sorted((line for line in lines if line.total), key=lambda line: -line.total)
    return Chart("by-operation", f"{label} by operation", label, used.days, costly)


def _by_key(used: CreditsByDay, kind: str, label: str) -> Chart:
    """The key with the most credits of this kind first, and the sum of unlisted keys last."""
    found = sorted(used.by_key(), key=lambda series: (series.key_id is None, -sum(_credits_of(series, kind))))
    lines = [
        Line(series.label, _credits_of(series, kind), OTHER_COLOUR if series.key_id is None else place)
        for place, series in enumerate(found, 1)
    ]
    return Chart("by-key", f"{label} by key", label, used.days, lines)


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The page; what cannot be read of the days is said, and the usual ones are shown."""
    wrong: dict[str, str] = {}
    try:
        chosen = read_choice(visit.query)
    except FormError as error:
        wrong = {error.field: str(error)}
        chosen = _last_days(DEFAULT_DAYS, _kind(visit.query))
    postgres, account_id = dashboard.backends.postgres, visit.who.account_id
    chosen = await _from_opening(chosen, postgres, account_id)
    first, last = chosen.first, chosen.last
    used, requests = await asyncio.gather(
        activity.credits_by_day(postgres, account_id, first, last),
        activity.requests_by_day(postgres, account_id, first, last),
    )
    label = visit.labels[chosen.kind]
    total, outcomes = used.total(), requests_chart(requests, "Requests by outcome")
    return dashboard.page(
        visit,
        "usage.html",
        chosen=chosen,
        wrong=wrong,
        ranges=RANGES,
        kinds={kind: visit.labels[kind] for kind in KINDS},
        api=sum(total.api),
        lead=sum(total.lead),
        charts_shown=[_by_operation(used, chosen.kind, label), _by_key(used, chosen.kind, label), outcomes],
        outcomes=outcomes,
        nothing=_NOTHING,
        given={"first": visit.query.get("first"), "last": visit.query.get("last")} if wrong else {},
    )


async def download(dashboard: Dashboard, visit: Visit) -> Response:
    """The days that the page shows, by day, operation and key, as CSV."""
    try:
        chosen = read_choice(visit.query)
    except FormError:
        chosen = _last_days(DEFAULT_DAYS, _kind(visit.query))
    postgres, account_id = dashboard.backends.postgres, visit.who.account_id
    chosen = await _from_opening(chosen, postgres, account_id)
    used = UsageCsv(postgres, account_id, chosen.first, chosen.last)
    return await file_answer(used, f"siteglass-usage-{chosen.first}-{chosen.last}.csv")


PAGES = (
    DeclaredPage("usage", "GET", USAGE, show),
    DeclaredPage("usage.csv", "GET", f"{USAGE}.csv", download),
)
