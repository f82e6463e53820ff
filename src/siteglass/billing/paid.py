"""Whether an account paid for a lead, ever: asked of the ledger, a bounded part at a time."""

from __future__ import annotations

from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres

# A part of 100 domains a row takes about a tenth of a second; what was read is not read again.
LEDGER_ROWS_AT_ONCE = 1_000
PARTS_AT_ONCE = 10


async def has_paid(postgres: Postgres, account_id: int, domain: str) -> bool:
    """Whether the account paid a lead credit for it that was not refunded. Raises Unavailable while a long ledger is
    read."""
    for _ in range(PARTS_AT_ONCE):
        row = await postgres.call("paid_for", account_id=account_id, domain=domain, max_rows=LEDGER_ROWS_AT_ONCE)
        if row["paid"] or not row["behind"]:
            return bool(row["paid"])
    raise Unavailable(
        "the ledger of this account is being read for the first time, in steps: each request continues "
        "where the last one stopped"
    )
