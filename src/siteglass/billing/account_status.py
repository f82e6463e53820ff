"""What an account has, on which terms, how fast it uses it and when that runs out; to one of its keys, and to people.

Each read is one statement of one snapshot with a deadline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import asyncpg

from siteglass.access.accounts import Plan
from siteglass.access.keys import Caller
from siteglass.billing.runway import last_day
from siteglass.errors import Unauthorized
from siteglass.platform.postgres import Postgres

MAX_EXPIRIES = 100
PACE_DAYS = 7


@dataclass(frozen=True, slots=True)
class Credits:
    """Credits of both kinds."""

    api: int
    lead: int


# What is shown of an account, whose row is `a`. Expired credits no longer count, whether or not their ledger row is
# written yet.
_SELECT_ACCOUNT = """
SELECT
    a.id, a.name, a.created_at,
    b.api - gone.api AS api, b.lead - gone.lead AS lead,
    p.name AS plan_name, p.rate_per_s, p.burst, p.daily_api_cap, p.daily_lead_cap,
    p.api_price_micros, p.lead_price_micros, p.currency, p.rebill_after_hours,
    p.preview, p.preview_leads_per_day,
    ahead.times, ahead.apis, ahead.leads
"""
_ACCOUNT_JOINS = """
    JOIN {schema}.plans p ON p.name = a.plan
    JOIN {schema}.balances b ON b.account_id = a.id
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(e.api), 0)::bigint AS api, coalesce(sum(e.lead), 0)::bigint AS lead
        FROM {schema}.expiring e WHERE e.account_id = a.id AND e.expires_at <= now()
    ) gone
    CROSS JOIN LATERAL (
        SELECT array_agg(s.expires_at) AS times, array_agg(s.api) AS apis, array_agg(s.lead) AS leads
        FROM (
            SELECT e.expires_at, sum(e.api)::bigint AS api, sum(e.lead)::bigint AS lead
            FROM {schema}.expiring e WHERE e.account_id = a.id AND e.expires_at > now()
            GROUP BY e.expires_at ORDER BY e.expires_at LIMIT {max_expiries}
        ) s
    ) ahead
""".replace("{max_expiries}", str(MAX_EXPIRIES))


def _plan(row: asyncpg.Record) -> Plan:
    return Plan(
        row["plan_name"], row["rate_per_s"], row["burst"], row["daily_api_cap"], row["daily_lead_cap"],
        row["api_price_micros"], row["lead_price_micros"], row["currency"], row["rebill_after_hours"],
        row["preview"], row["preview_leads_per_day"],
    )  # fmt: skip


def _expiring(row: asyncpg.Record) -> tuple[tuple[datetime, Credits], ...]:
    return tuple(zip(row["times"] or (), map(Credits, row["apis"] or (), row["leads"] or ()), strict=True))


# --- to a key -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OwnKey:
    """The key that asks; its caps and what counts against them today, which is that of all keys it replaces."""

    id: int
    name: str
    shown: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    daily_api_cap: int | None
    daily_lead_cap: int | None
    rate_per_s: float | None
    burst: int | None
    used_today: Credits


@dataclass(frozen=True, slots=True)
class Overview:
    """An account as one of its keys sees it."""

    id: int
    name: str
    created_at: datetime
    plan: Plan
    balance: Credits
    expiring: Sequence[tuple[datetime, Credits]]
    key: OwnKey


# The used credits are added up as a charge does it that looks at the caps.
_OVERVIEW = f"""
{_SELECT_ACCOUNT},
    k.id AS key_id, k.name AS key_name, k.shown_start || '...' || k.shown_end AS shown, k.scopes,
    k.created_at AS key_created_at, k.expires_at, k.daily_api_cap AS key_daily_api_cap,
    k.daily_lead_cap AS key_daily_lead_cap, k.rate_per_s AS key_rate_per_s, k.burst AS key_burst,
    used.api AS used_api, used.lead AS used_lead
FROM {{schema}}.keys k
    JOIN {{schema}}.accounts a ON a.id = k.account_id
    {_ACCOUNT_JOINS}
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(d.api), 0)::bigint AS api, coalesce(sum(d.lead), 0)::bigint AS lead
        FROM {{schema}}.keys f
            JOIN {{schema}}.usage_days d ON d.key_id = f.id AND d.day = (now() AT TIME ZONE 'UTC')::date
        WHERE f.account_id = a.id AND coalesce(f.family, f.id) = coalesce(k.family, k.id)
    ) used
WHERE k.id = $1 AND k.account_id = $2
"""  # noqa: S608 - our own words


async def overview(postgres: Postgres, caller: Caller) -> Overview:
    """The account of a caller."""
    row = await postgres.fetchrow(_OVERVIEW, caller.key_id, caller.account_id)
    if row is None:
        raise Unauthorized
    key = OwnKey(
        row["key_id"], row["key_name"], row["shown"], row["scopes"], row["key_created_at"], row["expires_at"],
        row["key_daily_api_cap"], row["key_daily_lead_cap"], row["key_rate_per_s"], row["key_burst"],
        Credits(row["used_api"], row["used_lead"]),
    )  # fmt: skip
    balance = Credits(row["api"], row["lead"])
    return Overview(row["id"], row["name"], row["created_at"], _plan(row), balance, _expiring(row), key)


# --- to people ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CreditsPerDay:
    """A pace."""

    api: float
    lead: float


@dataclass(frozen=True, slots=True)
class RunsOut:
    """The day on which each balance is used up, or the last of it has expired; None: not within ten years."""

    api: date | None
    lead: date | None


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """An account at a time, and its pace: the mean of the last full days (UTC)."""

    id: int
    name: str
    created_at: datetime
    plan: Plan
    balance: Credits
    expiring: Sequence[tuple[datetime, Credits]]
    used_per_day: CreditsPerDay
    pace_days: int
    """So many full days is the pace the mean of; 0: there was none yet, and no pace is known."""
    at: datetime

    @property
    def runs_out(self) -> RunsOut:
        """When nothing is left at this pace. Of credits that expire, the first MAX_EXPIRIES dates are foreseen."""
        pace = self.used_per_day
        api, lead = ([(ends, getattr(of, kind)) for ends, of in self.expiring] for kind in ("api", "lead"))
        return RunsOut(
            last_day(self.at, self.balance.api, pace.api, api), last_day(self.at, self.balance.lead, pace.lead, lead)
        )


# The pace covers the full days after the day of the first charge or of the account's creation. That first day is left
# out, as today is: one charge at 23:50 would predict years. Each key's first day is one look-up by the primary key.
_STANDING = f"""
{_SELECT_ACCOUNT}, now() AS at, used.api / greatest(1, pace.days) AS api_per_day,
    used.lead / greatest(1, pace.days) AS lead_per_day, pace.days AS pace_days
FROM {{schema}}.accounts a
    {_ACCOUNT_JOINS}
    CROSS JOIN (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t
    CROSS JOIN LATERAL (
        SELECT coalesce(min(of_key.first), (a.created_at AT TIME ZONE 'UTC')::date) AS day
        FROM {{schema}}.keys k CROSS JOIN LATERAL (
            SELECT d.day AS first FROM {{schema}}.usage_days d WHERE d.key_id = k.id ORDER BY d.day LIMIT 1
        ) of_key
        WHERE k.account_id = a.id
    ) began
    CROSS JOIN LATERAL (
        SELECT least($2, greatest(0, t.today - began.day - 1)) AS days
    ) pace
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(d.api), 0)::float8 AS api, coalesce(sum(d.lead), 0)::float8 AS lead
        FROM {{schema}}.keys k JOIN {{schema}}.usage_days d ON d.key_id = k.id
        WHERE k.account_id = a.id AND d.day >= t.today - pace.days AND d.day < t.today
    ) used
WHERE a.id = $1
"""  # noqa: S608 - our own words


async def standing(postgres: Postgres, account_id: int) -> AccountStatus:
    """An account that exists; it is a fault to ask for another."""
    row = await postgres.fetchrow(_STANDING, account_id, PACE_DAYS)
    if row is None:
        raise LookupError(f"there is no account {account_id}")
    balance, pace = Credits(row["api"], row["lead"]), CreditsPerDay(row["api_per_day"], row["lead_per_day"])
    return AccountStatus(
        row["id"], row["name"], row["created_at"], _plan(row), balance, _expiring(row), pace,
        row["pace_days"], row["at"],
    )  # fmt: skip
