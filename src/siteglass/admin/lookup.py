"""What operators look up: accounts by anything that names them, requests by their ID, and the state of the service."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, Account
from siteglass.index.index import Index
from siteglass.platform.logs import request_time
from siteglass.platform.postgres import Postgres
from siteglass.query.values import moment_text

MAX_FOUND = 50
AGES_DAYS = (7, 30, 90, 365)
DAY_MS = 86_400_000
COUNT_TIMEOUT_MS = 5_000


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """Somebody asked what is stored about them; the address is not kept."""

    made_at: datetime
    counted_at: datetime | None
    """When it was counted how many customers received it; None: that is still to be done."""
    customers: int | None
    leads: int


# The beginning of a key says enough, and a whole one is cut: nobody need send it.
_FIND = """
SELECT a.id, a.name, a.plan, a.created_at, b.api, b.lead, a.state, a.state_reason
FROM {schema}.accounts a JOIN {schema}.balances b ON b.account_id = a.id
WHERE a.id > $2 AND ($1 = '' OR a.id::text = $1 OR strpos(lower(a.name), $1) > 0
    OR EXISTS (
        SELECT FROM {schema}.members m JOIN {schema}.people p ON p.id = m.person_id
        WHERE m.account_id = a.id AND (p.email = $1 OR right(p.email, length($1) + 1) = '@' || $1)
    )
    OR length($3) > 8 AND EXISTS (
        SELECT FROM {schema}.keys k WHERE k.account_id = a.id
            AND (starts_with(k.shown_start, $3) OR starts_with($3, k.shown_start))
    )
    OR $4::timestamptz IS NOT NULL AND EXISTS (
        SELECT FROM {schema}.ledger l WHERE l.account_id = a.id AND l.request_id = $1 AND l.at > $4 - interval '1 day'
    ))
ORDER BY a.id LIMIT $5
"""


async def find_accounts(postgres: Postgres, text: str, after_id: int = 0) -> list[Account]:
    """Accounts by their name or a part of it, number, a member's address or its domain, the beginning of a key, or the
    id of a request; all of them if nothing is asked for. At most MAX_FOUND, from the one after `after_id`."""
    asked = " ".join(text.split())
    rows = await postgres.fetch(
        _FIND,
        asked.lower().removeprefix("@"),
        after_id,
        asked if asked.startswith("sg_") else "",
        request_time(asked),
        MAX_FOUND,
        timeout_ms=ADMIN_TIMEOUT_MS,
    )
    return [Account(**row) for row in rows]


# Few rows: those of a day. The slot is asked for by its name afterwards, as a retry does.
_SLOT = """
SELECT i.slot, i.seq FROM {schema}.idempotency i JOIN {schema}.ledger l
    ON l.account_id = i.account_id AND l.seq = i.seq AND l.at = i.entry_at
WHERE i.account_id = $1 AND l.request_id = $2 AND i.at > clock_timestamp() - interval '24 hours'
"""


async def reading_of(postgres: Postgres, account_id: int, request_id: str) -> dict[str, Any] | None:
    """How a search was read: the filters of its response. None if it is not kept: only responses to requests with an
    Idempotency-Key are, for a day."""
    kept = await postgres.fetchrow(_SLOT, account_id, request_id, timeout_ms=ADMIN_TIMEOUT_MS)
    if kept is None:
        return None
    row = await postgres.fetchrow(
        f"SELECT body FROM {{schema}}.answers_{kept['slot']} WHERE account_id = $1 AND seq = $2",  # noqa: S608 - a number of ours
        account_id,
        kept["seq"],
        timeout_ms=ADMIN_TIMEOUT_MS,
    )
    filters = None if row is None else orjson.loads(zlib.decompress(row["body"])).get("filters")
    return filters if isinstance(filters, dict) else None


async def lead_ages(index: Index) -> list[tuple[int, int]]:
    """How many leads of the live generation were crawled within so many days; raises EngineError, Unavailable."""
    now_ms = index.clock.now_ms()
    wanted = {str(days): {"range": {"crawled_at": {"gte": moment_text(now_ms - days * DAY_MS)}}} for days in AGES_DAYS}
    answer = await index.opensearch.request(
        "POST",
        f"/{index.names.read}/_search",
        {"size": 0, "aggs": {"ages": {"filters": {"filters": wanted}}}},
        timeout_ms=COUNT_TIMEOUT_MS,
    )
    buckets = answer["aggregations"]["ages"]["buckets"]
    return [(days, buckets[str(days)]["doc_count"]) for days in AGES_DAYS]


_MONEY = """
SELECT (SELECT count(*) FROM {schema}.accounts WHERE state = 'active') AS active,
    (SELECT count(*) FROM {schema}.accounts WHERE state = 'suspended') AS suspended,
    (SELECT coalesce(sum(api), 0)::bigint FROM {schema}.balances) AS api_left,
    (SELECT coalesce(sum(lead), 0)::bigint FROM {schema}.balances) AS lead_left,
    (SELECT coalesce(sum(api), 0)::bigint FROM {schema}.usage_days WHERE day >= $1::date - 6) AS api_used,
    (SELECT coalesce(sum(lead), 0)::bigint FROM {schema}.usage_days WHERE day >= $1::date - 6) AS lead_used,
    (SELECT count(*) FROM {schema}.in_doubt) AS in_doubt
"""


async def money(postgres: Postgres, now: datetime) -> dict[str, int]:
    """What all accounts have left, used in the last seven days (UTC), and what is unconfirmed."""
    row = await postgres.fetchrow(_MONEY, now.date(), timeout_ms=ADMIN_TIMEOUT_MS)
    return {} if row is None else dict(row)


_ACCESS = """
SELECT made_at, counted_at, customers, cardinality(domains) AS leads FROM {schema}.received_counts
ORDER BY made_at DESC LIMIT $1
"""


async def access_requests(postgres: Postgres, limit: int) -> list[AccessRequest]:
    """The newest requests for access of the last days."""
    return [AccessRequest(**row) for row in await postgres.fetch(_ACCESS, limit, timeout_ms=ADMIN_TIMEOUT_MS)]
