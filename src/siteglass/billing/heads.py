"""Heads outside the database: once a day, ledger and audit log are sealed by a signed root in a file.

Whoever owns the tables can rewrite them with all hashes, but cannot sign, and does not have the file. Before anything
is signed, the ledger must still contain what earlier roots sealed: otherwise a rewritten one would get a new
signature. The table `roots` has the same lines, so that another machine can continue the chain in a file there.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from siteglass.access.audit_chain import AuditHead, extend_chain, heads_at
from siteglass.billing.ledger import ACCOUNT_TIMEOUT_MS, FIRST_PREVIOUS, ROWS_AT_ONCE, Seal, entry_hash
from siteglass.billing.roots import Head, Root, RootError, RootKeys, newest_heads, read_file
from siteglass.errors import Unavailable
from siteglass.platform import metrics
from siteglass.platform.backends import Clock
from siteglass.platform.disk import append_lines
from siteglass.platform.postgres import Postgres

# A root is written once a day; after a failure, the next attempt is in an hour.
SEAL_EVERY_S = 3_600.0
REPORT_EVERY_S = 60.0
TIMEOUT_MS = 60_000
ACCOUNTS_AT_ONCE = 1_000

_NO_ROWS = Head(0, FIRST_PREVIOUS.hex(), 0, 0)

log = logging.getLogger("siteglass.heads")

_LOST = """
SELECT s.account_id, s.seq FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) s(account_id, seq, hash)
WHERE NOT EXISTS (
    SELECT FROM {schema}.ledger l WHERE l.account_id = s.account_id AND l.seq = s.seq AND l.hash = s.hash
)
LIMIT 1
"""
_SEALED = """
SELECT l.account_id, l.seq, l.at, l.kind::text, l.operation::text, l.api, l.lead, l.expires_at, l.refers_to,
    l.actor_kind::text, l.actor_id, l.request_id, l.domains
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) s(account_id, after, until)
JOIN {schema}.ledger l ON l.account_id = s.account_id AND l.seq > s.after AND l.seq <= s.until
ORDER BY l.account_id, l.seq, l.at
"""
_SIGNED = """
INSERT INTO {schema}.signed_heads SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[])
ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq, line = excluded.line
"""


class Sealer:
    """Writes the roots of a service."""

    def __init__(self, postgres: Postgres, clock: Clock, keys: RootKeys, path: Path) -> None:
        self._postgres = postgres
        self._clock = clock
        self._keys = keys
        self._path = path

    async def seal(self) -> None:
        """Extend the chain of the audit log, and write the root of today (UTC) if there is none yet.

        Raises Unavailable if the file cannot be written, or if ledger, audit log or roots are not what was sealed.
        """
        audit = await extend_chain(self._postgres)
        try:
            roots = await self._with_table(await asyncio.to_thread(read_file, self._keys, self._path))
            now = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC)
            if roots and datetime.fromisoformat(roots[-1].at).date() == now.date():
                return
            await self._require_kept(roots)
            await self._write(roots, now, audit)
        except RootError as error:
            raise Unavailable(f"{error}: run `siteglass credits verify --against {self._path}`") from error
        except OSError as error:
            raise Unavailable(f"the file of roots, {self._path}, cannot be written: {error.strerror}") from error

    async def _with_table(self, roots: list[Root]) -> list[Root]:
        """With the roots that the table has and the file lacks, which are appended to it."""
        rows = await self._postgres.fetch(
            "SELECT number, line FROM {schema}.roots WHERE number >= $1 ORDER BY number",
            len(roots),
            timeout_ms=TIMEOUT_MS,
        )
        if roots and (not rows or rows[0]["line"] != roots[-1].line):
            raise RootError(f"root {len(roots)}: the table does not have it as the file does")
        following = [row["line"] for row in rows if row["number"] > len(roots)]
        if not following:
            return roots
        extended = self._keys.read_roots("\n".join(following), roots)
        await asyncio.to_thread(append_lines, self._path, "".join(f"{line}\n" for line in following).encode())
        return extended

    async def _require_kept(self, roots: Sequence[Root]) -> None:
        """Raises RootError if a row that the newest root sealed was changed, or if the last row that was sealed before,
        of an account or of the audit log, is no longer there. Only `compare` reads everything again."""
        if not roots:
            return
        kept = await self._postgres.fetchrow(
            "SELECT FROM {schema}.audit_chain WHERE last_id = $1 AND hash = $2",
            roots[-1].audit.last_id,
            roots[-1].audit.hash,
        )
        if kept is None and roots[-1].audit.rows:
            raise RootError(f"root {roots[-1].number}: the audit log is not what it sealed")
        for part in _parts(newest_heads(roots)):
            lost = await self._postgres.fetchrow(
                _LOST,
                [account for account, _ in part],
                [head.seq for _, head in part],
                [bytes.fromhex(head.hash) for _, head in part],
                timeout_ms=TIMEOUT_MS,
            )
            if lost is not None:
                raise RootError(f"account {lost['account_id']}, row {lost['seq']}: is not what a root sealed")
        await self._require_audit(roots)
        await self._require_rows(roots)

    async def _require_audit(self, roots: Sequence[Root]) -> None:
        """Compares the rows of the audit log that were sealed last."""
        newest = roots[-1].audit
        before = next((one.audit for one in reversed(roots) if one.audit.last_id < newest.last_id), None)
        if await heads_at(self._postgres, [newest.last_id], before) != [newest]:
            raise RootError(f"root {roots[-1].number}: the audit log is not what it sealed")

    async def _require_rows(self, roots: Sequence[Root]) -> None:
        """Compares the rows of the ledger that were sealed last."""
        before = newest_heads(roots[:-1])
        for part in _parts(roots[-1].heads):
            sealed = dict(part)
            earlier = [before.get(account, _NO_ROWS) for account in sealed]
            hashes = {account: bytes.fromhex(head.hash) for account, head in zip(sealed, earlier, strict=True)}
            after, until = [head.seq for head in earlier], [head.seq for head in sealed.values()]
            async with self._postgres.transaction(ACCOUNT_TIMEOUT_MS) as connection:
                rows = connection.cursor(self._postgres.sql(_SEALED), list(sealed), after, until, prefetch=ROWS_AT_ONCE)
                async for row in rows:
                    account = row["account_id"]
                    hashes[account] = entry_hash({**row, "previous_hash": hashes[account]})
            for account, head in sealed.items():
                if hashes[account].hex() != head.hash:
                    raise RootError(f"account {account}: its rows up to {head.seq} are not what a root sealed")

    async def _write(self, roots: Sequence[Root], now: datetime, audit: AuditHead) -> None:
        """The next root, to the table and then to the file: what only the table has, the next run appends."""
        rows = await self._postgres.fetch(
            "SELECT account_id, seq, head, api, lead FROM {schema}.balances WHERE seq > 0 ORDER BY account_id",
            timeout_ms=TIMEOUT_MS,
        )
        sealed = newest_heads(roots)
        heads = {row["account_id"]: Head(row["seq"], row["head"].hex(), row["api"], row["lead"]) for row in rows}
        changed = {account: head for account, head in heads.items() if sealed.get(account) != head}
        root = self._keys.sign_root(now, audit, changed, roots[-1] if roots else None)
        async with self._postgres.transaction(TIMEOUT_MS) as connection:
            await connection.execute(
                self._postgres.sql("INSERT INTO {schema}.roots VALUES ($1, $2, $3)"), root.number, now, root.line
            )
            for part in _parts(changed):
                lines = [self._keys.sign_head(root, account, head) for account, head in part]
                accounts, numbers = [account for account, _ in part], [head.seq for _, head in part]
                await connection.execute(self._postgres.sql(_SIGNED), accounts, numbers, lines)
        await asyncio.to_thread(append_lines, self._path, f"{root.line}\n".encode())
        # Logs are mostly outside, too.
        log.info("root written", extra={"number": root.number, "hash": root.hash})


def _parts(heads: dict[int, Head]) -> Iterator[list[tuple[int, Head]]]:
    items = iter(heads.items())
    while part := list(itertools.islice(items, ACCOUNTS_AT_ONCE)):
        yield part


async def newest_root_at(postgres: Postgres) -> datetime | None:
    """When the newest root was written; None: there is none."""
    row = await postgres.fetchrow("SELECT max(at) AS at FROM {schema}.roots")
    return row["at"] if row else None


async def report_root(postgres: Postgres) -> None:
    """Set the metric of roots; a job of every worker, since each has its own metrics."""
    at = await newest_root_at(postgres)
    metrics.ROOT_WRITTEN.set(at.timestamp() if at else 0)


async def signed_head(postgres: Postgres, account_id: int) -> str | None:
    """The newest signed head of an account, for its statements; None: it has none yet."""
    row = await postgres.fetchrow("SELECT line FROM {schema}.signed_heads WHERE account_id = $1", account_id)
    return row["line"] if row else None


# --- verification ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Evidence:
    """A file of roots, and what of it differs from tables other than the ledger."""

    roots: list[Root]
    problems: list[str]

    def seals(self) -> dict[int, list[Seal]]:
        """What the roots say of each account's ledger, in the order of its rows."""
        seals: dict[int, list[Seal]] = defaultdict(list)
        for root in self.roots:
            for account, head in root.heads.items():
                seals[account].append(Seal(head.seq, bytes.fromhex(head.hash), head.api, head.lead, root.number))
        return seals


async def compare(postgres: Postgres, keys: RootKeys, file: Path) -> Evidence:
    """Compare a file of roots with the tables of roots, signed heads and the audit log."""
    problems = []
    try:
        roots = await asyncio.to_thread(read_file, keys, file)
    except RootError as error:
        return Evidence([], [f"{file}, {error}"])
    rows = await postgres.fetch("SELECT number, line FROM {schema}.roots ORDER BY number", timeout_ms=TIMEOUT_MS)
    lines = {row["number"]: row["line"] for row in rows}
    problems += [f"table roots, root {root.number}: is not what the file has"
                 for root in roots if lines.get(root.number) != root.line]  # fmt: skip
    try:
        keys.read_roots("\n".join(row["line"] for row in rows if row["number"] > len(roots)), roots)
    except RootError as error:
        problems.append(f"table roots, {error}")
    problems += await _compare_signed_heads(postgres, keys, roots)
    problems += await _compare_audit(postgres, roots)
    return Evidence(roots, problems)


async def _compare_signed_heads(postgres: Postgres, keys: RootKeys, roots: Sequence[Root]) -> list[str]:
    """Accounts whose signed head is older than the file's, or another one."""
    by_account = {account: (root, head) for root in roots for account, head in root.heads.items()}
    rows = await postgres.fetch("SELECT account_id, seq, line FROM {schema}.signed_heads", timeout_ms=TIMEOUT_MS)
    signed = {row["account_id"]: row for row in rows}
    problems = []
    for account, (root, head) in by_account.items():
        row = signed.get(account)
        if row is None or row["seq"] < head.seq:
            problems.append(f"account {account}, signed head: is missing, or older than root {root.number}")
        elif row["seq"] == head.seq and not keys.is_head(row["line"], root, account, head):
            problems.append(f"account {account}, signed head: is not of root {root.number}")
    return problems


async def _compare_audit(postgres: Postgres, roots: Sequence[Root]) -> list[str]:
    """The first difference: every later root differs, too."""
    found = await heads_at(postgres, [root.audit.last_id for root in roots])
    kept = 0
    for root, now in zip(roots, found, strict=True):
        if now != root.audit:
            return [
                f"audit log, rows {kept + 1} to {root.audit.last_id}: are not what root {root.number} sealed"
                f" ({root.audit.rows} rows then, {now.rows} now)"
            ]
        kept = root.audit.last_id
    return []
