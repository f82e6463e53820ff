"""Customers for the tests of the HTTP edge: accounts, keys and plans of a test's own, and what their books must say."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

import httpx

from siteglass.access import accounts
from siteglass.access.keys import SCOPES, KeyLimits, KeyRow, allow_networks, create_key, list_keys, revoke_key
from siteglass.access.networks import read_networks
from siteglass.access.rotation import rotate_key
from siteglass.billing import credits, ledger
from siteglass.billing.credits import Mark, read_domains
from siteglass.corpus.lead import Lead
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.api_calls import SEARCH, answered, refused
from testing.service import TLS

TIMEOUT_MS = 10_000
FAST = "tests"
"""A plan whose rate no test reaches."""

Result = TypeVar("Result")
Marks = list[tuple[str, Mark]]

CREDIT_HEADERS = (
    "x-credits-api-used",
    "x-credits-lead-used",
    "x-credits-api-remaining",
    "x-credits-lead-remaining",
)


def _stocked(number: int) -> Lead:
    domain = f"stock-{number:02}.com"
    role, person = f"info@{domain}", f"eve.moore@{domain}"
    emails = [(), (role,), (role, person)][number % 3]
    return Lead(
        domain=domain,
        crawled_at_ms=1_790_000_000_000,
        business_name=f"Stock {number}",
        emails=emails,
        emails_personal=emails[1:],
        country="DEU" if number < 30 else "FRA",
        score=number,
    )


STOCK = [_stocked(number) for number in range(60)]
"""In the order of `sort: domain`; of three leads in a row one has no address, one a role address, one both kinds."""
BY_DOMAIN = {lead.domain: lead for lead in STOCK}
IN_ORDER = {"sort": "domain"}
COST = {size: sum(bool(lead.emails) for lead in STOCK[:size]) for size in range(61)}
"""Lead credits of the first leads in the order of domains."""


def marks(leads: Iterable[Lead], *, personal: bool = False) -> Marks:
    """What the ledger must say of a page of these leads."""
    return [
        (lead.domain, Mark.CHARGED if (lead.emails_personal if personal else lead.emails) else Mark.NO_ADDRESS)
        for lead in leads
    ]


def price(made: Marks) -> int:
    """Lead credits of a page."""
    return sum(mark is Mark.CHARGED for _, mark in made)


@dataclass(frozen=True)
class Books:
    """All that is written about an account's credits."""

    api: int
    lead: int
    rows: tuple[Mapping[str, Any], ...]


class Bank:
    """Makes customers and reads their books, past the service; its loop runs in a separate thread."""

    def __init__(self, settings: Settings, base_url: str) -> None:
        self.settings = settings
        self.base_url = base_url
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._open = contextlib.ExitStack()
        self.postgres = Postgres(settings.postgres_dsn, settings.postgres_schema, max_connections=4)

    def do(self, action: Coroutine[Any, Any, Result]) -> Result:
        """Run an operation of the accounts."""
        return asyncio.run_coroutine_threadsafe(action, self._loop).result(30)

    def close(self) -> None:
        self._open.close()
        self.do(self.postgres.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def plan(self, rate_per_s: float, burst: int, **more: Any) -> str:
        """A new plan."""
        name = f"t{secrets.token_hex(8)}"
        self.do(accounts.set_plan(self.postgres, accounts.Plan(name, rate_per_s, burst, **more), actor="tests"))
        return name

    def client(self, key: str | None) -> httpx.Client:
        """A client that sends this key; closed with the bank."""
        headers = {} if key is None else {"X-API-Key": key}
        made = httpx.Client(base_url=self.base_url, headers=headers, timeout=90, trust_env=False, verify=TLS)
        return self._open.enter_context(made)

    def customer(
        self,
        api: int = 0,
        lead: int = 0,
        *,
        plan: str = FAST,
        scopes: Iterable[str] = SCOPES,
        limits: KeyLimits | None = None,
    ) -> Customer:
        """A new account with these credits and one key."""
        number = self.do(accounts.create_account(self.postgres, secrets.token_hex(8), plan, actor="tests"))
        if api or lead:
            self.do(credits.grant(self.postgres, number, api, lead, "tests", secrets.token_hex(8)))
        return self.another(number, scopes=scopes, limits=limits)

    def another(
        self,
        account_id: int,
        *,
        scopes: Iterable[str] = SCOPES,
        limits: KeyLimits | None = None,
        key_secrets: tuple[str, ...] | None = None,
    ) -> Customer:
        """One more key of an account."""
        making = create_key(
            self.postgres,
            key_secrets or self.settings.key_secrets,
            account_id,
            "tests",
            scopes,
            limits,
            actor="tests",
        )
        key_id, key = self.do(making)
        return Customer(self, account_id, key_id, key, self.client(key))

    def rotate(self, old: Customer, overlap: timedelta) -> Customer:
        """The key that takes the place of another."""
        rotating = rotate_key(self.postgres, self.settings.key_secrets, old.key_id, overlap, "tests")
        key_id, key = self.do(rotating)
        return Customer(self, old.account_id, key_id, key, self.client(key))

    def allow(self, key_id: int, *networks: str) -> None:
        self.do(allow_networks(self.postgres, key_id, read_networks(networks), "tests"))

    def listed(self, account_id: int) -> dict[int, KeyRow]:
        """The keys of an account by their numbers."""
        return {row.id: row for row in self.do(list_keys(self.postgres, account_id))}

    def revoke(self, key_id: int) -> None:
        self.do(revoke_key(self.postgres, key_id, "tests"))


def async_client(base_url: str, key: str | None = None) -> httpx.AsyncClient:
    """A client for many requests at once."""
    headers = {} if key is None else {"X-API-Key": key}
    return httpx.AsyncClient(base_url=base_url, headers=headers, timeout=90, trust_env=False, verify=TLS)


@dataclass
class Customer:
    """An account through one of its keys."""

    bank: Bank
    account_id: int
    key_id: int
    key: str
    client: httpx.Client = field(repr=False)

    def post(self, path: str, body: Any, at: httpx.Client | None = None, *, retry: str | None = None) -> httpx.Response:
        """A request with this key, perhaps through another service's client, perhaps with an Idempotency-Key."""
        headers = {"X-API-Key": self.key} | ({} if retry is None else {"Idempotency-Key": retry})
        return (at or self.client).post(path, json=body, headers=headers)

    def grant(self, api: int = 0, lead: int = 0) -> None:
        self.bank.do(credits.grant(self.bank.postgres, self.account_id, api, lead, "tests", secrets.token_hex(8)))

    def balance(self) -> tuple[int, int]:
        left = self.bank.do(credits.Billing(self.bank.postgres).balance(self.account_id))
        return left.api, left.lead

    def books(self) -> Books:
        """The balance and every ledger row."""
        reading = self.bank.postgres.fetch(
            "SELECT seq, kind::text, operation::text, api, lead, actor_kind::text, actor_id, request_id, domains"
            " FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq",
            self.account_id,
        )
        return Books(*self.balance(), tuple(dict(row) for row in self.bank.do(reading)))

    def verified(self) -> None:
        """Every hash, number and sum of the account's ledger is right."""
        found = self.bank.do(ledger.verify(self.bank.postgres, self.account_id))
        assert found.problems == []

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        """Whatever happens inside: neither balance nor ledger may change."""
        before = self.books()
        yield
        assert self.books() == before

    def pays(
        self, path: str, body: Any, operation: str, api: int, charged: Marks, at: httpx.Client | None = None
    ) -> dict[str, Any]:
        """A request that must be answered, charged so, and written down once; returns the body of the answer."""
        before = self.books()
        response = self.post(path, body, at)
        page = answered(response)
        lead = price(charged)
        after = self.books()
        assert (after.api, after.lead) == (before.api - api, before.lead - lead)
        shown = [response.headers[name] for name in CREDIT_HEADERS]
        assert shown == [str(api), str(lead), str(after.api), str(after.lead)]
        assert after.rows[:-1] == before.rows
        row = after.rows[-1]
        assert row["seq"] == len(after.rows)
        assert (row["kind"], row["operation"]) == ("charge", operation)
        assert (row["api"], row["lead"]) == (-api, -lead)
        assert (row["actor_kind"], row["actor_id"]) == ("key", str(self.key_id))
        assert row["request_id"] == response.headers["x-request-id"]
        assert sorted(read_domains(row["domains"])) == sorted(charged)
        assert "@" not in row["domains"]
        return page


def _numbers(text: str) -> list[int]:
    return [int(found) for found in re.findall(r"\d+", text)]


def too_few(response: httpx.Response, need: tuple[int, int], balance: tuple[int, int]) -> None:
    """402: the message gives need and balance, and no lead is shown."""
    refused(response, 402, "INSUFFICIENT_CREDITS")
    body = response.json()
    assert list(body) == ["error", "message"]
    # Requesting less does not help an account that has none of the credits it needs.
    empty = any(needed and not there for needed, there in zip(need, balance, strict=True))
    assert body["message"] == (
        f"This request needs {need[0]} API and {need[1]} lead credits; the account has {balance[0]} API and "
        f"{balance[1]} lead credits. Nothing was charged. "
        + ("Buy credits." if empty else "Request less at once (`limit`, fewer domains), or buy credits.")
    )
    nothing_shown(response)


def capped(response: httpx.Response, need: int, left: int) -> None:
    """402 for the caller's own cap."""
    refused(response, 402, "CREDIT_CAP_EXCEEDED")
    assert list(response.json()) == ["error", "message"]
    assert _numbers(response.json()["message"]) == [need, left], response.text
    nothing_shown(response)


def nothing_shown(response: httpx.Response) -> None:
    """No lead, no way to another page, nothing used."""
    shown = response.text + str(response.headers)
    for word in ("stock-", "Stock", "@", "results", "next", SEARCH):
        assert word not in shown
    assert all(int(response.headers.get(name, 0)) == 0 for name in CREDIT_HEADERS[:2])
