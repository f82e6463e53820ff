"""Somebody who visits the dashboard without a browser: accounts with people, and a visitor who sends what one sends."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import asyncpg
import httpx

from siteglass.access.accounts import create_account
from siteglass.billing.credits import grant
from siteglass.billing.received import update_received
from siteglass.corpus.lead import Lead
from siteglass.dashboard.explore import results
from siteglass.people import passwords, people
from siteglass.people.passwords import Passwords
from siteglass.people.secrecy import Secrecy
from siteglass.platform.backends import Clock
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.accounts import owner
from testing.mails import Outbox
from testing.service import RUN_PREFIX, SECRET, TLS, filled, make_test_account, serving, settings_for

Result = TypeVar("Result")

PASSWORD = "proper pony charger rivet"
SESSION = "__Host-siteglass"
FORM = "__Host-siteglass-form"
KNOWN = "__Host-siteglass-known"
TIMEOUT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Somebody:
    """A person who can sign in."""

    id: int
    email: str
    account_id: int
    password: str = PASSWORD


class Visitor:
    """A browser's part: keeps cookies, adds the token to forms, says where forms come from."""

    def __init__(self, url: str, address: str = "") -> None:
        self.url = url
        self.cookies: dict[str, str] = {}
        self._secrecy = Secrecy((SECRET,))
        # Each comes from a different address, as the proxy reports it.
        self.address = address or f"10.{secrets.randbelow(256)}.{secrets.randbelow(256)}.{secrets.randbelow(256)}"
        self._client = httpx.Client(
            base_url=url, timeout=90, trust_env=False, verify=TLS, headers={"X-Forwarded-For": self.address}
        )

    @property
    def token(self) -> str:
        """What a form of this visitor carries."""
        return self.token_of(self.cookies.get(SESSION) or self.cookies.get(FORM, ""))

    def token_of(self, cookie: str) -> str:
        """What a form carries beside this cookie."""
        return self._secrecy.form_token(cookie)

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """A page."""
        return self._sent(self._client.get(path, headers=self._headers(headers)))

    def post(self, path: str, fields: Mapping[str, str | list[str]] | None = None, **headers: str) -> httpx.Response:
        """One of our forms, sent from its page."""
        sent = {"Origin": self.url, "Sec-Fetch-Site": "same-origin", **headers}
        body = {"token": self.token, **(fields or {})}
        return self._sent(self._client.post(path, data=body, headers=self._headers(sent)))

    def post_and_leave(self, path: str, fields: Mapping[str, str]) -> None:
        """Send a form and close the connection before the answer comes; raises httpx.TimeoutException."""
        sent = self._headers({"Origin": self.url, "Sec-Fetch-Site": "same-origin"})
        httpx.post(
            self.url + path, data={"token": self.token, **fields}, headers=sent, trust_env=False,
            timeout=httpx.Timeout(10, read=0.01),
        )  # fmt: skip

    def send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        """Whatever is asked, with the cookies."""
        return self._sent(self._client.request(method, path, content=body, headers=self._headers(headers)))

    def sign_in(self, who: Somebody) -> None:
        """With the password; the person has no second factor."""
        self.get("/dashboard/sign-in")
        answer = self.post("/dashboard/sign-in", {"email": who.email, "password": who.password})
        assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard/explore"), answer.text

    def close(self) -> None:
        self._client.close()

    def _headers(self, more: Mapping[str, str] | None) -> dict[str, str]:
        # By hand: httpx would not send a Secure cookie over http.
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {**({"Cookie": cookies} if cookies else {}), **(more or {})}

    def _sent(self, answer: httpx.Response) -> httpx.Response:
        for cookie in answer.headers.get_list("set-cookie"):
            name, value = cookie.partition(";")[0].split("=", 1)
            assert re.search("; Path=/; Secure; HttpOnly; SameSite=(Lax|Strict)(; Max-Age=[0-9]+)?$", cookie), cookie
            self.cookies.pop(name, None)
            if value:
                self.cookies[name] = value
        self._client.cookies.clear()
        return answer


class Office:
    """A service with a dashboard, and who works there."""

    def __init__(self, settings: Settings, url: str, outbox: Outbox) -> None:
        self.settings = settings
        self.url = url
        self.outbox = outbox
        self._passwords = Passwords()
        # In a separate thread: tests in a browser have a loop in theirs.
        self._thread = ThreadPoolExecutor(1, "office")
        self._runner = asyncio.Runner()
        self._postgres = Postgres(settings.postgres_dsn, settings.postgres_schema, max_connections=2)
        self.hashed = self.do(lambda _: self._passwords.hash(PASSWORD))
        self._visitors: list[Visitor] = []

    def do(self, action: Callable[[Postgres], Awaitable[Result]]) -> Result:
        """Something with the database."""
        return self._thread.submit(lambda: self._runner.run(_awaited(action, self._postgres))).result()

    def account(self, name: str = "", plan: str = "standard", api: int = 0, lead: int = 0) -> int:
        """A new account, perhaps with credits."""

        async def make(postgres: Postgres) -> int:
            number = await create_account(postgres, name or f"Acme {secrets.token_hex(4)}", plan, actor="tests")
            if api or lead:
                await grant(postgres, number, api, lead, "tests", secrets.token_hex(4))
            return number

        return self.do(make)

    def somebody(
        self, account_id: int | None = None, role: str = "owner", name: str = "Ada Lovelace", email: str = ""
    ) -> Somebody:
        """A person of an account, which is new if none is given."""
        account = self.account() if account_id is None else account_id
        email = email or f"{secrets.token_hex(4)}@people.test"
        made = self.do(lambda postgres: people.create(postgres, email, name, self.hashed, account, role))
        return Somebody(made, email, account)

    def days_pass(self, account_id: int, days: int) -> None:
        """As if what an account received had been so many days earlier."""
        self.do(lambda postgres: update_received(postgres, account_id))
        self._as_owner(
            "UPDATE {schema}.received SET at = at - make_interval(days => $2) WHERE account_id = $1", account_id, days
        )

    def preview_days_pass(self, account_id: int, days: int) -> None:
        """As if the account had seen leads so many days earlier."""
        self._as_owner("UPDATE {schema}.previewed SET day = day - $2::integer WHERE account_id = $1", account_id, days)

    def forget_responses(self, account_id: int) -> None:
        """As if the responses that are stored for a day were older."""
        self._as_owner(
            "UPDATE {schema}.idempotency SET at = at - interval '25 hours' WHERE account_id = $1", account_id
        )

    def _as_owner(self, statement: str, *values: object) -> None:
        async def run(postgres: Postgres) -> None:
            connection = await asyncpg.connect(owner(self.settings.postgres_dsn))
            await connection.execute(postgres.sql(statement), *values)
            await connection.close()

        self.do(run)

    def visitor(self, who: Somebody | None = None, address: str = "") -> Visitor:
        """Somebody who is signed in, or nobody yet."""
        made = Visitor(self.url, address)
        self._visitors.append(made)
        if who is not None:
            made.sign_in(who)
        return made

    def close(self) -> None:
        for visitor in self._visitors:
            visitor.close()
        self._passwords.close()
        self.do(lambda postgres: postgres.close())
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()


@contextlib.contextmanager
def cheaper_hashes() -> Iterator[None]:
    """Hashes as weak as may be, since the tests make hundreds; test_sign_in.py checks those of the service."""
    strong = passwords.MEMORY_KIB, passwords.TIMES
    passwords.MEMORY_KIB, passwords.TIMES = 19 * 1024, 2
    yield
    passwords.MEMORY_KIB, passwords.TIMES = strong


async def _awaited(action: Callable[[Postgres], Awaitable[Result]], postgres: Postgres) -> Result:
    return await action(postgres)


@contextlib.contextmanager
def office(
    prefix: str,
    folder: Path,
    leads: Sequence[Lead] = (),
    clock: Clock | None = None,
    *,
    own_tables: bool = False,
    total_wait_s: float = 20,
    **changes: Any,
) -> Iterator[Office]:
    """A service with a dashboard whose mails land in a folder, and with these leads.

    Its pages wait for totals for so long, since a shared host takes cores away for seconds.

    With tables of its own, no service of another test takes its jobs: that one would search in other leads.
    """
    outbox = folder / "outbox"
    if own_tables:
        changes["postgres_schema"] = f"{RUN_PREFIX}_{prefix.replace('-', '_')}"
    settings = replace(
        filled(prefix, leads, folder) if leads else settings_for(prefix),
        **changes,
        dashboard_secrets=(SECRET,),
        mail_url=f"file:{outbox}",
        mail_from="Siteglass <people@sender.test>",
        sales_email="sales@sender.test",
    )
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    with patch.object(results, "TOTAL_WAIT_S", total_wait_s), serving(settings, clock) as client:
        made = Office(settings, str(client.base_url).rstrip("/"), Outbox(outbox))
        try:
            yield made
        finally:
            made.close()


def link_in(mail: str) -> str:
    """The path of the link that a mail holds."""
    found = re.search(r"https?://[^/\s]+(/dashboard/\S+)", mail)
    assert found, mail
    return found.group(1)
