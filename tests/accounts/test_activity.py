"""Credits and requests by day, as charts show them: every day of the range, keys in the order of what they used."""

from __future__ import annotations

from datetime import date

import pytest

from siteglass.access.request_counts import RequestCounts
from siteglass.billing.activity import OTHER_KEYS, RequestDay, Series, credits_by_day, requests_by_day
from siteglass.billing.receipts import usage
from siteglass.platform.postgres import Postgres
from testing.accounts import open_account, open_key
from tests.accounts.test_request_counts import DAY, counted_at
from tests.accounts.writing import USED, as_owner

pytestmark = pytest.mark.anyio

FIRST, LAST = date(2026, 2, 28), date(2026, 3, 2)


async def test_requests_of_every_day_by_how_they_ended(postgres: Postgres) -> None:
    one = await open_account(postgres)
    two, _ = await open_key(postgres, one.account_id)
    stranger = await open_account(postgres)
    counts = RequestCounts(postgres, lambda: counted_at(12))
    for key, operation, status in (
        *[(one.key_id, "search", 200)] * 3,
        (two.key_id, "page", 200),
        (two.key_id, "ledger", 304),
        (two.key_id, "search", 402),
        *[(one.key_id, "search", 429)] * 2,
        (one.key_id, "enrich", 503),
        (stranger.key_id, "search", 200),
    ):
        counts.count(key, operation, status)
    await counts.write()
    read = await requests_by_day(postgres, one.account_id, FIRST, LAST)
    assert read == [RequestDay(FIRST, 0, 0, 0, 0), RequestDay(DAY, 5, 1, 2, 1), RequestDay(LAST, 0, 0, 0, 0)]
    assert await requests_by_day(postgres, one.account_id, LAST, LAST) == read[2:]


@pytest.mark.parametrize(("first", "last"), [(LAST, FIRST), (date(2025, 1, 1), date(2026, 1, 2))])
async def test_only_so_many_days_are_told(postgres: Postgres, first: date, last: date) -> None:
    for read in (requests_by_day, credits_by_day):
        with pytest.raises(ValueError, match="1 to 366 days"):
            await read(postgres, 1, first, last)


async def test_credits_by_day_operation_and_key(postgres: Postgres, dsn: str) -> None:
    caller = await open_account(postgres)
    account = caller.account_id
    keys = [caller.key_id, *[(await open_key(postgres, account))[0].key_id for _ in range(6)]]
    stranger = await open_account(postgres)
    used = [
        (keys[5], DAY, "search", 1, 0, 10),
        (keys[1], DAY, "search", 2, 0, 500),
        (keys[1], LAST, "search", 1, 0, 30),
        (keys[1], DAY, "enrich", 4, 4, 0),
        (keys[2], FIRST, "page", 1, 0, 20),
        (keys[3], FIRST, "page", 1, 0, 20),
        (keys[4], LAST, "enrich", 9, 9, 90),
        (keys[0], LAST, "enrich", 1, 1, 4),
        (keys[6], LAST, "search", 1, 0, 3),
        (keys[6], date(2026, 3, 3), "search", 1, 0, 9_999),
        (stranger.key_id, DAY, "search", 1, 0, 9_999),
    ]
    for row in used:
        await as_owner(dsn, postgres, USED, *row)
    read = await credits_by_day(postgres, account, FIRST, LAST)
    assert read.days == [FIRST, DAY, LAST]
    assert read.total() == Series("all", [2, 7, 12], [0, 4, 10], [40, 510, 127])
    assert read.by_operation() == [
        Series("enrich", [0, 4, 10], [0, 4, 10], [0, 0, 94]),
        Series("page", [2, 0, 0], [0, 0, 0], [40, 0, 0]),
        Series("search", [0, 3, 2], [0, 0, 0], [0, 510, 33]),
    ]
    assert read.by_key() == [
        Series("tests", [0, 6, 1], [0, 4, 0], [0, 500, 30], keys[1]),
        Series("tests", [0, 0, 9], [0, 0, 9], [0, 0, 90], keys[4]),
        Series("tests", [1, 0, 0], [0, 0, 0], [20, 0, 0], keys[2]),
        Series("tests", [1, 0, 0], [0, 0, 0], [20, 0, 0], keys[3]),
        Series("tests", [0, 1, 0], [0, 0, 0], [0, 10, 0], keys[5]),
        Series(OTHER_KEYS, [0, 0, 2], [0, 0, 1], [0, 0, 7]),
    ]
    rows = await usage(postgres, account, FIRST, LAST, None)
    assert rows is not None
    assert read.total().credits == sum(row.api + row.lead for row in rows)


async def test_an_account_that_used_nothing(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    read = await credits_by_day(postgres, account, FIRST, LAST)
    assert read.total() == Series("all", [0, 0, 0], [0, 0, 0], [0, 0, 0])
    assert read.by_operation() == []
    assert read.by_key() == []
