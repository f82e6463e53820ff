"""What an account was charged, by day, operation and key, as one CSV file that spreadsheets read without harm."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Sequence
from datetime import date, timedelta

from siteglass.billing.ledger_csv import cell
from siteglass.billing.receipts import UsageRow, usage
from siteglass.dashboard.refusals import PageRefusal
from siteglass.platform.postgres import Postgres

COLUMNS = ("day", "operation", "key_id", "key_name", "requests", "api_credits", "lead_credits")
TOO_MUCH = PageRefusal(
    400, "Too many rows for one file", "A single day has too many rows. Use the API instead: GET /v1/usage."
)


class UsageCsv:
    """All rows of a range of days, the oldest first: iterate over its pieces."""

    def __init__(self, postgres: Postgres, account_id: int, first: date, last: date) -> None:
        self._postgres = postgres
        self._account_id = account_id
        self._range = (first, last)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        head = _written([COLUMNS])
        # What is too much to be read at once is read in halves.
        ranges = [self._range]
        while ranges:
            first, last = ranges.pop()
            rows = await usage(self._postgres, self._account_id, first, last, None)
            if rows is not None:
                yield head + _written([_line(row) for row in rows])
                head = b""
            elif first == last:
                raise TOO_MUCH
            else:
                middle = first + (last - first) // 2
                ranges += [(middle + timedelta(days=1), last), (first, middle)]


def _line(row: UsageRow) -> Sequence[object]:
    return (
        row.day.isoformat(), row.operation, row.key_id, cell(row.key_name), row.requests, row.api, row.lead,
    )  # fmt: skip


def _written(lines: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue().encode()
