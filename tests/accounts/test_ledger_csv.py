"""The ledger as one file: every entry once, page after page, and no cell that a spreadsheet runs."""

from __future__ import annotations

import csv
import io

import pytest

from siteglass.access.keys import Keys, create_key
from siteglass.billing import credits, ledger_csv
from siteglass.billing.ledger_csv import COLUMNS, NAMED_COLUMNS, LedgerCsv, written
from siteglass.billing.receipts import EntryFilter, entries
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, TIMEOUT_MS, CountingPostgres, open_account, pay
from tests.accounts.writing import write_long_ledger

pytestmark = pytest.mark.anyio

# A line break first; and the signs as wide as a Chinese character.
STRANGE = ["\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
FORMULAS = [
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1",
    "-1",
    "\t=1",
    "\r=1",
    '=HYPERLINK("http://x","y")',
    "=1\r\n=2",
    *STRANGE,
]
HARMLESS = ["a=b", "'", "a,b", 'a"b', "a\r\nb", "1", "🙂", "a;=1"]


async def _pieces(made: LedgerCsv) -> list[bytes]:
    return [piece async for piece in made]


def _table(pieces: list[bytes]) -> list[dict[str, str]]:
    lines = list(csv.reader(io.StringIO(b"".join(pieces).decode(), newline=""), strict=True))
    assert tuple(lines[0]) == NAMED_COLUMNS
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def _is_safe(cell: str) -> bool:
    """Nothing begins like a formula except our own numbers."""
    return not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")) or (
        cell[0] == "-" and cell[1:].isdigit()
    )


async def test_no_cell_is_a_formula(postgres: Postgres) -> None:
    account = (await open_account(postgres, 100, 100)).account_id
    for name in (*FORMULAS, *HARMLESS):
        _, key = await create_key(postgres, SECRETS, account, name, actor="tests")
        await pay(postgres, await Keys(postgres, SECRETS, TIMEOUT_MS).find(key), 1, 2)
    references = [text for text in (*FORMULAS, *HARMLESS) if "\n" not in text]
    for reference in references:
        await credits.grant(postgres, account, 1, 1, "tests", reference)
    rows = _table(await _pieces(LedgerCsv(postgres, account, EntryFilter(1))))
    assert [cell for row in rows for cell in row.values() if not _is_safe(cell)] == []
    charges = [row for row in reversed(rows) if row["kind"] == "charge"]
    assert [row["key_name"] for row in charges] == [*(f"'{name}" for name in FORMULAS), *HARMLESS]
    assert {(row["api_credits"], row["lead_credits"]) for row in charges} == {("-1", "-2")}
    granted = [row["request_id"] for row in reversed(rows) if row["kind"] == "grant"][1:]
    assert granted == [f"'{text}" if text in FORMULAS else text for text in references]


async def test_names_of_keys_are_for_people_only(postgres: Postgres) -> None:
    caller = await open_account(postgres, 0, 5)
    await pay(postgres, caller, 0, 1)
    found = await entries(postgres, caller.account_id, EntryFilter(10))
    assert written(found).splitlines()[0] == ",".join(COLUMNS)
    assert "key_name" not in COLUMNS
    assert [name for name in NAMED_COLUMNS if name != "key_name"] == list(COLUMNS)
    assert written(found, NAMED_COLUMNS).splitlines()[1].split(",")[8] == "tests"
    assert written([], with_head=False) == ""


async def test_all_of_a_long_ledger(dsn: str, schema_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    postgres = CountingPostgres(dsn, schema_name)
    caller = await open_account(postgres)
    await write_long_ledger(dsn, postgres, caller.account_id, caller.key_id, 3_500)

    async def seqs(wanted: EntryFilter) -> tuple[list[int], int | None, int]:
        """Numbers in the file, where it continues, and how many statements it took."""
        sent = postgres.sent
        made = LedgerCsv(postgres, caller.account_id, wanted)
        assert made.goes_on_before is None
        rows = _table(await _pieces(made))
        return [int(row["seq"]) for row in rows], made.goes_on_before, postgres.sent - sent

    assert await seqs(EntryFilter(7)) == (list(range(3_500, 0, -1)), None, 4)
    assert await seqs(EntryFilter(7, before=1_001)) == (list(range(1_000, 0, -1)), None, 1)
    assert await seqs(EntryFilter(7, kinds=["grant"])) == (list(range(3_200, 0, -400)), None, 1)
    assert await seqs(EntryFilter(7, request_id="nope")) == ([], None, 1)
    monkeypatch.setattr(ledger_csv, "MAX_CSV_ROWS", 2_000)
    assert await seqs(EntryFilter(7)) == (list(range(3_500, 1_500, -1)), 1_501, 2)
    assert await seqs(EntryFilter(7, before=1_501)) == (list(range(1_500, 0, -1)), None, 2)
    assert await seqs(EntryFilter(7, before=2_001)) == (list(range(2_000, 0, -1)), None, 2)
    await postgres.close()
