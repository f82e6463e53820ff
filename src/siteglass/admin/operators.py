"""People who run the service: support reads, an operator also acts. All of them need a second factor.

An operator is a person with a sign-in of the dashboard. Their programs send a token, which the console shows once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from siteglass.people.people import clean_email
from siteglass.people.problems import PeopleError
from siteglass.people.secrecy import digest, new_token
from siteglass.platform.postgres import Postgres

DeskRole: TypeAlias = Literal["support", "operator"]
DESK_ROLES: Final[tuple[DeskRole, ...]] = ("support", "operator")
"""From the least to the most."""
TOKEN_LIFE = timedelta(hours=12)
MAX_LISTED = 200
MAX_TOKENS = 10


@dataclass(frozen=True, slots=True)
class Operator:
    """Somebody who runs the service."""

    person_id: int
    name: str
    email: str
    role: DeskRole
    since: datetime
    has_second_factor: bool


def actor_of(person_id: int) -> str:
    """How the audit log names what somebody did as an operator: their actions carry no name and no address."""
    return f"person {person_id}"


# Operators are locked first: of two who take the role from each other at the same time, the second finds one left.
_OPERATORS = """WITH operators AS (
    SELECT person_id FROM {schema}.operators WHERE role = 'operator' ORDER BY person_id FOR UPDATE
)"""
_GIVE = """
{operators}, given AS (
    INSERT INTO {schema}.operators (person_id, role) SELECT id, $2 FROM {schema}.people
    WHERE id = $1 AND ($2 = 'operator' OR EXISTS (SELECT FROM operators WHERE person_id <> $1)
        OR NOT EXISTS (SELECT FROM operators WHERE person_id = $1))
    ON CONFLICT (person_id) DO UPDATE SET role = excluded.role RETURNING person_id, role
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, details)
SELECT 'operator', $3, 'operator.set', jsonb_build_object('person', person_id, 'role', role) FROM given
RETURNING id
""".replace("{operators}", _OPERATORS)
_TAKE = """
{operators}, gone AS (
    DELETE FROM {schema}.operators WHERE person_id = $1 AND EXISTS (SELECT FROM operators WHERE person_id <> $1)
    RETURNING person_id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, details)
SELECT 'operator', $2, 'operator.remove', jsonb_build_object('person', person_id) FROM gone RETURNING id
""".replace("{operators}", _OPERATORS)
_NOBODY_LEFT = "Nobody would be operator. Make another person an operator first."


async def set_operator(postgres: Postgres, email: str, role: DeskRole, *, actor: str) -> None:
    """Let somebody who can sign in run the service, or change what they may do there."""
    known = await postgres.fetchrow(
        "SELECT id, totp IS NOT NULL AS has_second_factor FROM {schema}.people WHERE email = $1",
        clean_email(email),
    )
    if known is None:
        raise PeopleError(
            "Nobody signs in with this address. Invite them to your own account first: siteglass person invite",
            "email",
        )
    if not known["has_second_factor"]:
        # Else somebody who got hold of the password could set up the second factor.
        raise PeopleError("They have no two-step sign-in. They turn it on under Settings, Security.", "email")
    if await postgres.fetchrow(_GIVE, known["id"], role, actor) is None:
        raise PeopleError(_NOBODY_LEFT)


async def remove_operator(postgres: Postgres, person_id: int, *, actor: str) -> None:
    """They run the service no longer, from their next request on; their tokens end."""
    if await postgres.fetchrow(_TAKE, person_id, actor) is None:
        if await postgres.fetch("SELECT FROM {schema}.operators WHERE person_id = $1", person_id):
            raise PeopleError(_NOBODY_LEFT)
        raise PeopleError(f"Person {person_id} does not run this service. `siteglass operator list` lists who does.")


async def list_operators(postgres: Postgres) -> list[Operator]:
    """All of them, operators first."""
    rows = await postgres.fetch(
        "SELECT o.person_id, p.name, p.email, o.role, o.since, p.totp IS NOT NULL AS has_second_factor"
        " FROM {schema}.operators o JOIN {schema}.people p ON p.id = o.person_id ORDER BY o.role, o.person_id LIMIT $1",
        MAX_LISTED,
    )
    return [Operator(**row) for row in rows]


_ISSUE = """
WITH ended AS (
    DELETE FROM {schema}.operator_tokens WHERE person_id = $2 AND (expires_at < now() OR digest IN (
        SELECT digest FROM {schema}.operator_tokens WHERE person_id = $2 ORDER BY expires_at DESC OFFSET $4
    ))
), made AS (
    INSERT INTO {schema}.operator_tokens (digest, person_id, expires_at) VALUES ($1, $2, now() + $3)
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action) VALUES ('operator', $5, 'operator.token')
"""


async def make_token(postgres: Postgres, person_id: int) -> str:
    """What a program of an operator sends for the next TOKEN_LIFE."""
    token = new_token()
    await postgres.fetch(_ISSUE, digest(token), person_id, TOKEN_LIFE, MAX_TOKENS - 1, actor_of(person_id))
    return token


async def bearer_of(postgres: Postgres, token: str) -> tuple[int, DeskRole] | None:
    """Whose token this is, and what they may do; None: nobody's. Without a second factor or an active
    account nobody may do anything."""
    row = await postgres.fetchrow(
        "SELECT o.person_id, o.role FROM {schema}.operator_tokens t"
        " JOIN {schema}.operators o ON o.person_id = t.person_id JOIN {schema}.people p ON p.id = o.person_id"
        " WHERE t.digest = $1 AND t.expires_at > now() AND p.totp IS NOT NULL AND EXISTS ("
        "SELECT FROM {schema}.members m JOIN {schema}.accounts a ON a.id = m.account_id"
        " WHERE m.person_id = o.person_id AND a.state = 'active')",
        digest(token),
    )
    return None if row is None else (row["person_id"], row["role"])
