"""Whether an account paid for a lead, ever, and when: asked of the ledger, a bounded part at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from siteglass.errors import Unavailable
from siteglass.platform.postgres import Postgres

# A part of 100 domains a row takes about a tenth of a second; what was read is not read again.
LEDGER_ROWS_AT_ONCE = 1_000
PARTS_AT_ONCE = 10

# A charge counts unless all of its leads were refunded, as in `has_bought`.
_TIMES = """
SELECT b.domain, max(l.at) AS at
FROM {schema}.bought b JOIN {schema}.ledger l ON l.account_id = b.account_id AND l.seq = b.seq AND l.at = b.at
WHERE b.account_id = $1 AND b.domain = ANY($2::text[])
    AND coalesce((SELECT sum(r.lead) FROM {schema}.ledger r
        WHERE r.account_id = $1 AND r.refers_to = b.seq AND r.kind = 'refund' AND r.at >= b.at), 0) < -l.lead
GROUP BY b.domain
"""
# A charge that was stored under a key, and of which all leads were refunded since.
_REFUND_OF_KEY = """
SELECT max(r.seq) AS seq FROM {schema}.idempotency i
    JOIN {schema}.ledger c ON c.account_id = i.account_id AND c.seq = i.seq AND c.at = i.entry_at
    JOIN {schema}.ledger r ON r.account_id = c.account_id AND r.refers_to = c.seq AND r.kind = 'refund' AND r.at >= c.at
WHERE i.account_id = $1 AND i.key = $2 AND i.at > clock_timestamp() - interval '24 hours' AND c.lead < 0
GROUP BY c.lead HAVING sum(r.lead) >= -c.lead
"""
# No lead has this domain, so looking for it reads the whole ledger.
_NO_DOMAIN = ""


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


async def last_charge(postgres: Postgres, account_id: int, domain: str) -> int | None:
    """The ledger row of the last charge that took a credit for a lead. Raises Unavailable as `has_paid` does."""
    await has_paid(postgres, account_id, _NO_DOMAIN)
    row = await postgres.fetchrow(
        "SELECT max(seq) AS seq FROM {schema}.bought WHERE account_id = $1 AND domain = $2", account_id, domain
    )
    return None if row is None else row["seq"]


async def paid_times(postgres: Postgres, account_id: int, domains: Sequence[str]) -> dict[str, datetime]:
    """When the account last paid for each of these leads; those it never paid for are missing. Raises Unavailable as
    `has_paid` does."""
    await has_paid(postgres, account_id, _NO_DOMAIN)
    rows = await postgres.fetch(_TIMES, account_id, list(domains))
    return {row["domain"]: row["at"] for row in rows}


async def key_after_refunds(postgres: Postgres, account_id: int, key: str) -> str:
    """The key of a button that is pressed again: another one once the charge under the first was refunded.

    Otherwise the refunded response would be returned again, without a charge, and the leads would stay closed.
    """
    latest = key
    while (row := await postgres.fetchrow(_REFUND_OF_KEY, account_id, latest)) is not None:
        latest = f"{key}-{row['seq']}"
    return latest
