"""Reports of wrong values: an address or a number that is not theirs, does not work, or is somebody else's.

A report holds a keyed hash instead of the value, as the suppression list does. So nothing of a person who opts out
later stays in it. Operators see the value for as long as the lead shows it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import asyncpg

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError
from siteglass.billing.credits import DoneBeforeError, refund
from siteglass.billing.paid import last_charge
from siteglass.corpus.lead_files import LeadFileError
from siteglass.errors import Unavailable
from siteglass.index.generations import GenerationError
from siteglass.index.index import Index
from siteglass.index.lookup import look_up
from siteglass.platform.opensearch import EngineError
from siteglass.platform.postgres import Postgres
from siteglass.privacy import opt_out
from siteglass.settings import SettingsError
from siteglass.suppression.entries import among
from siteglass.suppression.redaction import names, without_contacts
from siteglass.suppression.values import Hasher, Kind, NotAValue, Value, read_value

REASONS = {
    "not_theirs": "Not theirs",
    "does_not_work": "Does not work",
    "wrong_person": "Wrong person",
    "other": "Other",
}
MAX_COMMENT_CHARS = 300
MAX_PER_DAY = 100
"""Reports of an account in 24 hours."""
KEPT_DAYS = 365
MAX_LISTED = 200

# The engine, the lead store, or the database of the crawler.
_FAILURES = (Unavailable, EngineError, GenerationError, LeadFileError, SettingsError, asyncpg.PostgresError, OSError)

Field = Literal["email", "phone"]
Outcome = Literal["recorded", "known", "too many"]
Effect = Literal["hide", "refund", "refetch", "dismiss"]

_FORGET = f"""
DELETE FROM {{schema}}.reports WHERE account_id = $1 AND at < clock_timestamp() - interval '{KEPT_DAYS} days'
"""  # noqa: S608 - a number of ours
_COUNT = """
SELECT count(*) FROM {schema}.reports WHERE account_id = $1 AND at > clock_timestamp() - interval '1 day'
"""
# The audit log gets the number of the report: its rows are kept longer, and hold nothing about leads.
_RECORD = """
WITH made AS (
    INSERT INTO {schema}.reports (account_id, person_id, domain, field, value, reason, comment)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING RETURNING id
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT 'person', ($2::bigint)::text, 'lead.report', $1, jsonb_build_object('report', id) FROM made
)
SELECT id FROM made
"""
_LIST = """
SELECT id, account_id, person_id, domain, field, value, reason, comment, at, effects FROM {schema}.reports
WHERE id > $1 AND ($2::bigint IS NULL OR account_id = $2) AND ($4 OR effects = '{}') ORDER BY id LIMIT $3
"""
_RESOLVE = """
WITH changed AS (
    UPDATE {schema}.reports SET effects = ARRAY(SELECT DISTINCT unnest(effects || $2::text[]) ORDER BY 1)
    WHERE id = $1 RETURNING id, account_id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'operator', $3, 'report.resolve', account_id, jsonb_build_object('report', id, 'effects', $2::text[])
FROM changed
"""


@dataclass(frozen=True, slots=True)
class WrongValue:
    """What somebody says of a value that a lead shows."""

    domain: str
    field: Field
    value: str
    reason: str
    comment: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report as operators see it."""

    id: int
    at: datetime
    account_id: int
    person_id: int
    domain: str
    field: str
    reason: str
    comment: str
    value: str
    """Empty if the lead does not show it any more."""
    effects: Sequence[str]
    """What was done about it; empty while it is open."""


def value_hash(hasher: Hasher, field: str, value: str) -> bytes:
    """What is stored of a value."""
    try:
        return hasher.of_value(read_value(value, Kind(field)))
    except NotAValue:  # such as a number with letters in it
        return hasher.of_value(Value(Kind(field), value.strip().lower()))


async def record_report(
    postgres: Postgres, hasher: Hasher, account_id: int, person_id: int, wrong: WrongValue
) -> Outcome:
    """Record what somebody reports, once for a person and a value. Addresses and numbers in the comment are cut."""
    hashed = value_hash(hasher, wrong.field, wrong.value)
    comment = " ".join(without_contacts(wrong.comment).split())[:MAX_COMMENT_CHARS]
    async with postgres.transaction() as connection:
        # Two requests could both count one report less than is allowed.
        await postgres.wait_for_turn(connection, "reports of an account", account_id)
        await connection.execute(postgres.sql(_FORGET), account_id)
        if await connection.fetchval(postgres.sql(_COUNT), account_id) >= MAX_PER_DAY:
            return "too many"
        made = await connection.fetchval(
            postgres.sql(_RECORD), account_id, person_id, wrong.domain, wrong.field, hashed, wrong.reason, comment
        )
        return "known" if made is None else "recorded"


async def reported_values(postgres: Postgres, account_id: int, person_id: int, domain: str) -> frozenset[bytes]:
    """The hashes of values of a lead that a person reported."""
    rows = await postgres.fetch(
        "SELECT value FROM {schema}.reports WHERE account_id = $1 AND person_id = $2 AND domain = $3",
        account_id,
        person_id,
        domain,
    )
    return frozenset(row["value"] for row in rows)


async def list_reports(
    index: Index, after_id: int = 0, account_id: int | None = None, *, every: bool = False
) -> list[Report]:
    """Open reports by number from after this one on, at most MAX_LISTED; each with its value while the lead shows it.

    `every`: also those that are resolved.
    """
    rows = await index.postgres.fetch(_LIST, after_id, account_id, MAX_LISTED, every)
    hasher = Hasher(index.settings)
    shown = await _shown_values(index, hasher, sorted({row["domain"] for row in rows}))
    return [Report(**{**row, "value": shown.get((row["domain"], row["value"]), "")}) for row in rows]


async def resolve_report(
    index: Index,
    report_id: int,
    effects: Sequence[str],
    *,
    actor: str,
    refetch: Callable[[str], Awaitable[object]],
) -> list[str]:
    """Hide the value, give the credit back, have the site fetched by `refetch`, or dismiss the report; returns what
    became of it. Safe to repeat."""
    rows = await index.postgres.fetch(_LIST, report_id - 1, None, 1, True)
    if not rows or rows[0]["id"] != report_id:
        raise AccountError(f"There is no report {report_id}. `siteglass report list` lists the open ones.")
    report, effects_shown = rows[0], []
    value = await _value_to_hide(index, report) if "hide" in effects else None

    async def fetch_again() -> str:
        await refetch(report["domain"])
        return f"{report['domain']} is due to be fetched."

    # What can be refused comes first. Each of them can be repeated, and the report stays open until all are done.
    steps: dict[Effect, Callable[[], Awaitable[str]]] = {
        "refund": lambda: _refund(index.postgres, report, actor),
        "hide": lambda: _hide(index, value, report_id, actor),
        "refetch": fetch_again,
    }
    for effect, run in steps.items():
        if effect in effects:
            try:
                effects_shown.append(await run())
            except _FAILURES as error:
                why = error.reason if isinstance(error, Unavailable) else str(error)
                done = " ".join(["Done before:", *effects_shown]) if effects_shown else "Nothing else was done."
                raise AccountError(
                    f"Report {report_id} stays open, because {effect} failed: {why}. {done} Resolve it again with the "
                    "same effects: none is done twice."
                ) from error
    await index.postgres.fetch(_RESOLVE, report_id, list(effects), actor, timeout_ms=ADMIN_TIMEOUT_MS)
    return effects_shown


async def _value_to_hide(index: Index, report: asyncpg.Record) -> Value | None:
    """The value of a report; None: the lead does not show it any more. Only the lead knows it: the report has its
    hash."""
    shown = await _shown_values(index, Hasher(index.settings), [report["domain"]])
    text = shown.get((report["domain"], report["value"]))
    try:
        return None if text is None else read_value(text, Kind(report["field"]))
    except NotAValue as error:
        raise AccountError(
            f"The value cannot be hidden: {error}. Suppress the domain, or dismiss the report."
        ) from None


async def _hide(index: Index, value: Value | None, report_id: int, actor: str) -> str:
    """Suppress the value of a report."""
    if value is None:
        return "The lead does not show the value any more: nothing to hide."
    reason = f"report {report_id}"
    outcome = await opt_out.suppress(index, [value], reason=reason, actor=actor, patience_s=opt_out.PATIENCE_S)
    return f"The value is hidden, on {len(outcome.domains)} leads. Responses change within 60 s."


async def _refund(postgres: Postgres, report: asyncpg.Record, actor: str) -> str:
    """Give back what the lead of a report cost, once for all reports about it."""
    account_id, domain = report["account_id"], report["domain"]
    seq = await last_charge(postgres, account_id, domain)
    if seq is None:
        raise AccountError(f"Account {account_id} was never charged for {domain}: there is nothing to refund.")
    try:
        await refund(postgres, account_id, seq, 0, 1, actor, f"row {seq} {domain}", f"report {report['id']}")
    except DoneBeforeError:
        return f"The credit for {domain} in ledger row {seq} was refunded before."
    return f"One lead credit of ledger row {seq} was refunded."


async def _shown_values(index: Index, hasher: Hasher, domains: Sequence[str]) -> dict[tuple[str, bytes], str]:
    """Domain and hash -> value, of all that leads show. The list of opt-outs may be newer than the index."""
    records = (await look_up(index, domains)).records
    values = [
        (domain, field, value)
        for domain, record in records.items()
        for field in ("email", "phone")
        for value in record[f"{field}s"]
    ]
    hashes = {(field, value): _hashes(hasher, field, value) for _, field, value in values}
    every = {name for domain in domains for name in names(domain)}
    listed = await among(index.postgres, every, {one for some in hashes.values() for one in some})
    return {
        (domain, value_hash(hasher, field, value)): value
        for domain, field, value in values
        if listed.domains.isdisjoint(names(domain)) and listed.hashes.isdisjoint(hashes[field, value])
    }


def _hashes(hasher: Hasher, field: str, value: str) -> set[bytes]:
    return {*(hasher.of_address(value) if field == "email" else hasher.of_phone(value))}
