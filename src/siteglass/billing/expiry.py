"""Credits that expire: those of accounts that nobody charges are swept up now and then."""

from __future__ import annotations

from siteglass.platform.postgres import Postgres

EXPIRE_EVERY_S = 60
ACCOUNTS_AT_ONCE = 100
SWEEP_TIMEOUT_MS = 30_000


async def expire_credits(postgres: Postgres) -> int:
    """Write the rows of all that has expired; returns how many accounts had some."""
    swept = 0
    while True:
        row = await postgres.call("expire_credits", max_accounts=ACCOUNTS_AT_ONCE, timeout_ms=SWEEP_TIMEOUT_MS)
        accounts: int = row["accounts"]
        swept += accounts
        if accounts < ACCOUNTS_AT_ONCE:
            return swept
