"""Reports of wrong values: an address or a number that is not theirs, does not work, or is somebody else's.

A report holds a keyed hash instead of the value, as the suppression list does. So nothing of a person who opts out
later stays in it. Operators see the value for as long as the lead shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from siteglass.index.index import Index
from siteglass.index.lookup import look_up
from siteglass.platform.postgres import Postgres
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

Field = Literal["email", "phone"]
Outcome = Literal["recorded", "known", "too many"]

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
SELECT id, account_id, person_id, domain, field, value, reason, comment, at FROM {schema}.reports
WHERE id > $1 AND ($2::bigint IS NULL OR account_id = $2) ORDER BY id LIMIT $3
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


async def list_reports(index: Index, after_id: int = 0, account_id: int | None = None) -> list[Report]:
    """Reports by number from after this one on, at most MAX_LISTED; each with its value while the lead shows it."""
    rows = await index.postgres.fetch(_LIST, after_id, account_id, MAX_LISTED)
    hasher = Hasher(index.settings)
    shown = await _shown_values(index, hasher, sorted({row["domain"] for row in rows}))
    return [Report(**{**row, "value": shown.get((row["domain"], row["value"]), "")}) for row in rows]


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
