"""Sessions: who is signed in, where, since when; ended by time, by the person, or with the membership."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from siteglass.people import people
from siteglass.people.audit_notes import noted
from siteglass.people.secrecy import digest, new_token
from siteglass.platform.postgres import Postgres

# A session is written to no more often than this.
TOUCH_AFTER = timedelta(minutes=1)
MAX_LISTED = 100
MAX_AGENT_CHARS = 300
MAX_OF_PERSON = 50
FORGET_EVERY_S = 600.0
FORGET_TIMEOUT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Browser:
    """Where somebody signs in from."""

    agent: str
    address: str
    known: str = ""
    """What a browser keeps in which somebody has signed in before."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """When a session ends by itself: unused for so long, and at the latest."""

    idle: timedelta
    whole: timedelta


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in, and the account that is looked at."""

    id: int
    person_id: int
    account_id: int
    made_at: datetime
    seen_at: datetime
    proven_at: datetime
    now: datetime
    email: str
    name: str
    role: str
    account_name: str
    suspended: str | None
    """Why the account is suspended; None: it is not."""
    has_second_factor: bool
    second_factor_required: bool
    """Whether everybody in the account needs one."""
    is_internal: bool
    """Whether pages don't mention credits."""
    accounts: int
    """How many the person belongs to."""
    desk: str | None
    """What the person may do in the console, support or operator; None: nothing."""
    checked_at: datetime | None
    """When the provider of the account last let the person in; None: the session began with a password."""

    def is_fresh(self, within: timedelta) -> bool:
        """Whether the password was given that recently."""
        return self.now - self.proven_at < within


_NOTE_SIGN_IN = (
    "WITH noted AS (" + noted("'person.sign_in'") + ")"  # noqa: S608 - our own words
    " SELECT EXISTS (SELECT FROM {schema}.members m JOIN {schema}.audit a ON a.account_id = m.account_id"
    " WHERE m.person_id = $1::bigint AND a.action = 'person.sign_in'"
    " AND a.actor_kind = 'person' AND a.actor_id = ($1::bigint)::text) AS before"
)


async def note_sign_in(postgres: Postgres, person_id: int) -> bool:
    """Note in the audit log that somebody signed in; returns whether they had done so before."""
    row = await postgres.fetchrow(_NOTE_SIGN_IN, person_id)
    return row is not None and bool(row["before"])


def company_digest(token: str) -> bytes:
    """What is stored of a session that began at a provider: the release before, which would take it for one that began
    with a password, does not find it."""
    return digest(f"company {token}")


_FIND = """
SELECT s.id, s.person_id, s.account_id, s.made_at, s.seen_at, s.proven_at, now() AS now, p.email, p.name,
    m.role::text AS role, a.name AS account_name, CASE WHEN a.state <> 'active' THEN a.state_reason END AS suspended,
    p.totp IS NOT NULL AS has_second_factor,
    a.second_factor_required AND s.checked_at IS NULL AS second_factor_required, l.is_internal, s.checked_at,
    (SELECT count(*) FROM {schema}.members o JOIN {schema}.accounts x ON x.id = o.account_id
        WHERE o.person_id = s.person_id AND x.state IN ('active', 'suspended') AND s.checked_at IS NULL) AS accounts,
    (SELECT o.role FROM {schema}.operators o WHERE o.person_id = s.person_id AND s.checked_at IS NULL) AS desk
FROM {schema}.sessions s
    JOIN {schema}.people p ON p.id = s.person_id
    JOIN {schema}.members m ON m.account_id = s.account_id AND m.person_id = s.person_id
    JOIN {schema}.accounts a ON a.id = s.account_id AND a.state IN ('active', 'suspended')
    JOIN {schema}.plans l ON l.name = a.plan
WHERE s.digest IN ($1, $4) AND s.seen_at > now() - $2::interval AND s.made_at > now() - $3::interval
    AND (s.checked_at IS NOT NULL OR NOT {through_provider})
""".replace("{through_provider}", people.through_provider("s"))


async def find(postgres: Postgres, token: str, lifetimes: Lifetimes) -> Session | None:
    """The session of a cookie, None if there is none (any more)."""
    row = await postgres.fetchrow(_FIND, digest(token), lifetimes.idle, lifetimes.whole, company_digest(token))
    if row is None:
        return None
    session = Session(**row)
    if session.now - session.seen_at > TOUCH_AFTER:
        await postgres.fetch("UPDATE {schema}.sessions SET seen_at = now() WHERE id = $1", session.id)
    return session


# Only while the given password is still current: changing it locks the row, and then ends all sessions. A person with
# very many sessions keeps the newest.
_START = """
WITH still AS (
    SELECT id FROM {schema}.people WHERE id = $2 AND password = $3 FOR SHARE
), gone AS (
    DELETE FROM {schema}.sessions WHERE digest IN (
        SELECT digest FROM {schema}.sessions WHERE person_id = $2 ORDER BY id DESC OFFSET $7
    )
)
INSERT INTO {schema}.sessions (digest, person_id, account_id, made_at, seen_at, proven_at, agent, address)
SELECT $1, id, $4, now(), now(), now(), $5, $6 FROM still RETURNING id
"""


async def start(
    postgres: Postgres, person_id: int, password: str, account_id: int, agent: str, address: str
) -> str | None:
    """A new session; returns what the cookie holds. `password` is the hash of the one that was given just now: None if
    it is no longer the person's."""
    token = new_token()
    row = await postgres.fetchrow(
        _START,
        digest(token),
        person_id,
        password,
        account_id,
        agent[:MAX_AGENT_CHARS],
        address,
        MAX_OF_PERSON - 1,
    )
    return None if row is None else token


async def renew(postgres: Postgres, token: str, *, proven: bool = False, account_id: int | None = None) -> str | None:
    """The same session under a new id: after the password was given again, or for another account of the person."""
    renewed = new_token()
    row = await postgres.fetchrow(
        "UPDATE {schema}.sessions s"  # noqa: S608 - our own words
        " SET digest = $2, proven_at = CASE WHEN $3 THEN now() ELSE proven_at END,"
        " account_id = coalesce($4, account_id)"
        " WHERE digest = $1 AND ($4::bigint IS NULL OR EXISTS ("
        "     SELECT 1 FROM {schema}.members m JOIN {schema}.accounts a ON a.id = m.account_id"
        "     WHERE m.account_id = $4 AND m.person_id = s.person_id AND a.state IN ('active', 'suspended')"
        f"     AND s.checked_at IS NULL AND NOT {people.through_provider('m')})) RETURNING id",
        digest(token),
        digest(renewed),
        proven,
        account_id,
    )
    return None if row is None else renewed


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as its person sees it."""

    id: int
    made_at: datetime
    seen_at: datetime
    agent: str
    address: str
    account_name: str


async def of_person(postgres: Postgres, person_id: int, lifetimes: Lifetimes) -> list[SessionRow]:
    """The active sessions of a person, the latest used first."""
    rows = await postgres.fetch(
        "SELECT s.id, s.made_at, s.seen_at, s.agent, s.address, a.name AS account_name"
        " FROM {schema}.sessions s JOIN {schema}.accounts a ON a.id = s.account_id"
        " WHERE s.person_id = $1 AND s.seen_at > now() - $2::interval AND s.made_at > now() - $3::interval"
        " ORDER BY s.seen_at DESC, s.id DESC LIMIT $4",
        person_id,
        lifetimes.idle,
        lifetimes.whole,
        MAX_LISTED,
    )
    return [SessionRow(**row) for row in rows]


_END = """
WITH gone AS (
    DELETE FROM {schema}.sessions WHERE person_id = $1 AND id = $2 RETURNING id, account_id, checked_at
), noted AS (
    -- of a session that reached one account, in that one
    {noted} AND EXISTS (SELECT 1 FROM gone WHERE checked_at IS NULL OR account_id = m.account_id)
)
SELECT id FROM gone
""".replace("{noted}", noted("'person.session_end'"))
_END_OTHERS = """
WITH gone AS (
    DELETE FROM {schema}.sessions WHERE person_id = $1 AND id IS DISTINCT FROM $2 RETURNING id
), tokens AS (
    DELETE FROM {schema}.operator_tokens WHERE person_id = $1
), noted AS (
    {noted} AND EXISTS (SELECT 1 FROM gone)
)
SELECT id FROM gone
""".replace("{noted}", noted("'person.sessions_end'"))


async def end(postgres: Postgres, person_id: int, session_id: int) -> bool:
    """End one session of a person; whether there was one."""
    row = await postgres.fetchrow(_END, person_id, session_id)
    return row is not None


async def end_others(postgres: Postgres, person_id: int, but: int) -> int:
    """End all sessions of a person but one, and their tokens for the admin API; how many sessions there were."""
    return len(await postgres.fetch(_END_OTHERS, person_id, but))


async def forget_old(postgres: Postgres, lifetimes: Lifetimes) -> None:
    """Delete what has ended by time: sessions, mailed links, and counts of attempts."""
    await postgres.fetch(
        "DELETE FROM {schema}.sessions WHERE seen_at < now() - $1::interval OR made_at < now() - $2::interval",
        lifetimes.idle,
        lifetimes.whole,
        timeout_ms=FORGET_TIMEOUT_MS,
    )
    await postgres.fetch("DELETE FROM {schema}.links WHERE expires_at < now()", timeout_ms=FORGET_TIMEOUT_MS)
    await postgres.fetch(
        "DELETE FROM {schema}.tries WHERE last_at < now() - interval '1 day'", timeout_ms=FORGET_TIMEOUT_MS
    )
