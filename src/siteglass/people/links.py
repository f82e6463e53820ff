"""Links that are mailed: a new password, an invitation. Each works once, until it expires or is withdrawn."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from siteglass.people.problems import PeopleError
from siteglass.people.secrecy import digest, new_token
from siteglass.platform.postgres import Postgres

Purpose = Literal["reset", "invite"]

LIVES: dict[Purpose, timedelta] = {"reset": timedelta(hours=1), "invite": timedelta(days=7)}
MAX_INVITATIONS = 100


@dataclass(frozen=True, slots=True)
class Link:
    """What a link is for; an invitation names the account."""

    email: str
    account_id: int | None
    role: str | None
    account_name: str | None


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation that waits to be taken up."""

    id: int
    email: str
    role: str
    made_at: datetime
    expires_at: datetime


async def new_reset(postgres: Postgres, email: str) -> str:
    """A link to a new password, in place of any before it, also of one that is made at the same time; its token."""
    token = new_token()
    await postgres.fetch(
        "INSERT INTO {schema}.links (digest, purpose, email, expires_at) VALUES ($1, 'reset', $2, now() + $3)"
        " ON CONFLICT (email) WHERE purpose = 'reset' DO UPDATE"
        " SET digest = excluded.digest, made_at = now(), expires_at = excluded.expires_at",
        digest(token),
        email,
        LIVES["reset"],
    )
    return token


# Noted in the audit log without the address.
_INVITE = """
WITH others AS (
    SELECT count(*) AS waiting FROM {schema}.links
    WHERE account_id = $3 AND purpose = 'invite' AND expires_at > now() AND email <> $2
), gone AS (
    DELETE FROM {schema}.links l USING others
    WHERE l.account_id = $3 AND l.email = $2 AND l.purpose = 'invite' AND others.waiting < $8
), made AS (
    INSERT INTO {schema}.links (digest, purpose, email, account_id, role, expires_at, invited_by)
    SELECT $1, 'invite', $2, $3, $4::text::{schema}.role, now() + $5,
        CASE WHEN $6::text = 'person' THEN $7::text::bigint END
    FROM others WHERE waiting < $8
    RETURNING id
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT $6::text::{schema}.actor_kind, $7::text, 'person.invite', $3, jsonb_build_object('role', $4::text) FROM made
)
SELECT id FROM made
"""


async def new_invitation(postgres: Postgres, email: str, account_id: int, role: str, by: tuple[str, str]) -> str:
    """A link to an account, in place of one that was mailed to the same address; returns its token.

    `by` is kind and id of who invites, as the audit log has them.
    """
    known = await postgres.fetchrow(
        "SELECT 1 FROM {schema}.members m JOIN {schema}.people p ON p.id = m.person_id"
        " WHERE m.account_id = $1 AND p.email = $2",
        account_id,
        email,
    )
    if known is not None:
        raise PeopleError("This person already belongs to the account.", "email")
    token = new_token()
    row = await postgres.fetchrow(
        _INVITE, digest(token), email, account_id, role, LIVES["invite"], *by, MAX_INVITATIONS
    )
    if row is None:
        raise PeopleError(f"{MAX_INVITATIONS} invitations are still pending. Withdraw some first.", "email")
    return token


_LOOK = """
SELECT l.email, l.account_id, l.role::text AS role, a.name AS account_name
FROM {schema}.links l LEFT JOIN {schema}.accounts a ON a.id = l.account_id
WHERE l.digest = $1 AND l.purpose = $2::text::{schema}.link_purpose AND l.expires_at > now()
"""


async def look_at(postgres: Postgres, purpose: Purpose, token: str) -> Link | None:
    """What a link is for, None if it works no more."""
    row = await postgres.fetchrow(_LOOK, digest(token), purpose)
    return None if row is None else Link(**row)


async def drop(postgres: Postgres, token: str) -> None:
    """Forget a link that nobody got."""
    await postgres.fetch("DELETE FROM {schema}.links WHERE digest = $1", digest(token))


async def invitations_of(postgres: Postgres, account_id: int) -> list[Invitation]:
    """The invitations of an account that wait, the newest first."""
    rows = await postgres.fetch(
        "SELECT id, email, role::text AS role, made_at, expires_at FROM {schema}.links"
        " WHERE account_id = $1 AND purpose = 'invite' AND expires_at > now() ORDER BY id DESC LIMIT $2",
        account_id,
        MAX_INVITATIONS,
    )
    return [Invitation(**row) for row in rows]


async def withdraw(postgres: Postgres, account_id: int, link_id: int, by: int) -> bool:
    """Take an invitation back; whether there was one."""
    row = await postgres.fetchrow(
        "WITH gone AS (DELETE FROM {schema}.links WHERE account_id = $1 AND id = $2 AND purpose = 'invite'"
        "     RETURNING id), noted AS ("
        "     INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id)"
        "     SELECT 'person', $3, 'person.withdraw', $1 FROM gone)"
        " SELECT id FROM gone",
        account_id,
        link_id,
        str(by),
    )
    return row is not None
