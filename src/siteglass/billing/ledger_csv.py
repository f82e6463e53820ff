"""Ledger entries as CSV (RFC 4180), for the API a page at a time and for people as one file.

No text in it is read as a formula by a spreadsheet: one that begins like one gets an apostrophe. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import overload

from siteglass.billing.receipts import Entry, EntryFilter, entries
from siteglass.platform.postgres import Postgres

COLUMNS = (
    "seq", "at", "kind", "operation", "api_credits", "lead_credits", "request_id", "key_id", "by", "expires_at",
    "refers_to", "hash",
)  # fmt: skip
NAMED_COLUMNS = (*COLUMNS[:8], "key_name", *COLUMNS[8:])

ROWS_AT_ONCE = 1_000
MAX_CSV_ROWS = 100_000

# Full-width signs, too: spreadsheets of some languages read them as the plain ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@overload
def format_time(time: datetime) -> str: ...
@overload
def format_time(time: datetime | None) -> str | None: ...
def format_time(time: datetime | None) -> str | None:
    """A time of the database, which gives them in UTC."""
    return None if time is None else time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def cell(text: str) -> str:
    """A text that no spreadsheet reads as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _line(columns: Sequence[str], entry: Entry) -> list[object]:
    values = {
        "seq": entry.seq,
        "at": format_time(entry.at),
        "kind": entry.kind,
        "operation": None if entry.operation == "none" else entry.operation,
        "api_credits": entry.api,
        "lead_credits": entry.lead,
        "request_id": cell(entry.request_id),
        "key_id": entry.key_id,
        "key_name": None if entry.key_name is None else cell(entry.key_name),
        "by": entry.by,
        "expires_at": format_time(entry.expires_at),
        "refers_to": entry.refers_to,
        "hash": entry.hash.hex(),
    }
    return [values[name] for name in columns]


def written(found: Sequence[Entry], columns: Sequence[str] = COLUMNS, *, with_head: bool = True) -> str:
    """Entries as lines."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    if with_head:
        writer.writerow(columns)
    writer.writerows(_line(columns, entry) for entry in found)
    return text.getvalue()


class LedgerCsv:
    """All entries that are wanted as one file with the names of keys, the newest first: iterate over its pieces.

    `wanted.limit` does not count. At most MAX_CSV_ROWS; if there are more, `goes_on_before` is set afterwards: the file
    with `before` set to it goes on where this one ends.
    """

    def __init__(self, postgres: Postgres, account_id: int, wanted: EntryFilter) -> None:
        self._postgres = postgres
        self._account_id = account_id
        self._wanted = replace(wanted, limit=ROWS_AT_ONCE)
        self.goes_on_before: int | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        wanted = self._wanted
        for first in range(0, MAX_CSV_ROWS, ROWS_AT_ONCE):
            found = await entries(self._postgres, self._account_id, wanted)
            shown = found[:ROWS_AT_ONCE]
            yield written(shown, NAMED_COLUMNS, with_head=first == 0).encode()
            if len(found) <= ROWS_AT_ONCE:
                return
            wanted = replace(wanted, before=shown[-1].seq)
        self.goes_on_before = wanted.before
