"""What an account has, its pace, and when it runs out at it."""

from __future__ import annotations

import itertools
import math
from datetime import UTC, date, datetime, timedelta
from unittest.mock import ANY

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siteglass.access.accounts import Plan
from siteglass.access.keys import Caller
from siteglass.billing import credits
from siteglass.billing.account_status import AccountStatus, Credits, CreditsPerDay, RunsOut, standing
from siteglass.billing.runway import last_day
from siteglass.platform.postgres import Postgres
from testing.accounts import open_account, open_key, pay
from tests.accounts.writing import USED, as_owner

pytestmark = pytest.mark.anyio


async def _today(postgres: Postgres) -> date:
    row = await postgres.fetchrow("SELECT (now() AT TIME ZONE 'UTC')::date AS day")
    assert row is not None
    day: date = row["day"]
    return day


async def _pace(dsn: str, postgres: Postgres, caller: Caller, *used: tuple[int, int, int]) -> CreditsPerDay:
    """The pace of an account that used so many credits so many days ago."""
    today = await _today(postgres)
    for days, api, lead in used:
        day = today - timedelta(days=days)
        await as_owner(dsn, postgres, USED, caller.key_id, day, "search", 1, api, lead)
    return (await standing(postgres, caller.account_id)).used_per_day


async def test_all_of_it(postgres: Postgres) -> None:
    caller = await open_account(postgres, 100, 1_000)
    ends = datetime.now(UTC) + timedelta(days=9)
    await credits.grant(postgres, caller.account_id, 5, 7, "tests", "INV 1", ends)
    await pay(postgres, caller, 2, 3)
    seen = await standing(postgres, caller.account_id)
    assert seen == AccountStatus(
        caller.account_id,
        ANY,
        ANY,
        Plan("standard", 10, 20),
        Credits(103, 1_004),
        ((ends, Credits(3, 4)),),
        CreditsPerDay(0, 0),
        0,  # began today: no full day
        ANY,
    )
    assert len(seen.name) == 16
    assert seen.created_at < seen.at <= datetime.now(UTC) + timedelta(seconds=5)
    with pytest.raises(LookupError):
        await standing(postgres, 10**12)


async def test_what_has_expired_is_gone(postgres: Postgres, dsn: str) -> None:
    account = (await open_account(postgres, 10, 20)).account_id
    await credits.grant(postgres, account, 5, 7, "tests", "INV 1", datetime.now(UTC) + timedelta(days=9))
    await as_owner(
        dsn, postgres, "UPDATE {schema}.expiring SET expires_at = now() - interval '1 s' WHERE account_id = $1", account
    )
    seen = await standing(postgres, account)
    assert (seen.balance, seen.expiring) == (Credits(10, 20), ())


async def test_a_pace_is_that_of_full_days_since_the_first(postgres: Postgres, dsn: str) -> None:
    assert await _pace(dsn, postgres, await open_account(postgres)) == CreditsPerDay(0, 0)
    week = [(0, 900, 900), (1, 7, 0), (7, 0, 14), (8, 70, 70)]
    assert await _pace(dsn, postgres, await open_account(postgres), *week) == CreditsPerDay(1, 2)
    # The first day is part of one, as today is.
    assert await _pace(dsn, postgres, await open_account(postgres), (0, 900, 900), (1, 7, 3)) == CreditsPerDay(0, 0)
    two_days = [(0, 9, 9), (1, 7, 3), (2, 900, 900)]
    assert await _pace(dsn, postgres, await open_account(postgres), *two_days) == CreditsPerDay(7, 3)
    three_days = [(0, 9, 9), (2, 6, 3), (3, 900, 900)]
    assert await _pace(dsn, postgres, await open_account(postgres), *three_days) == CreditsPerDay(3, 1.5)
    assert await _pace(dsn, postgres, await open_account(postgres), (8, 70, 70)) == CreditsPerDay(0, 0)


async def test_all_keys_of_the_account_count_and_no_others(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres)
    other, _ = await open_key(postgres, caller.account_id)
    await _pace(dsn, postgres, await open_account(postgres), (1, 5_000, 5_000))
    await _pace(dsn, postgres, caller, (2, 10, 10))
    assert await _pace(dsn, postgres, other, (1, 20, 0), (9, 1, 1)) == CreditsPerDay(30 / 7, 10 / 7)


def _at(api: tuple[int, float], lead: tuple[int, float]) -> RunsOut:
    at = datetime(2026, 11, 15, 18, 0, tzinfo=UTC)
    balance, pace = Credits(api[0], lead[0]), CreditsPerDay(api[1], lead[1])
    return AccountStatus(1, "", at, Plan("", 1, 1), balance, (), pace, 7, at).runs_out


def test_when_it_runs_out() -> None:
    assert _at((0, 0), (10, 0)) == RunsOut(None, None)
    assert _at((0, 5), (10, 10)) == RunsOut(date(2026, 11, 15), date(2026, 11, 16))
    assert _at((1, 10), (3, 10)) == RunsOut(date(2026, 11, 15), date(2026, 11, 16))
    assert _at((3_650, 1), (3_651, 1)) == RunsOut(date(2036, 11, 12), None)
    assert _at((10**15, 1e-9), (10**15, 10**15)) == RunsOut(None, date(2026, 11, 16))


def _simulated(at: datetime, per_hour: int, forever: int, expiring: list[tuple[int, int]]) -> date | None:
    """Hour by hour, credit by credit: a row of credits, each with the hour of its end; the first is used first."""
    row = [float(ends) for ends, credits in sorted(expiring) for _ in range(credits)] + [math.inf] * forever
    if not row and not per_hour:
        return None
    for hour in itertools.count():
        row = [ends for ends in row if ends > hour]
        if len(row) <= per_hour or not row:
            # the last of them goes within this hour
            part = timedelta(hours=1) * len(row) / per_hour if row else timedelta()
            return (at + timedelta(hours=hour) + part).date()
        if not per_hour and row[0] == math.inf:
            return None
        row = row[per_hour:]
    raise AssertionError("there is no end")


@settings(max_examples=400, deadline=None)
@given(
    hour=st.integers(0, 23),
    per_hour=st.integers(0, 4),
    forever=st.integers(0, 60),
    expiring=st.lists(st.tuples(st.integers(1, 100), st.integers(1, 80)), max_size=5, unique_by=lambda pair: pair[0]),
)
def test_credits_that_expire_are_used_first_and_lost_if_not_used(
    hour: int, per_hour: int, forever: int, expiring: list[tuple[int, int]]
) -> None:
    at = datetime(2026, 11, 15, hour, tzinfo=UTC)
    balance = forever + sum(credits for _, credits in expiring)
    ends = [(at + timedelta(hours=hours), credits) for hours, credits in sorted(expiring)]
    assert last_day(at, balance, per_hour * 24, ends) == _simulated(at, per_hour, forever, expiring)


async def test_what_expires_shortens_it(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres, 10, 0)
    ends = datetime.now(UTC) + timedelta(days=2)
    await credits.grant(postgres, caller.account_id, 1_000, 5, "tests", "INV 1", ends)
    await _pace(dsn, postgres, caller, (1, 10, 0), (2, 0, 0))
    seen = await standing(postgres, caller.account_id)
    # 980 of the 1,000 are lost after two days, and 10 more last one; of lead credits nothing is used, and all are lost
    assert seen.runs_out == RunsOut((ends + timedelta(days=1)).date(), ends.date())


async def test_the_days_of_a_pace(postgres: Postgres, dsn: str) -> None:
    async def days(made_ago: int, *used_ago: int) -> int:
        caller = await open_account(postgres)
        made = "UPDATE {schema}.accounts SET created_at = now() - make_interval(days => $2) WHERE id = $1"
        await as_owner(dsn, postgres, made, caller.account_id, made_ago)
        await _pace(dsn, postgres, caller, *((day, 1, 1) for day in used_ago))
        return (await standing(postgres, caller.account_id)).pace_days

    assert [await days(0), await days(3), await days(30)] == [0, 2, 7]
    assert [await days(30, 0), await days(30, 0, 1), await days(30, 3), await days(30, 20)] == [0, 0, 2, 7]
