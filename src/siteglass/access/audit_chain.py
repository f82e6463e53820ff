"""One hash over all rows of the audit log, continued in batches: whoever changes, removes or inserts a row changes it.

The batches are in the table `audit_chain`. They prove something only together with a copy outside the database: see
billing/heads.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import asyncpg

from siteglass.platform.postgres import Postgres

ROWS_AT_ONCE = 10_000
BATCH_TIMEOUT_MS = 60_000

_ROWS = """
SELECT id, (extract(epoch FROM at) * 1000000)::bigint AS at, actor_kind::text, actor_id, action, account_id, key_id,
    entry_seq, details::text
FROM {schema}.audit WHERE ($1 = 0 OR id > $1) AND id <= $2 ORDER BY id LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The audit log up to a row: its number, how many rows there are, and the hash over them.

    0 as the number is the beginning: somebody may have inserted a row with a negative one.
    """

    last_id: int = 0
    rows: int = 0
    hash: bytes = bytes(32)

    def extended(self, rows: Iterable[asyncpg.Record]) -> AuditHead:
        """With the rows that follow."""
        last_id, count, head = self.last_id, self.rows, self.hash
        for row in rows:
            head = _row_hash(head, row)
            last_id, count = row["id"], count + 1
        return AuditHead(last_id, count, head)


def _row_hash(previous: bytes, row: asyncpg.Record) -> bytes:
    # Each part with its length: an actor's name may contain anything.
    parts = [_part(row[place]) for place in range(len(row))]
    return hashlib.sha256(previous + b"siteglass audit 1" + b"".join(parts)).digest()


def _part(value: Any) -> bytes:
    if value is None:
        return b"-"
    text = str(value).encode()
    return b"%d:%s" % (len(text), text)


async def newest_head(postgres: Postgres) -> AuditHead:
    """How far the chain goes."""
    row = await postgres.fetchrow("SELECT last_id, rows, hash FROM {schema}.audit_chain ORDER BY last_id DESC LIMIT 1")
    return AuditHead() if row is None else AuditHead(**row)


async def extend_chain(postgres: Postgres) -> AuditHead:
    """Add the rows that are not in the chain yet, a batch at a time; returns how far it goes now."""
    head = await newest_head(postgres)
    until = (await postgres.call("settled_audit_id", timeout_ms=BATCH_TIMEOUT_MS))["id"]
    while until is not None and until > head.last_id:
        rows = await postgres.fetch(_ROWS, head.last_id, until, ROWS_AT_ONCE, timeout_ms=BATCH_TIMEOUT_MS)
        if not rows:
            break
        head = head.extended(rows)
        await postgres.fetchrow(
            "INSERT INTO {schema}.audit_chain VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            head.last_id,
            head.rows,
            head.hash,
        )
    return head


async def heads_at(postgres: Postgres, ids: Iterable[int], head: AuditHead | None = None) -> list[AuditHead]:
    """The audit log as it is now up to each of these rows, made again from all rows, or from those after a head."""
    head, heads = head or AuditHead(), []
    for until in ids:
        while True:
            rows = await postgres.fetch(_ROWS, head.last_id, until, ROWS_AT_ONCE, timeout_ms=BATCH_TIMEOUT_MS)
            head = head.extended(rows)
            if len(rows) < ROWS_AT_ONCE:
                break
        heads.append(head)
    return heads
