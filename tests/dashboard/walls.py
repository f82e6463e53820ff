"""What the matrices walk through: every page of the router, and an account that has one of everything."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from pyroaring import BitMap

from siteglass.access.keys import create_key
from siteglass.billing.credits import grant
from siteglass.dashboard.guard import DeclaredPage
from siteglass.dashboard.routes import PAGES
from siteglass.leads.downloads.jobs import Downloads, NewDownload
from siteglass.leads.downloads.uploaded_table import read_table
from siteglass.leads.downloads.uploads import Uploads
from siteglass.leads.lists.bitmaps import pack
from siteglass.people import links, people, sessions
from siteglass.people.sign_in import lifetimes
from siteglass.platform.postgres import Postgres
from testing.dashboard.visitors import SESSION, Office, Somebody, Visitor

FORMS = [page for page in PAGES if page.method == "POST" and not page.by_link]
INSIDE = [page for page in PAGES if page.role]
WITH_IDS = [page for page in PAGES if "{" in page.path]
# What a form that would change something sends; whatever else a page asks for may be missing.
FIELDS = {
    "email": "somebody.else@people.test",
    "role": "viewer",
    "name": "Another name",
    "password": "another long passphrase",
    "scopes": "search",
    "expires": "never",
    "hours": "0",
    "api_below": "5",
    "lead_below": "5",
    "code": "000000",
}


@dataclass(slots=True)
class Full:
    """An account with an owner, a member, a viewer, a key, entries, an invitation, a list, a saved search."""

    account_id: int
    secret: str
    """Part of the name of everything in the account: where it is shown, something of this account is."""
    people: dict[str, Somebody]
    key_id: int
    link_id: int
    token: str
    last_seq: int
    download_id: int
    upload_id: int
    session_ids: dict[str, int] = field(default_factory=dict)

    def path(self, page: DeclaredPage, role: str = "owner") -> str:
        """The path of a page with the ids of this account."""
        ids: dict[str, Any] = {
            "account_id": self.account_id,
            "key_id": self.key_id,
            "seq": self.last_seq,
            "person_id": self.people["viewer"].id,
            "link_id": self.link_id,
            "session_id": self.session_ids[role],
            "token": self.token,
            "domain": "no-domain",
            "name": self.secret,
            "download_id": self.download_id,
            "upload_id": self.upload_id,
        }
        return re.sub(r"{(\w+)}", lambda found: str(ids[found[1]]), page.path)


def full(office: Office, entries: int = 1) -> Full:
    """A new one."""
    secret = f"secret-{secrets.token_hex(6)}"
    account = office.account(f"{secret} Ltd")
    members: dict[str, Somebody] = {role: office.somebody(account, role, f"{secret} {role}") for role in people.ROLES}

    async def rest(postgres: Postgres) -> tuple[int, int, str, int, int]:
        for _ in range(entries):
            await grant(postgres, account, 10, 10, "tests", f"{secret}-{secrets.token_hex(3)}")
        key_id, _ = await create_key(postgres, office.settings.key_secrets, account, f"{secret} key", actor="tests")
        await postgres.fetch(
            "INSERT INTO {schema}.lists (account_id, test, name, bitmap) VALUES ($1, false, $2, $3)",
            account,
            secret,
            pack(BitMap()),
        )
        await postgres.fetch(
            "INSERT INTO {schema}.saved_searches (account_id, test, name, owner_key_id, shared, body)"
            ' VALUES ($1, false, $2, $3, true, \'{"city": "Austin"}\')',
            account,
            secret,
            key_id,
        )
        by = ("person", str(members["owner"].id))
        token = await links.new_invitation(postgres, f"{secret}@people.test", account, "member", by)
        (invitation,) = await links.invitations_of(postgres, account)
        download = await Downloads(postgres).create(
            NewDownload(
                *(account, members["owner"].id, secrets.token_hex(12), "search", f"{secret} plumbers"),
                *('{"city": "Nowhere"}', "csv", "siteglass", 1, 0),
            )
        )
        # At once: the service has no leads, and would try again and again.
        await Downloads(postgres).stop(account, download.id)
        upload_id = await Uploads(postgres).add(account, f"{secret}.csv", read_table(b"domain\nexample.com\n").pack())
        return key_id, invitation.id, token, download.id, upload_id

    key_id, link_id, token, download_id, upload_id = office.do(rest)
    return Full(account, secret, members, key_id, link_id, token, entries, download_id, upload_id)


def enter(office: Office, account: Full, role: str) -> Visitor:
    """Somebody of this role who signed in just now, without the work of a password."""
    who = account.people[role]

    async def start(postgres: Postgres) -> tuple[str, int]:
        token = await sessions.start(
            postgres, who.id, office.hashed, account.account_id, f"{account.secret} browser", "10.0.0.1",
        )  # fmt: skip
        assert token is not None
        found = await sessions.find(postgres, token, lifetimes(office.settings))
        assert found is not None
        return token, found.id

    visitor = office.visitor()
    visitor.cookies[SESSION], account.session_ids[role] = office.do(start)
    return visitor


def state(office: Office, *accounts: Full) -> dict[str, list[str]]:
    """All that a form could change of these accounts."""

    async def read(postgres: Postgres) -> dict[str, list[str]]:
        ids = [account.account_id for account in accounts]
        people_ids = [who.id for account in accounts for who in account.people.values()]
        of_accounts = ("members", "keys", "links", "balance_alerts", "audit", "saved_searches")
        found = {table: await _rows(postgres, table, "account_id", ids) for table in of_accounts}
        # The built-in ones come into being when a page first needs them.
        found["lists"] = await _rows(postgres, "lists", "NOT built_in AND account_id", ids)
        found["people"] = await _rows(postgres, "people", "id", people_ids)
        found["recovery_codes"] = await _rows(postgres, "recovery_codes", "person_id", people_ids)
        found["sessions"] = await _rows(postgres, "sessions", "person_id", people_ids)
        return found

    return office.do(read)


async def _rows(postgres: Postgres, table: str, column: str, ids: list[int]) -> list[str]:
    statement = f"SELECT * FROM {{schema}}.{table} WHERE {column} = ANY($1::bigint[])"
    return sorted(map(repr, await postgres.fetch(statement, ids)))
