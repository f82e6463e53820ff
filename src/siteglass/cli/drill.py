"""Compares a restored copy of the database with the live one: what a drill finds, and what it takes as a problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from siteglass.billing import ledger
from siteglass.platform.postgres import Postgres
from siteglass.platform.postgres_servers import Servers
from siteglass.platform.restored_server import Backup, RestoredServer
from siteglass.settings import Settings, SettingsError, variable
from siteglass.suppression.entries import all_listed, require_secret
from siteglass.suppression.journal import open_journal
from siteglass.suppression.values import Hasher

TIMEOUT_MS = 600_000
ACCOUNTS_AT_ONCE = 10_000
# Rows are only ever added to these: the copy has at most as many.
COUNTED = ("accounts", "keys", "ledger", "audit", "suppressed")

_HEADS = """
SELECT account_id, seq, head FROM {schema}.balances WHERE seq > 0 AND account_id > $1 ORDER BY account_id LIMIT $2
"""
_OTHER_HEADS = """
SELECT given.account_id FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS given(account_id, seq, head)
LEFT JOIN {schema}.ledger l ON l.account_id = given.account_id AND l.seq = given.seq
WHERE l.hash IS DISTINCT FROM given.head
"""
# When the newest transaction that was replayed was made; if there was none, the newest entry of the audit log.
_NEWEST = "SELECT coalesce(pg_last_xact_replay_timestamp(), (SELECT max(at) FROM {schema}.audit)) AS at"


@dataclass(slots=True)
class DrillReport:
    """What a restore came to. `problems` is empty if the backup can be relied on."""

    restore_s: float
    replay_s: float
    restored_until: datetime | None = None
    data_loss_s: float | None = None
    """From the newest transaction in the copy until the copy was complete: what a loss at that moment had cost."""
    ledger_rows: int = 0
    ledger_accounts: int = 0
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Rows in the copy, and in the live database."""
    opt_outs_newer: int = 0
    opt_outs_in_journal: int = 0
    problems: list[str] = field(default_factory=list)


async def drill(settings: Settings, backup: Backup, folder: Path) -> DrillReport:
    """Restore a backup beside the live database, and compare both."""
    live = Postgres(settings.postgres_dsn, settings.postgres_schema, timeout_ms=TIMEOUT_MS)
    database = unquote(urlsplit(settings.postgres_dsn).path.lstrip("/"))
    try:
        with RestoredServer(backup, folder) as server:
            # Of a copy that ends at a chosen moment, the time since then says nothing about the backups.
            ended = datetime.now(UTC) if backup.until is None else None
            dsn = server.dsn(Servers.read(settings.postgres_dsn).role, database)
            copy = Postgres(dsn, settings.postgres_schema, timeout_ms=TIMEOUT_MS)
            try:
                report = DrillReport(server.restore_s, server.replay_s)
                await _compare(settings, copy, live, ended, report)
                return report
            finally:
                await copy.close()
    finally:
        await live.close()


async def _compare(
    settings: Settings, copy: Postgres, live: Postgres, ended: datetime | None, report: DrillReport
) -> None:
    newest = await copy.fetchrow(_NEWEST)
    if newest is not None and newest["at"] is not None:
        report.restored_until = newest["at"]
        if ended is not None:
            report.data_loss_s = (ended - newest["at"]).total_seconds()
    verified = await ledger.verify(copy)
    report.ledger_rows, report.ledger_accounts = verified.entries, verified.accounts
    if verified.problem_count:
        report.problems.append(f"the ledger of the copy has {verified.problem_count} problems")
    if others := await _accounts_with_other_heads(copy, live):
        report.problems.append(f"{len(others)} accounts end with rows that the live ledger lacks, such as {others[0]}")
    for table in COUNTED:
        in_copy, in_live = [await _count(postgres, table) for postgres in (copy, live)]
        report.counts[table] = in_copy, in_live
        if in_copy > in_live:
            report.problems.append(f"{table}: the copy has {in_copy} rows, the live database {in_live}")
    await _compare_opt_outs(settings, copy, live, report)


async def _count(postgres: Postgres, table: str) -> int:
    row = await postgres.fetchrow(f"SELECT count(*) AS rows FROM {{schema}}.{table}")  # noqa: S608 - a name of ours
    return 0 if row is None else int(row["rows"])


async def _accounts_with_other_heads(copy: Postgres, live: Postgres) -> list[int]:
    """Accounts whose last row in the copy is not in the live ledger: the copy is not an earlier state of it."""
    last, others = 0, []
    while rows := await copy.fetch(_HEADS, last, ACCOUNTS_AT_ONCE):
        last = rows[-1]["account_id"]
        columns = ([row[name] for row in rows] for name in ("account_id", "seq", "head"))
        others += [row["account_id"] for row in await live.fetch(_OTHER_HEADS, *columns)]
    return others


async def _compare_opt_outs(settings: Settings, copy: Postgres, live: Postgres, report: DrillReport) -> None:
    """Whether everybody who opted out is still recognised: by the copy, or by the journal after it."""
    hasher = Hasher(settings)
    try:
        await require_secret(copy, hasher)
    except SettingsError as error:
        report.problems.append(str(error))
    newer = (await all_listed(live)).values() - (await all_listed(copy)).values()
    journal = open_journal(settings, hasher)
    noted = set()
    if journal is not None and journal.path.exists():
        noted = {entry.value for entry in journal.read(journal.path)}
    report.opt_outs_newer, report.opt_outs_in_journal = len(newer), len(newer & noted)
    if lost := len(newer - noted):
        where = "the journal" if journal is not None else f"a journal ({variable('opt_out_journal')} is not set)"
        report.problems.append(f"{lost} opt-outs are neither in the copy nor in {where}: a restore would lose them")
