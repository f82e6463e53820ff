"""People and the accounts they belong to: owner, member or viewer of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

import asyncpg

from siteglass.people.audit_notes import noted
from siteglass.people.problems import PeopleError
from siteglass.platform.postgres import Postgres

# From the least to the most: each may do what those before it may.
Role: TypeAlias = Literal["viewer", "member", "owner"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
MAX_LISTED = 1_000
MAX_NAME_CHARS = 100
MAX_OWNERS_MAILED = 20
BY_PROVIDER = "provider"
"""In the audit log, who did what the groups of somebody at a provider asked for."""
KNOWN_ALREADY = "A person with this address already exists. Sign in, then open the link again."


@dataclass(frozen=True, slots=True)
class SignInRecord:
    """What sign-in needs of a person."""

    id: int
    email: str
    password: str
    has_second_factor: bool


@dataclass(frozen=True, slots=True)
class Membership:
    """An account of a person."""

    account_id: int
    account_name: str
    role: str


def clean_email(text: str) -> str:
    """An address as it is stored and looked for."""
    return text.strip().lower()


def clean_name(text: str) -> str:
    """A name as it is stored; raises PeopleError."""
    name = " ".join(text.split())
    if not 1 <= len(name) <= MAX_NAME_CHARS or not name.isprintable():
        raise PeopleError(f"Your name must have 1 to {MAX_NAME_CHARS} characters.", "name")
    return name


_KNOWN = "SELECT id, email, password, totp IS NOT NULL AS has_second_factor FROM {schema}.people"


async def find(postgres: Postgres, email: str) -> SignInRecord | None:
    """The person of an address."""
    row = await postgres.fetchrow(f"{_KNOWN} WHERE email = $1", email)
    return None if row is None else SignInRecord(**row)


async def of_id(postgres: Postgres, person_id: int) -> SignInRecord | None:
    """The person of a number."""
    row = await postgres.fetchrow(f"{_KNOWN} WHERE id = $1", person_id)
    return None if row is None else SignInRecord(**row)


def through_provider(of: str) -> str:
    """As SQL: whether somebody enters an account with the company's account only. `of` has account and person.

    That is everybody where it is required, and whoever did it once.
    """
    return f"""(
        EXISTS (SELECT FROM {{schema}}.sign_in_providers v WHERE v.account_id = {of}.account_id AND v.required)
        OR EXISTS (SELECT FROM {{schema}}.provider_people w
            WHERE w.account_id = {of}.account_id AND w.person_id = {of}.person_id)
    )"""  # noqa: S608 - our own words


async def accounts_of(postgres: Postgres, person_id: int) -> list[Membership]:
    """The accounts of a person that are not closed and entered with a password, the one joined first first."""
    rows = await postgres.fetch(
        "SELECT a.id AS account_id, a.name AS account_name, m.role::text AS role"  # noqa: S608 - our own words
        " FROM {schema}.members m JOIN {schema}.accounts a ON a.id = m.account_id"
        " WHERE m.person_id = $1 AND a.state IN ('active', 'suspended')"
        f" AND NOT {through_provider('m')} ORDER BY m.since, a.id LIMIT $2",
        person_id,
        MAX_LISTED,
    )
    return [Membership(**row) for row in rows]


async def enters_through_provider(postgres: Postgres, person_id: int) -> bool:
    """Whether a person belongs to an account that they enter with the company's account."""
    rows = await postgres.fetch(
        f"SELECT FROM {{schema}}.members m WHERE m.person_id = $1 AND {through_provider('m')} LIMIT 1", person_id
    )
    return bool(rows)


async def is_through_provider(postgres: Postgres, account_id: int | None, person_id: int | None) -> bool:
    """Whether somebody would enter an account with the company's account only; None: somebody new."""
    row = await postgres.fetchrow(
        f"SELECT {through_provider('x')} AS is_so FROM (VALUES ($1::bigint, $2::bigint)) x (account_id, person_id)",  # noqa: S608 - our own words
        account_id,
        person_id,
    )
    return row is not None and bool(row["is_so"])


# Every statement here that changes something notes it in the audit log itself: both are written, or neither.
CREATE = """
WITH made AS (
    INSERT INTO {schema}.people (email, name, password) VALUES ($1, $2, $3) RETURNING id
), joined AS (
    INSERT INTO {schema}.members (account_id, person_id, role) SELECT $4, id, $5::text::{schema}.role FROM made
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT 'person', id::text, 'person.join', $4, jsonb_build_object('role', $5::text) FROM made
)
SELECT id FROM made
"""


async def owners(postgres: Postgres, account_id: int) -> list[str]:
    """The email addresses of the first owners of an account."""
    rows = await postgres.fetch(
        "SELECT p.email FROM {schema}.members m JOIN {schema}.people p ON p.id = m.person_id"
        " WHERE m.account_id = $1 AND m.role = 'owner' ORDER BY p.id LIMIT $2",
        account_id,
        MAX_OWNERS_MAILED,
    )
    return [row["email"] for row in rows]


async def create(postgres: Postgres, email: str, name: str, hashed: str, account_id: int, role: str) -> int:
    """A new person of an account. Raises PeopleError if there is one of that address."""
    try:
        row = await postgres.fetchrow(CREATE, email, name, hashed, account_id, role)
    except asyncpg.UniqueViolationError:
        raise PeopleError(KNOWN_ALREADY) from None
    except asyncpg.ForeignKeyViolationError:
        raise PeopleError(f"There is no account {account_id}. `siteglass account list` lists the accounts.") from None
    assert row is not None  # noqa: S101 - RETURNING gives a row or an error
    return int(row["id"])


# Whom somebody invited does not come in after they may invite no more.
# Owners are locked first: of two who take the role from each other at the same time, the second finds one owner left.
_OWNERS = """WITH owners AS (
    SELECT person_id FROM {schema}.members WHERE account_id = $1 AND role = 'owner' ORDER BY person_id FOR UPDATE
)"""
_KIND = f"(CASE WHEN $n::text = '{BY_PROVIDER}' THEN 'operator' ELSE 'person' END)::{{schema}}.actor_kind"
# What only somebody who left saw would run, mail and count towards the limits of the account unseen.
_SHARE = """shared AS (
    UPDATE {schema}.saved_searches s SET shared = true FROM {schema}.keys k, {left}
    WHERE k.id = s.owner_key_id AND k.person_id = g.id AND NOT s.shared{in_account}
    RETURNING s.id
)"""
_SET_ROLE = """
{owners}, changed AS (
    UPDATE {schema}.members SET role = $3::text::{schema}.role
    WHERE account_id = $1 AND person_id = $2 AND ($3 = 'owner' OR EXISTS (SELECT 1 FROM owners WHERE person_id <> $2))
    RETURNING person_id
), withdrawn AS (
    DELETE FROM {schema}.links l USING changed
    WHERE $3 <> 'owner' AND l.account_id = $1 AND l.invited_by = changed.person_id
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT {kind}, $4, 'person.role', $1, jsonb_build_object('person', person_id, 'role', $3::text) FROM changed
)
SELECT person_id FROM changed
""".replace("{owners}", _OWNERS).replace("{kind}", _KIND.replace("$n", "$4"))
_REMOVE = (
    """
{owners}, gone AS (
    DELETE FROM {schema}.members
    WHERE account_id = $1 AND person_id = $2 AND EXISTS (SELECT 1 FROM owners WHERE person_id <> $2)
    RETURNING person_id
), withdrawn AS (
    DELETE FROM {schema}.links l USING gone WHERE l.account_id = $1 AND l.invited_by = gone.person_id
), ended AS (
    DELETE FROM {schema}.sessions s USING gone WHERE s.account_id = $1 AND s.person_id = gone.person_id
), {shared}, noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT {kind}, $3, 'person.remove', $1, jsonb_strip_nulls(jsonb_build_object(
        'person', person_id, 'searches_shared', nullif((SELECT count(*) FROM shared), 0))) FROM gone
)
SELECT person_id FROM gone
""".replace("{owners}", _OWNERS)
    .replace("{kind}", _KIND.replace("$n", "$3"))
    .replace("{shared}", _SHARE.replace("{left}", "gone g (id)").replace("{in_account}", " AND s.account_id = $1"))
)


async def set_role(postgres: Postgres, account_id: int, person_id: int, role: str, by: int | str) -> None:
    """Let a person of an account do more or less; raises PeopleError if nobody would be owner."""
    row = await postgres.fetchrow(_SET_ROLE, account_id, person_id, role, str(by))
    if row is None:
        raise PeopleError("An account needs an owner. Make another person an owner first.")


async def remove(postgres: Postgres, account_id: int, person_id: int, by: int | str) -> None:
    """Take a person out of an account, end their sessions and share their searches; raises PeopleError if nobody would
    be owner."""
    row = await postgres.fetchrow(_REMOVE, account_id, person_id, str(by))
    if row is None:
        raise PeopleError("An account needs an owner. Make another person an owner first.")


_REQUIRE = """
WITH changed AS (
    UPDATE {schema}.accounts SET second_factor_required = $3 WHERE id = $1 AND second_factor_required <> $3
    RETURNING id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT 'person', $2, CASE WHEN $3 THEN 'person.factor_required' ELSE 'person.factor_optional' END, id,
    jsonb_build_object()
FROM changed
"""


async def require_second_factor(postgres: Postgres, account_id: int, by: int, *, required: bool) -> None:
    """Require a second factor of everybody who signs in to the account, or no longer."""
    await postgres.fetch(_REQUIRE, account_id, str(by), required)


async def set_name(postgres: Postgres, person_id: int, name: str) -> None:
    """Another name."""
    await postgres.fetch(_SET_NAME, person_id, name)


_SET_NAME = """
WITH changed AS (
    UPDATE {schema}.people SET name = $2 WHERE id = $1 AND name <> $2 RETURNING id
)
{noted} AND EXISTS (SELECT 1 FROM changed)
""".replace("{noted}", noted("'person.rename'"))

# Links that wait for the address go with the person: they hold it, too.
_DELETE = """
WITH found AS (
    SELECT id FROM {schema}.people p
    WHERE email = $1 AND NOT EXISTS (SELECT FROM {schema}.operators o WHERE o.person_id = p.id)
), unlinked AS (
    DELETE FROM {schema}.links WHERE email = $1 AND EXISTS (SELECT FROM found)
), {shared}, noted AS (
    {noted}
), gone AS (
    DELETE FROM {schema}.people WHERE id IN (SELECT id FROM found)
)
SELECT id FROM found
""".replace("{shared}", _SHARE.replace("{left}", "found g").replace("{in_account}", "")).replace(
    "{noted}", noted("'person.delete'", person="(SELECT id FROM found)", by="'operator', $2")
)


async def delete(postgres: Postgres, email: str, operator: str) -> None:
    """Delete a person for good: what they did stays in the audit log, under a number that stands for nobody."""
    if await postgres.fetchrow(_DELETE, email, operator) is None:
        if (known := await find(postgres, email)) is not None:
            raise PeopleError(f"They run this service. Take that away first: siteglass operator remove {known.id}")
        raise PeopleError("There is no such person. `siteglass person list ACCOUNT` lists the people of an account.")
