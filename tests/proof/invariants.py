"""What must hold in the database after a run, as plain SQL, read by nobody but PostgreSQL.

`{schema}` has the tables of the service, `{seen}` is what the clients saw: one row per operation, as in the history.
Each statement selects what is wrong: an account and a sentence. None of this is the service's code; the hash is
computed here once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import asyncpg

from tests.proof.history import Operation

MAX_SHOWN = 5

SEEN = """
CREATE TABLE {seen} (
    account_id bigint NOT NULL, kind text NOT NULL, outcome text NOT NULL, key text NOT NULL, request text NOT NULL,
    api bigint NOT NULL, lead bigint NOT NULL, seq bigint NOT NULL, refers_to bigint NOT NULL
)
"""
SEEN_COLUMNS = ("account_id", "kind", "outcome", "key", "request", "api", "lead", "seq", "refers_to")

INVARIANTS = {
    "balance is the sum of its rows": """
        SELECT b.account_id, format('has %s and %s, rows give %s and %s', b.api, b.lead, l.api, l.lead)
        FROM {schema}.balances b LEFT JOIN (
            SELECT account_id, sum(api) AS api, sum(lead) AS lead FROM {schema}.ledger GROUP BY account_id
        ) l USING (account_id)
        WHERE b.api <> coalesce(l.api, 0) OR b.lead <> coalesce(l.lead, 0)
    """,
    "balance is never below zero": """
        SELECT account_id, format('%s and %s after row %s', api, lead, seq) FROM (
            SELECT account_id, seq, sum(api) OVER running AS api, sum(lead) OVER running AS lead FROM {schema}.ledger
            WINDOW running AS (PARTITION BY account_id ORDER BY seq)
        ) sums WHERE api < 0 OR lead < 0
    """,
    "sequence is dense": """
        SELECT account_id, format('%s rows from %s to %s, the balance at %s', l.rows, l.first, l.last, b.seq)
        FROM {schema}.balances b FULL JOIN (
            SELECT account_id, count(*) AS rows, min(seq) AS first, max(seq) AS last
            FROM {schema}.ledger GROUP BY account_id
        ) l USING (account_id)
        WHERE coalesce(l.first, 1) <> 1 OR coalesce(l.last, 0) <> coalesce(l.rows, 0)
            OR b.seq IS DISTINCT FROM coalesce(l.rows, 0)
    """,
    "hashes chain": r"""
        SELECT account_id, format('row %s', seq) FROM (
            SELECT *, coalesce(lag(hash) OVER (PARTITION BY account_id ORDER BY seq), decode(repeat('00', 32), 'hex'))
                AS should_follow
            FROM {schema}.ledger
        ) l
        WHERE previous_hash <> should_follow OR hash <> sha256(previous_hash || convert_to(array_to_string(ARRAY[
            'siteglass ledger 1', account_id::text, seq::text,
            trunc(extract(epoch FROM at) * 1000000)::bigint::text, kind::text, operation::text, api::text, lead::text,
            coalesce(trunc(extract(epoch FROM expires_at) * 1000000)::bigint::text, ''),
            coalesce(refers_to::text, ''), actor_kind::text, actor_id, request_id, domains
        ], E'\n'), 'UTF8'))
        UNION ALL
        SELECT b.account_id, 'the balance does not name the last hash'
        FROM {schema}.balances b JOIN {schema}.ledger l ON l.account_id = b.account_id AND l.seq = b.seq
        WHERE b.head <> l.hash
    """,
    "kinds have their signs": """
        SELECT account_id, format('row %s: a %s of %s and %s', seq, kind, api, lead) FROM {schema}.ledger
        WHERE (kind = 'charge' AND (api > 0 OR lead > 0)) OR (kind IN ('grant', 'refund') AND (api < 0 OR lead < 0))
    """,
    "refunds are within their charge": """
        SELECT r.account_id, format('row %s: %s and %s of %s and %s', r.refers_to, r.api, r.lead, -c.api, -c.lead)
        FROM (
            SELECT account_id, refers_to, sum(api) AS api, sum(lead) AS lead FROM {schema}.ledger
            WHERE kind = 'refund' GROUP BY account_id, refers_to
        ) r LEFT JOIN {schema}.ledger c ON c.account_id = r.account_id AND c.seq = r.refers_to AND c.kind = 'charge'
        WHERE c.seq IS NULL OR r.api > -c.api OR r.lead > -c.lead
    """,
    "what was answered is durable": """
        SELECT s.account_id, format('%s %s %s: no row of %s and %s', s.outcome, s.key, s.request, s.api, s.lead)
        FROM {seen} s LEFT JOIN {schema}.ledger l
            ON l.account_id = s.account_id AND l.request_id = s.request AND l.kind::text = s.kind
            AND abs(l.api) = s.api AND abs(l.lead) = s.lead AND (s.seq = 0 OR l.seq = s.seq)
        WHERE s.outcome IN ('charged', 'granted', 'refunded') AND l.seq IS NULL
    """,
    "what was replayed is durable": """
        SELECT r.account_id, format('key %s', r.key)
        FROM (SELECT DISTINCT account_id, key FROM {seen} WHERE outcome = 'replayed') r
        WHERE NOT EXISTS (
            SELECT FROM {seen} s JOIN {schema}.ledger l ON l.account_id = s.account_id AND l.request_id = s.request
            WHERE s.account_id = r.account_id AND s.key = r.key
        )
    """,
    "no row that nobody asked for": """
        SELECT l.account_id, format('row %s: a %s of %s and %s for %s', l.seq, l.kind, l.api, l.lead, l.request_id)
        FROM {schema}.ledger l LEFT JOIN {seen} s
            ON s.account_id = l.account_id AND s.request = l.request_id AND s.kind = l.kind::text
            AND s.api = abs(l.api) AND s.lead = abs(l.lead) AND s.outcome NOT IN ('refused', 'mismatch')
        WHERE s.account_id IS NULL
    """,
    "one row for one request": """
        SELECT account_id, format('%s rows for %s', count(*), request_id) FROM {schema}.ledger
        GROUP BY account_id, request_id HAVING count(*) > 1
    """,
    "one charge for one key": """
        SELECT s.account_id, format('%s charges for key %s', count(DISTINCT l.seq), s.key)
        FROM {seen} s JOIN {schema}.ledger l
            ON l.account_id = s.account_id AND l.request_id = s.request AND l.kind = 'charge'
        WHERE s.key <> '' GROUP BY s.account_id, s.key HAVING count(DISTINCT l.seq) > 1
    """,
}


@dataclass(frozen=True)
class Broken:
    """An invariant that does not hold, how often, and the first places."""

    name: str
    count: int
    places: tuple[str, ...]


async def load_seen(owner_dsn: str, schema: str, operations: Sequence[Operation]) -> None:
    """What the clients saw, as a table beside those of the service."""
    rows = [
        (int(o.account), o.kind, o.outcome, o.key, o.request, o.api, o.lead, o.seq, o.of)
        for o in operations
        if o.kind != "read"
    ]
    connection = await asyncpg.connect(owner_dsn)
    try:
        await connection.execute(f"DROP TABLE IF EXISTS {schema}.proof_seen")
        await connection.execute(SEEN.replace("{seen}", f"{schema}.proof_seen"))
        await connection.copy_records_to_table(
            "proof_seen", schema_name=schema, records=rows, columns=list(SEEN_COLUMNS), timeout=300
        )
        for columns in ("account_id, request", "account_id, key"):
            await connection.execute(f"CREATE INDEX ON {schema}.proof_seen ({columns})")
        await connection.execute(f"ANALYZE {schema}.proof_seen")
        await connection.execute(f"ANALYZE {schema}.ledger")
    finally:
        await connection.close()


async def broken(owner_dsn: str, schema: str) -> list[Broken]:
    """Every invariant that does not hold; `load_seen` comes first."""
    connection = await asyncpg.connect(owner_dsn)
    try:
        return await broken_in(connection, schema)
    finally:
        await connection.close()


async def broken_in(connection: asyncpg.Connection[asyncpg.Record], schema: str) -> list[Broken]:
    """The same, as this connection sees it."""
    found = []
    await connection.execute("SET work_mem = '256MB'")
    for name, statement in INVARIANTS.items():
        sql = statement.replace("{schema}", schema).replace("{seen}", f"{schema}.proof_seen")
        rows = await connection.fetch(sql, timeout=600)
        if rows:
            places = tuple(f"account {row[0]}: {row[1]}" for row in rows[:MAX_SHOWN])
            found.append(Broken(name, len(rows), places))
    return found
