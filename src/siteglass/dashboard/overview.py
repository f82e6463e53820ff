"""The first page: what is left, how fast it is used, what happened last. For accounts without requests, how to
begin."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date, timedelta

from starlette.responses import Response

from siteglass.billing import account_status as standing
from siteglass.billing import activity, receipts
from siteglass.billing.account_status import AccountStatus
from siteglass.billing.activity import RequestDay
from siteglass.dashboard.charts import Chart, Line
from siteglass.dashboard.guard import HOME, Dashboard, DeclaredPage, Visit
from siteglass.dashboard.usage import requests_chart

DAYS = 30
LAST_ENTRIES = 5
WARN_DAYS = 7
# Of a pace, and of what follows from it, while there was no full day.
NOT_KNOWN = "known after a full day"


@dataclass(frozen=True, slots=True)
class Balance:
    """Credits of one kind: what is left of them, and how long that lasts."""

    label: str
    left: int
    used_today: int
    per_day: float
    pace_days: int
    runs_out: date | None
    today: date

    @property
    def tone(self) -> str:
        """`warn` for what is used up, or soon will be."""
        soon = self.runs_out is not None and self.runs_out < self.today + timedelta(days=WARN_DAYS)
        return "warn" if soon or self.left == 0 else ""

    @property
    def pace_of(self) -> str:
        """Which days the pace is that of."""
        return "yesterday" if self.pace_days == 1 else f"last {self.pace_days} days"

    @property
    def lasts(self) -> date | str:
        """The last day, or in words why there is none."""
        if self.left == 0:
            return "none left"
        if self.runs_out is None and not self.pace_days:
            return NOT_KNOWN
        return self.runs_out or "no end in sight"


def _balances(visit: Visit, account: AccountStatus, used_api: int, used_lead: int) -> list[Balance]:
    today, pace, days, ends = account.at.date(), account.used_per_day, account.pace_days, account.runs_out
    return [
        Balance(visit.labels["api"], account.balance.api, used_api, pace.api, days, ends.api, today),
        Balance(visit.labels["lead"], account.balance.lead, used_lead, pace.lead, days, ends.lead, today),
    ]


async def show(dashboard: Dashboard, visit: Visit) -> Response:
    """The overview."""
    postgres, account_id = dashboard.backends.postgres, visit.who.account_id
    account = await standing.standing(postgres, account_id)
    last = account.at.date()
    # A new account has fewer days: its first bar would be at the right edge of an empty chart.
    first = max(last - timedelta(days=DAYS - 1), account.created_at.date())
    requests, credits = await asyncio.gather(
        activity.requests_by_day(postgres, account_id, first, last),
        activity.credits_by_day(postgres, account_id, first, last),
    )
    wanted = receipts.EntryFilter(limit=LAST_ENTRIES)
    entries = await receipts.entries(postgres, account_id, wanted)
    used = credits.total()
    lines = (Line(visit.labels["api"], used.api, 1), Line(visit.labels["lead"], used.lead, 2))
    count = len(credits.days)
    shown = "today" if count == 1 else f"last {count} days"
    return dashboard.page(
        visit,
        "overview.html",
        balances=_balances(visit, account, used.api[-1], used.lead[-1]),
        not_known=NOT_KNOWN,
        expiring=account.expiring,
        # A line needs two days.
        credits=Chart(
            "credits",
            f"{'Leads' if visit.is_internal else 'Credits'} used, {shown}",
            f"{visit.unit}s",
            credits.days,
            lines,
            "bars" if count == 1 else "lines",
        ),
        requests=requests_chart(requests, f"Requests, {shown}"),
        entries=entries[:LAST_ENTRIES],
        is_new=not used.credits and await _is_new(dashboard, account_id, requests),
        base_url=dashboard.service_address(visit),
    )


async def _is_new(dashboard: Dashboard, account_id: int, recent: list[RequestDay]) -> bool:
    """Whether the account has never asked for anything; looked up only where it has not of late."""
    if any(sum(day[1:]) for day in recent):
        return False
    postgres = dashboard.backends.postgres
    charges = receipts.EntryFilter(limit=1, kinds=("charge",))
    if await receipts.entries(postgres, account_id, charges):
        return False
    last = recent[-1].day
    first = last - timedelta(days=activity.MAX_DAYS - 1)
    year = await activity.requests_by_day(postgres, account_id, first, last)
    return not any(sum(day[1:]) for day in year)


PAGES = (DeclaredPage("overview", "GET", HOME, show),)
