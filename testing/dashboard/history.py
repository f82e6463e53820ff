"""A believable past of an account, written straight into the tables as their owner: charging so often would take hours.

Ledger rows are chained by the same hash, balances and days are the sums of the rows. Names and domains are hostile.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import asyncpg

from siteglass.billing.ledger import FIRST_PREVIOUS, entry_hash
from siteglass.settings import Settings
from testing.accounts import owner

DAYS = 90
KEPT_ROWS = 5_000
HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=cmd|' /C calc'!A0",
    "{{ 7 * 7 }}${7*7}",
    "Nightly export of the data warehouse, second try " * 4,
)
_NAMES = (*HOSTILE_NAMES, "Production", "Staging", "CRM sync", "Zapier", "Research notebook")
_HOSTILE_DOMAINS = ("c <script>alert(1)</script>.example", 'n "><img src=x onerror=alert(1)>', "c =cmd|' /C calc'!A0")
_COLUMNS = (
    *("account_id", "seq", "at", "kind", "operation", "api", "lead", "expires_at", "refers_to", "actor_kind"),
    *("actor_id", "request_id", "domains", "previous_hash", "hash"),
)
# Primes, so that kinds fall on different rows.
REFUND_EVERY, GRANT_EVERY, EXPIRE_EVERY, ADJUST_EVERY = 97, 1_009, 701, 2_003


@dataclass(slots=True)
class History:
    """What was written: the newest rows as they are, the others as sums."""

    account_id: int
    key_ids: Sequence[int]
    names: dict[int, str]
    expiring: Sequence[tuple[datetime, int, int]]
    """When, and how many API and lead credits."""
    today: date
    """The day of the newest rows."""
    rows: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_ROWS))
    api: int = 0
    lead: int = 0
    usage: dict[tuple[int, date, str], list[int]] = field(default_factory=dict)
    """Charged requests, API and lead credits by key, day and operation."""
    requests: Counter[tuple[int, date, str, str]] = field(default_factory=Counter)
    """By key, day, operation and outcome."""

    def add(self, row: dict[str, Any]) -> None:
        """Count a row."""
        self.rows.append(row)
        self.api += row["api"]
        self.lead += row["lead"]
        if row["kind"] == "charge":
            key, day = int(row["actor_id"]), row["at"].date()
            used = self.usage.setdefault((key, day, row["operation"]), [0, 0, 0])
            for place, more in enumerate((1, -row["api"], -row["lead"])):
                used[place] += more

    def credits(self, place: int, **wanted: object) -> int:
        """Sum of usage: place 0 requests, 1 API, 2 lead; of one key, day or operation."""
        names = ("key", "day", "operation")
        return sum(
            used[place]
            for what, used in self.usage.items()
            if all(what[names.index(name)] == value for name, value in wanted.items())
        )


def _expiring(now: datetime) -> list[tuple[datetime, int, int]]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return [(midnight + timedelta(days=12), 20, 10), (midnight + timedelta(days=40), 5, 5)]


def _times(count: int, now: datetime) -> Iterator[datetime]:
    """So many times over the days up to now: more as months go by, fewer at weekends, and no day like another."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    starts = [today - timedelta(days=DAYS - 1 - place) for place in range(DAYS)]
    vary = random.Random(count)
    weights = [
        (1 + place / DAYS) * (0.4 if day.weekday() >= 5 else 1) * vary.uniform(0.75, 1.25)
        for place, day in enumerate(starts)
    ]
    done, so_far = 0, 0.0
    for day, weight in zip(starts, weights, strict=True):
        so_far += weight
        until = round(count * so_far / sum(weights))
        length = (now - day if day == today else timedelta(days=1)) * 0.999
        for place in range(done, until):
            yield day + length * ((place - done) / (until - done))
        done = until


def _domains(choose: random.Random, names: Sequence[str]) -> list[tuple[str, int]]:
    """Columns of domains, and how many of each are charged; of these names, if some are given."""
    made = []
    for number in range(200):
        count = choose.randint(0, 4)
        own = choose.sample(names, count) if names else [f"shop-{number}-{place}.example" for place in range(count)]
        lines = [f"{choose.choice('ccccnup')} {name}" for name in own]
        if number % 20 == 0 and not names:
            lines += _HOSTILE_DOMAINS
        made.append(("\n".join(lines), sum(line.startswith("c") for line in lines)))
    return made


def _rows(
    account_id: int, keys: Sequence[int], count: int, now: datetime, seed: int, names: Sequence[str]
) -> Iterator[dict[str, Any]]:
    choose = random.Random(seed)
    domains = _domains(choose, names)
    weights = [1 / place for place in range(1, len(keys) + 1)]
    previous, charged = FIRST_PREVIOUS, 0
    for seq, at in enumerate(_times(count, now), 1):
        row: dict[str, Any] = dict.fromkeys(_COLUMNS)
        row |= {"account_id": account_id, "seq": seq, "at": at, "previous_hash": previous, "domains": ""}
        row |= {"actor_kind": "operator", "actor_id": "history", "request_id": f"reference-{seq}", "operation": "none"}
        if seq == 1:
            row |= {"kind": "grant", "api": 2 * count, "lead": 4 * count}
        elif charged and seq % REFUND_EVERY == 0:
            row |= {"kind": "refund", "api": 1, "lead": 0, "refers_to": charged}
        elif seq % GRANT_EVERY == 0:
            row |= {"kind": "grant", "api": 1_000, "lead": 500, "expires_at": at + timedelta(days=365)}
        elif seq % EXPIRE_EVERY == 0:
            row |= {"kind": "expire", "api": -10, "lead": -20, "request_id": "expiry"}
        elif seq % ADJUST_EVERY == 0:
            row |= {"kind": "adjust", "api": -5, "lead": 0}
        else:
            column, leads = choose.choice(domains)
            operation = choose.choices(("search", "page", "enrich", "evidence"), (6, 2, 2, 1))[0]
            api = -1 if operation == "enrich" else 0
            row |= {"kind": "charge", "operation": operation, "api": api, "lead": -leads, "domains": column}
            # The newest are those of hostile names, so that every list of some shows them.
            key = keys[count - seq] if count - seq < min(len(keys), 5) else choose.choices(keys, weights)[0]
            row |= {"actor_kind": "key", "actor_id": str(key)}
            row["request_id"] = f"{choose.getrandbits(128):032x}"
            charged = seq
        row["hash"] = previous = entry_hash(row)
        yield row


def _count_requests(history: History, choose: random.Random) -> None:
    """What was charged was answered; of the rest, some."""
    for (key, day, operation), (requests, _, _) in history.usage.items():
        history.requests[key, day, operation, "ok"] += requests
        for outcome, share in (("refused", 0.06), ("limited", 0.03), ("failed", 0.004)):
            history.requests[key, day, operation, outcome] += round(requests * share * choose.random() * 2)


async def write(
    settings: Settings,
    account_id: int,
    count: int,
    keys: int | Sequence[str] = 5,
    *,
    seed: int = 1,
    now: datetime | None = None,
    domains: Sequence[str] = (),
) -> History:
    """Give an account that has nothing yet so many ledger rows, all of the last 90 days, and keys.

    So many keys, or with these names; at least 4 domains, or those of the history.
    """
    connection = await asyncpg.connect(owner(settings.postgres_dsn))
    schema, choose = settings.postgres_schema, random.Random(seed)
    try:
        if isinstance(keys, int):
            keys = [_NAMES[place] if place < len(_NAMES) else f"Worker {place}" for place in range(keys)]
        names = keys
        made = [
            await connection.fetchval(
                f"INSERT INTO {schema}.keys (account_id, name, digest, secret_version, shown_start, shown_end, scopes,"
                " last_used_at) VALUES ($1, $2, $3, 'a1b2c3d4', 'sg_live_Hist', $4, '{search,enrich,account}', now())"
                " RETURNING id",
                account_id,
                name[:200],
                secrets.token_bytes(32),
                secrets.token_hex(2),
            )
            for name in names
        ]
        by_id = dict(zip(made, (name[:200] for name in names), strict=True))
        now = now or datetime.now(UTC)
        history = History(account_id, made, by_id, _expiring(now), now.date())
        first_at = next(_times(count, now))

        def records() -> Iterator[tuple[Any, ...]]:
            for row in _rows(account_id, made, count, now, seed, domains):
                history.add(row)
                yield tuple(row.values())

        await connection.copy_records_to_table("ledger", schema_name=schema, columns=_COLUMNS, records=records())
        _count_requests(history, choose)
        await connection.copy_records_to_table(
            "usage_days",
            schema_name=schema,
            records=[(*what, *used) for what, used in history.usage.items()],
        )
        await connection.copy_records_to_table(
            "request_days",
            schema_name=schema,
            records=[(*what, requests) for what, requests in history.requests.items() if requests],
        )
        await connection.executemany(
            f"INSERT INTO {schema}.expiring (account_id, expires_at, seq, api, lead) VALUES ($1, $2, 1, $3, $4)",
            [(account_id, *expiring) for expiring in history.expiring],
        )
        newest = history.rows[-1]
        await connection.execute(
            f"UPDATE {schema}.balances SET api = $2, lead = $3, seq = $4, head = $5, at = $6 WHERE account_id = $1",
            *(account_id, history.api, history.lead, newest["seq"], newest["hash"], newest["at"]),
        )
        # No account has charges from before it was opened.
        await connection.execute(
            f"UPDATE {schema}.accounts SET created_at = least(created_at, $2) WHERE id = $1", account_id, first_at
        )
        # As the database does by itself after a while: plans are made for what is there.
        for table in ("ledger", "usage_days", "request_days"):
            await connection.execute(f"ANALYZE {schema}.{table}")
    finally:
        await connection.close()
    return history


def written(
    settings: Settings,
    account_id: int,
    count: int,
    keys: int | Sequence[str] = 5,
    *,
    seed: int = 1,
    domains: Sequence[str] = (),
) -> History:
    """The same outside a loop."""
    return asyncio.run(write(settings, account_id, count, keys, seed=seed, domains=domains))
