"""The audit log: who did what to accounts, plans, keys and credits, and when. It is only ever added to.

The statement of the action itself writes the row, so there is never one without the other. Rows about credits are
written by the functions in the database. A row contains no key, no name and no contact data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
import orjson

from siteglass.access.accounts import ADMIN_TIMEOUT_MS
from siteglass.platform.postgres import Postgres

MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signed in to the dashboard."""

    id: int


# Who acts: an operator by name, or a person.
Actor = str | Person


def actor_columns(actor: Actor) -> tuple[str, str]:
    """Kind and id of an actor as stored in a row."""
    return ("person", str(actor.id)) if isinstance(actor, Person) else ("operator", actor)


_LIST = """
SELECT * FROM (
    SELECT id, at, actor_kind::text, actor_id, action, account_id, key_id, entry_seq, details
    FROM {schema}.audit
    WHERE ($1::bigint IS NULL OR account_id = $1) AND id > coalesce($2::bigint, 0)
    ORDER BY id {direction} LIMIT $3
) AS shown ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One action: by whom, on what, and what was set."""

    id: int
    at: datetime
    actor_kind: str
    actor_id: str
    action: str
    account_id: int | None
    key_id: int | None
    entry_seq: int | None
    details: dict[str, Any]


async def list_audit(postgres: Postgres, account_id: int | None = None, after_id: int | None = None) -> list[AuditRow]:
    """Actions, newest last: the newest, or those that follow `after_id`; at most MAX_LISTED either way."""
    statement = _LIST.replace("{direction}", "DESC" if after_id is None else "ASC")
    rows = await postgres.fetch(statement, account_id, after_id, MAX_LISTED, timeout_ms=ADMIN_TIMEOUT_MS)
    return [_row(row) for row in rows]


# What concerns a key is what was done to it, and the rotation that made it.
_PAGE = """
SELECT * FROM (
    SELECT id, at, actor_kind::text, actor_id, action, account_id, key_id, entry_seq, details
    FROM {schema}.audit
    WHERE account_id = $1 AND id < coalesce($2::bigint, 9223372036854775807) AND id > coalesce($3::bigint, 0)
        AND ($4::bigint IS NULL OR key_id = $4 OR action = 'key.rotate' AND (details ->> 'new_key')::bigint = $4)
    ORDER BY id {direction} LIMIT $5
) AS shown ORDER BY id DESC
"""


async def audit_page(
    postgres: Postgres,
    account_id: int,
    *,
    before_id: int | None = None,
    after_id: int | None = None,
    key_id: int | None = None,
    limit: int,
) -> list[AuditRow]:
    """Actions of an account, newest first: the newest, the next before `before_id`, or the next after `after_id`."""
    statement = _PAGE.replace("{direction}", "DESC" if after_id is None else "ASC")
    rows = await postgres.fetch(statement, account_id, before_id, after_id, key_id, limit)
    return [_row(row) for row in rows]


@dataclass(frozen=True, slots=True)
class PersonName:
    """A person as a trail names them: anybody can take a name, but nobody else's address."""

    name: str
    email: str


async def people_named(postgres: Postgres, person_ids: Iterable[int]) -> dict[int, PersonName]:
    """The people that the numbers in rows refer to; deleted people are missing."""
    rows = await postgres.fetch(
        "SELECT id, name, email FROM {schema}.people WHERE id = ANY($1::bigint[])",
        list(person_ids),
    )
    return {row["id"]: PersonName(row["name"], row["email"]) for row in rows}


def _row(row: asyncpg.Record) -> AuditRow:
    return AuditRow(**{**row, "details": orjson.loads(row["details"])})
