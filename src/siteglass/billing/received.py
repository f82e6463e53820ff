"""The lists `paid` and `received`, brought up to the ledger in bounded parts; and what people get free of charge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence, Set

import asyncpg

from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres

# Rows have up to 100 domains. What a part has read is not read again, also if the request ends at its deadline.
LEDGER_ROWS_AT_ONCE = 200
PARTS_AT_ONCE = 50
PART_TIMEOUT_MS = 10_000
READ_EVERY_S = 60.0

# Of closed accounts whose data was removed, nothing is read again.
_TOO_FAR_BEHIND = """
SELECT b.account_id
FROM {schema}.balances b
    JOIN {schema}.accounts a ON a.id = b.account_id AND a.state <> 'erased'
    LEFT JOIN {schema}.lists l ON l.account_id = b.account_id AND NOT l.test AND l.name = 'received'
WHERE b.seq - coalesce(l.ledger_seq, 0) > $1 ORDER BY b.account_id
"""


async def update_paid(postgres: Postgres, account_id: int) -> int:
    """Bring the list `paid` up to the ledger; its number. Raises Unavailable while a long ledger is read."""
    return await _read_on(lambda: postgres.call("catch_up_paid", **_part(account_id)))


async def update_received(postgres: Postgres, account_id: int) -> int:
    """The same for the list `received`."""
    return await _read_on(lambda: postgres.call("catch_up_received", **_part(account_id)))


async def read_long_ledgers(postgres: Postgres) -> None:
    """Fill the list `received` of accounts with more ledger rows than a request reads; a job of one worker.

    After an upgrade, their requests would be refused until they had read the ledger themselves.
    """
    for row in await postgres.fetch(_TOO_FAR_BEHIND, LEDGER_ROWS_AT_ONCE * PARTS_AT_ONCE):
        while (await postgres.call("catch_up_received", **_part(row["account_id"])))["behind"]:
            pass


def _part(account_id: int) -> dict[str, int]:
    return {
        "account_id": account_id,
        "max_rows": LEDGER_ROWS_AT_ONCE,
        "timeout_ms": PART_TIMEOUT_MS,
        "turn": account_id,
    }


async def _read_on(catch_up: Callable[[], Awaitable[asyncpg.Record]]) -> int:
    for _ in range(PARTS_AT_ONCE):
        row = await catch_up()
        if not row["behind"]:
            return int(row["list_id"])
    raise Unavailable(
        "the ledger of this account is being read for the first time, in steps: each request continues where the last "
        "one stopped"
    )


async def received_before(
    postgres: Postgres, account_id: int, domains: Sequence[str], without_address: Set[str], free_hours: int
) -> frozenset[str]:
    """The leads among these that people of the account get free of charge now. Raises Unavailable as above."""
    await update_received(postgres, account_id)
    row = await postgres.call(
        "received_before",
        account_id=account_id,
        names=list(domains),
        have_address=[domain not in without_address for domain in domains],
        free_hours=free_hours,
    )
    return frozenset(row[0])
