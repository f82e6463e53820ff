"""What changes how a person gets in: another password, and links that are used up. Each is one transaction.

Statements of a transaction see what was committed before each of them began. The row of the person is locked first. So
a session that starts at the same time is either found and ended, or fails because its password has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from siteglass.people.audit_notes import noted
from siteglass.people.links import Link
from siteglass.people.people import CREATE, KNOWN_ALREADY
from siteglass.people.problems import PeopleError
from siteglass.people.secrecy import digest
from siteglass.platform.postgres import Postgres

if TYPE_CHECKING:
    from siteglass.platform.postgres import Connection

LINK_GONE = "This link no longer works: it was used, replaced or has expired. Request a new one."

_USE_LINK = """
DELETE FROM {schema}.links
WHERE digest = $1 AND purpose = $2::text::{schema}.link_purpose AND expires_at > now()
RETURNING email, account_id, role::text AS role, NULL::text AS account_name
"""


async def rehash(postgres: Postgres, person_id: int, old: str, new: str) -> None:
    """Store a new hash of the same password, unless it was changed meanwhile."""
    await postgres.fetch(
        "UPDATE {schema}.people SET password = $3 WHERE id = $1 AND password = $2",
        person_id,
        old,
        new,
    )


async def change_password(postgres: Postgres, person_id: int, hashed: str, but_session: int) -> None:
    """Another password, and an end to all other sessions and to links that would set one."""
    async with postgres.transaction() as connection:
        await _set_password(postgres, connection, person_id, hashed, "person.password", but_session)


async def reset_password(postgres: Postgres, token: str, hashed: str) -> tuple[int, str]:
    """Another password by a mailed link, and an end to all sessions; number and address. Raises PeopleError."""
    async with postgres.transaction() as connection:
        link = await _used(postgres, connection, "reset", token)
        row = await connection.fetchrow(postgres.sql("SELECT id FROM {schema}.people WHERE email = $1"), link.email)
        if row is None:
            raise PeopleError(LINK_GONE)
        await _set_password(postgres, connection, row["id"], hashed, "person.reset", None)
        return row["id"], link.email


async def _set_password(
    postgres: Postgres, connection: Connection, person_id: int, hashed: str, action: str, but_session: int | None
) -> None:
    email = await connection.fetchval(
        postgres.sql("UPDATE {schema}.people SET password = $2 WHERE id = $1 RETURNING email"), person_id, hashed
    )
    await connection.execute(
        postgres.sql("DELETE FROM {schema}.sessions WHERE person_id = $1 AND id IS DISTINCT FROM $2"),
        person_id,
        but_session,
    )
    await connection.execute(postgres.sql("DELETE FROM {schema}.operator_tokens WHERE person_id = $1"), person_id)
    await connection.execute(postgres.sql("DELETE FROM {schema}.links WHERE email = $1 AND purpose = 'reset'"), email)
    await connection.execute(postgres.sql(noted("$2::text")), person_id, action)


# One who belongs to the account already stays what they are.
_JOIN = """
WITH joined AS (
    INSERT INTO {schema}.members (account_id, person_id, role) VALUES ($2, $1, $3::text::{schema}.role)
    ON CONFLICT DO NOTHING RETURNING person_id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'person', person_id::text, 'person.join', $2, jsonb_build_object('role', $3::text) FROM joined
"""


async def join_as_new(postgres: Postgres, token: str, name: str, hashed: str) -> int:
    """Take up an invitation as somebody who is not known yet; the number of the person. Raises PeopleError."""
    try:
        async with postgres.transaction() as connection:
            link = await _used(postgres, connection, "invite", token)
            made: int = await connection.fetchval(
                postgres.sql(CREATE), link.email, name, hashed, link.account_id, link.role
            )
            return made
    except asyncpg.UniqueViolationError:
        raise PeopleError(KNOWN_ALREADY) from None


async def join(postgres: Postgres, token: str, person_id: int, email: str) -> int:
    """Take up an invitation as somebody who is known; the number of the account. Raises PeopleError."""
    async with postgres.transaction() as connection:
        link = await _used(postgres, connection, "invite", token)
        if link.email != email or link.account_id is None:
            raise PeopleError(LINK_GONE)
        await connection.execute(postgres.sql(_JOIN), person_id, link.account_id, link.role)
        return link.account_id


async def _used(postgres: Postgres, connection: Connection, purpose: str, token: str) -> Link:
    """A link that works no more from now on, unless the transaction fails; of several who try, one gets it."""
    row = await connection.fetchrow(postgres.sql(_USE_LINK), digest(token), purpose)
    if row is None:
        raise PeopleError(LINK_GONE)
    return Link(**row)
