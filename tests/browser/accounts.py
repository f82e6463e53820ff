"""Accounts to look at in a browser: people, keys, months of history, invitations and sessions; and how to enter."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import asyncpg
from playwright.sync_api import Page

from siteglass.access.audit import Person
from siteglass.access.keys import KeyLimits, create_key, revoke_key
from siteglass.billing.balance_alerts import BalanceAlert, set_balance_alert
from siteglass.dashboard.guard import DeclaredPage
from siteglass.dashboard.routes import PAGES
from siteglass.leads.watches.delivering import UNSUBSCRIBE_USE
from siteglass.people import credentials, links, sessions
from siteglass.people.people import ROLES
from siteglass.people.secrecy import Secrecy
from siteglass.platform.postgres import Postgres
from testing.accounts import owner as as_owner
from testing.dashboard.history import written
from testing.dashboard.visitors import SESSION, Office, Somebody
from testing.service import SECRET
from tests.browser.driving import LIGHT, Browse, Look

ROWS = 9_000
LIST = "customers"
WATCHED = "slow-shops-in-texas"
# Those of a lead, a download and an upload need leads or a search; tests of their own look at them.
# The last is the way back from a company's provider: without a sign-in there, it is refused.
_NOT_OPENED = ("lead", "explore.download", "explore.bought", "downloads.file", "uploads.choose", "company.back")
SHOWN = [
    page
    for page in PAGES
    if page.method == "GET" and not page.path.endswith((".csv", ".txt", ".head")) and page.name not in _NOT_OPENED
]
_ADDRESSES = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Furnished:
    """An account that has some of everything, and the ids of one of each."""

    account_id: int
    people: dict[str, Somebody]
    """By role."""
    key_id: int
    revoked_key_id: int
    seq: int
    """Of the charge with the most domains."""
    invitation: str
    reset: str
    """What the links in the mails hold."""
    session: str
    """Of the owner, for tests that look at many pages."""

    @property
    def owner(self) -> Somebody:
        return self.people["owner"]

    def path(self, page: DeclaredPage) -> str:
        """Of a page, with ids of this account."""
        unsubscribe = Secrecy((SECRET,)).seal_token(UNSUBSCRIBE_USE, [1, 1], 2**40)
        tokens = {"reset": self.reset, "unsubscribe": unsubscribe}
        ids = {
            "account_id": self.account_id,
            "key_id": self.key_id,
            "seq": self.seq,
            "person_id": self.people["viewer"].id,
            "token": tokens.get(page.name, self.invitation),
            "name": WATCHED if page.name == "watch" else LIST,
        }
        return re.sub(r"{(\w+)}", lambda found: str(ids[found[1]]), page.path)


def furnish(
    office: Office,
    name: str,
    people: dict[str, Somebody],
    account_id: int,
    keys: Sequence[str],
    domains: Sequence[str],
    invited: Sequence[str],
) -> Furnished:
    """Fill an account that has people and nothing else."""
    history = written(office.settings, account_id, ROWS, keys, seed=len(name), domains=domains)
    by = Person(people["owner"].id)

    async def rest(postgres: Postgres) -> tuple[int, str, str]:
        secrets = office.settings.key_secrets
        limits = KeyLimits(daily_api_cap=500, daily_lead_cap=2_000)
        revoked, _ = await create_key(postgres, secrets, account_id, keys[-1], ["search"], limits, actor=by)
        await revoke_key(postgres, revoked, by)
        await set_balance_alert(postgres, account_id, BalanceAlert(5_000, 20_000), by)
        inviter = ("person", str(by.id))
        for email, role in zip(invited, itertools.cycle(ROLES)):
            token = await links.new_invitation(postgres, email, account_id, role, inviter)
        reset = await links.new_reset(postgres, people["viewer"].email)
        await _lists_and_searches(postgres, account_id, revoked, domains)
        return revoked, token, reset

    revoked, invitation, reset = office.do(rest)
    most = max(history.rows, key=lambda row: (str(row["domains"]).count("\n"), row["seq"]))
    session_of(office, people["owner"], AGENTS[1], "198.51.100.7")
    asyncio.run(_age(office, account_id, history.key_ids, people))
    return Furnished(
        account_id,
        people,
        history.key_ids[0],
        revoked,
        most["seq"],
        invitation,
        reset,
        session_of(office, people["owner"]),
    )


async def _lists_and_searches(postgres: Postgres, account_id: int, key_id: int, domains: Sequence[str]) -> None:
    """A list of these domains, without their leads, and searches that were counted before."""
    await postgres.fetch(
        "WITH made AS (INSERT INTO {schema}.lists (account_id, test, name, domains) VALUES ($1, false, $2, $3)"
        " RETURNING id) INSERT INTO {schema}.list_domains (list_id, domain, tried_at)"
        " SELECT id, d, now() FROM made, unnest($4::text[]) d",
        account_id,
        LIST,
        len(domains),
        list(domains),
    )
    for name, body, total in (
        ("sites-to-look-at", '{"query": "sites in the United States"}', 0),
        (WATCHED, '{"query": "slow Shopify stores in Texas", "exclude_lists": ["customers"]}', 3),
        ("wordpress-in-germany", '{"technologies": ["WordPress"], "country": "DEU"}', 0),
    ):
        await postgres.fetch(
            "INSERT INTO {schema}.saved_searches"
            " (account_id, test, name, owner_key_id, shared, body, total, counted_at)"
            " VALUES ($1, false, $2, $3, true, $4, $5, now() - interval '3 days')",
            account_id,
            name,
            key_id,
            body,
            total,
        )


async def _age(office: Office, account_id: int, key_ids: Sequence[int], people: dict[str, Somebody]) -> None:
    """What was made just now is some hours or weeks old; the member has a second factor."""
    connection = await asyncpg.connect(as_owner(office.settings.postgres_dsn))
    schema = office.settings.postgres_schema
    try:
        await connection.execute(
            f"UPDATE {schema}.keys SET created_at = now() - interval '85 days' - id % 7 * interval '26 hours',"
            " last_used_at = now() - id % 5 * interval '17 minutes', daily_api_cap = 5000,"
            " shown_start = 'sg_live_' || left(md5(id::text), 4) WHERE id = ANY($1::bigint[])",
            list(key_ids),
        )
        for statement, number in (
            ("links SET made_at = made_at - interval '5 hours' WHERE account_id = $1", account_id),
            ("sessions SET made_at = made_at - interval '5 hours' WHERE person_id = $1", people["owner"].id),
            ("people SET totp = '\\x00' WHERE id = $1", people["member"].id),
        ):
            await connection.execute(f"UPDATE {schema}.{statement}", number)
        await connection.execute(
            f"UPDATE {schema}.expiring SET api = api * 500, lead = lead * 1000 WHERE account_id = $1", account_id
        )
        await connection.executemany(
            f"INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, key_id, details) VALUES"
            ' (\'person\', $1, \'key.create\', $2, $3, \'{"scopes": ["search", "enrich", "account"]}\')',
            [(str(people["owner"].id), account_id, key_id) for key_id in key_ids],
        )
        # The trail refuses changes, even of its owner.
        await connection.execute(f"ALTER TABLE {schema}.audit DISABLE TRIGGER USER")
        await connection.execute(
            f"UPDATE {schema}.audit a SET at = now() - (row.place * interval '19 hours') FROM"
            f" (SELECT id, row_number() OVER (ORDER BY id DESC) AS place FROM {schema}.audit WHERE account_id = $1) row"
            " WHERE row.id = a.id",
            account_id,
        )
        await connection.execute(f"ALTER TABLE {schema}.audit ENABLE TRIGGER USER")
    finally:
        await connection.close()


def session_of(office: Office, who: Somebody, agent: str = "", address: str = "203.0.113.24") -> str:
    """What the cookie of somebody holds who signed in just now, without the work of a password."""
    token = office.do(
        lambda postgres: sessions.start(postgres, who.id, office.hashed, who.account_id, agent or AGENTS[0], address)
    )
    assert token is not None
    return token


def also_of(office: Office, who: Somebody, account_id: int) -> None:
    """Somebody is a viewer of another account, too."""

    async def join(postgres: Postgres) -> None:
        by = ("operator", "tests")
        token = await links.new_invitation(postgres, who.email, account_id, "viewer", by)
        await credentials.join(postgres, token, who.id, who.email)

    office.do(join)


AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile Safari/604.1",
)


def stranger(browse: Browse, office: Office, look: Look = LIGHT) -> Page:
    """A browser that nobody signed in with, from its own address."""
    return browse.open(office.url, look, headers={"X-Forwarded-For": f"198.51.100.{next(_ADDRESSES) % 250}"})


def enter(browse: Browse, office: Office, who: Somebody, path: str = "", look: Look = LIGHT) -> Page:
    """Somebody's browser, signed in and at a page."""
    page = browse.open(office.url, look, cookies={SESSION: session_of(office, who)})
    page.goto(f"/dashboard{path}")
    return page


def long_ago(office: Office, who: Somebody) -> None:
    """The password of somebody's sessions was given too long ago for what matters."""
    office.do(
        lambda postgres: postgres.fetch(
            "UPDATE {schema}.sessions SET proven_at = now() - $2::interval WHERE person_id = $1",
            who.id,
            timedelta(hours=1),
        )
    )
