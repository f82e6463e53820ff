"""How long `siteglass credits verify` takes for a ledger of many rows, and that it sees one flipped bit in it.

    python -m bench.verify_rate [--entries 10000000] [--accounts 1000] [--keep]

The rows are made here and copied in, since charging so often would take hours. They are a grant, then charges of five
domains, chained by the same hash. Uses its own schema, dropped afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg

from bench.common import write_result
from siteglass.billing.ledger import FIRST_PREVIOUS, entry_hash
from siteglass.settings import Settings, environment_of, load_settings
from testing.accounts import drop_schema, make_schema, owner
from testing.progress import say

COLUMNS = (
    *("account_id", "seq", "at", "kind", "operation", "api", "lead", "expires_at", "refers_to", "actor_kind"),
    *("actor_id", "request_id", "domains", "previous_hash", "hash"),
)
START = datetime(2026, 1, 1, tzinfo=UTC)
ACCOUNTS_AT_ONCE = 20


def _rows(account_id: int, count: int) -> Iterator[dict[str, Any]]:
    """The ledger of one account."""
    previous = FIRST_PREVIOUS
    domains = "\n".join(f"c some-business-{number}.example.com" for number in range(5))
    for seq in range(1, count + 1):
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row |= {"account_id": account_id, "seq": seq, "at": START + timedelta(seconds=seq), "previous_hash": previous}
        row |= {"request_id": f"{account_id:012}-{seq:012}", "domains": "" if seq == 1 else domains}
        row |= {"kind": "grant", "operation": "none", "actor_kind": "operator", "actor_id": "bench", "api": 0}
        row |= {"lead": 5 * count}
        if seq > 1:
            row |= {"kind": "charge", "operation": "search", "actor_kind": "key", "actor_id": "1", "lead": -5}
        row["hash"] = previous = entry_hash(row)
        yield row


async def fill(settings: Settings, accounts: int, entries: int) -> None:
    """Accounts with so many rows in all."""
    await make_schema(settings.postgres_dsn, settings.postgres_schema)
    connection = await asyncpg.connect(owner(settings.postgres_dsn))
    schema, each = settings.postgres_schema, entries // accounts
    await connection.execute(
        f"INSERT INTO {schema}.accounts (name, plan) SELECT 'bench ' || n, 'standard' FROM generate_series(1, $1) n",
        accounts,
    )
    for first in range(1, accounts + 1, ACCOUNTS_AT_ONCE):
        numbers = range(first, min(first + ACCOUNTS_AT_ONCE, accounts + 1))
        last: dict[int, dict[str, Any]] = {}

        def records(numbers: range = numbers, last: dict[int, dict[str, Any]] = last) -> Iterator[tuple[Any, ...]]:
            for number in numbers:
                for row in _rows(number, each):
                    last[number] = row
                    yield tuple(row.values())

        await connection.copy_records_to_table("ledger", schema_name=schema, columns=COLUMNS, records=records())
        await connection.executemany(
            f"INSERT INTO {schema}.balances (account_id, api, lead, seq, head, at) VALUES ($1, 0, $2, $3, $4, $5)",
            [(number, 5, each, row["hash"], row["at"]) for number, row in last.items()],
        )
        say(f"{numbers[-1] * each:,} rows")
    await connection.execute(f"VACUUM ANALYZE {schema}.ledger")
    await connection.close()


def verify(settings: Settings) -> tuple[float, str, int]:
    """Run the command; its seconds, what it said last, and its exit code."""
    started = time.perf_counter()
    done = subprocess.run(
        [str(Path(sys.executable).parent / "siteglass"), "credits", "verify"],
        env={**os.environ, **environment_of(settings)},
        capture_output=True,
        text=True,
        check=False,
    )
    return time.perf_counter() - started, done.stdout.strip().splitlines()[-1], done.returncode


async def flip(settings: Settings, accounts: int, each: int) -> str:
    """Change one bit of one row without the service."""
    choose = random.Random(1)
    account, seq = choose.randint(1, accounts), choose.randint(2, each)
    connection = await asyncpg.connect(owner(settings.postgres_dsn))
    table = f"{settings.postgres_schema}.ledger"
    async with connection.transaction():
        await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER no_change")
        changed = "set_byte(hash, 7, get_byte(hash, 7) # 1)"
        await connection.execute(
            f"UPDATE {table} SET hash = {changed} WHERE account_id = $1 AND seq = $2", account, seq
        )
        await connection.execute(f"ALTER TABLE {table} ENABLE TRIGGER no_change")
    await connection.close()
    return f"row {seq} of account {account}"


def main() -> None:
    """Fill, verify, flip a bit, verify again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--accounts", type=int, default=1_000)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    options = parser.parse_args()
    settings = replace(load_settings(), postgres_schema=f"bench_{secrets.token_hex(4)}")
    try:
        asyncio.run(fill(settings, options.accounts, options.entries))
        seconds, told, code = verify(settings)
        say(f"{seconds:.0f} s: {told}")
        if code != 0 or not told.endswith(" 0 problems."):
            sys.exit("a clean ledger was found wrong")
        place = asyncio.run(flip(settings, options.accounts, options.entries // options.accounts))
        _, told_flipped, code_flipped = verify(settings)
        if code_flipped != 1:
            sys.exit(f"a flipped bit in {place} was not found")
    finally:
        asyncio.run(drop_schema(settings.postgres_dsn, settings.postgres_schema))
    figures = {
        "entries": options.entries,
        "accounts": options.accounts,
        "seconds": round(seconds, 1),
        "entries_per_second": round(options.entries / seconds),
        "said": told,
        "one_bit_flipped_in": place,
        "said_then": told_flipped,
    }
    command = f"python -m bench.verify_rate --entries {options.entries} --accounts {options.accounts}"
    write_result("verify_rate", figures, command, keep=options.keep)


if __name__ == "__main__":
    main()
