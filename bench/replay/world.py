"""What requests are replayed on: leads, opt-outs, accounts and a stopped clock that are the same in every run."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import random
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from unittest import mock

import httpx
import msgspec
import pyarrow as pa

from bench.replay.recording import Entry, Placeholders
from siteglass.access import accounts
from siteglass.access.keys import SCOPES, KeyLimits, create_key
from siteglass.access.networks import read_networks
from siteglass.billing import credits
from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA, Sighting, write_evidence
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generation_cache
from siteglass.index.index import Index
from siteglass.leads import sandbox
from siteglass.platform.backends import Clock
from siteglass.privacy import opt_out
from siteglass.settings import Settings
from siteglass.suppression import entries
from siteglass.suppression.entries import FoundHash
from siteglass.suppression.values import Hasher, Kind, read_value
from siteglass_demo.leads import generate
from testing.accounts import drop_schema
from testing.customers import Bank, Customer
from testing.loopback_servers import Names, naming
from testing.mails import Outbox
from testing.patience import be_patient
from testing.sentences.score import TODAY
from testing.service import RUN_PREFIX, fill, run, serving, settings_for

SEED = 20
LEADS = 3_000
PLENTY = 1_000_000
EXPIRES_AT = datetime(2099, 1, 1, tzinfo=UTC)
LARGE_CITY = "Replayville"
"""Of leads whose page is too large to be kept for a retry."""

PLANS = (
    accounts.Plan("replay-slow", 1 / 3600, 1),
    accounts.Plan("replay-full", 1_000, 1_000, 50, 60, 1_500, 20_000, "EUR", 24),
)
# Accounts by name: plan, API credits, lead credits. Each part of the corpus pays with its own account. So a change
# in one part does not change the balances in the headers of the others.
ACCOUNTS: dict[str, tuple[str, int, int]] = {
    "empty": ("tests", 0, 0),
    "poor": ("tests", 1, 2),
    "slow": ("replay-slow", 100, 100),
    "full": ("replay-full", 1_000, 1_000),
}
# Keys of the account `full` by name: scopes and limits.
KEYS: dict[str, tuple[tuple[str, ...], KeyLimits]] = {
    "only search": (("search",), KeyLimits()),
    "only enrich": (("enrich",), KeyLimits()),
    "only account": (("account",), KeyLimits()),
    "capped": (SCOPES, KeyLimits(EXPIRES_AT, 1, 2, 500.5, 700)),
    "elsewhere": (SCOPES, KeyLimits(networks=read_networks(["192.0.2.0/24"]))),
    "expired": (SCOPES, KeyLimits(datetime(2026, 1, 1, tzinfo=UTC))),
    "revoked": (SCOPES, KeyLimits()),
}


class StoppedClock(Clock):
    """Always the same moment, unless it is put forward."""

    ahead_s = 0

    def now_ms(self) -> int:
        return round(TODAY.timestamp() + self.ahead_s) * 1000


def _large(number: int) -> Lead:
    draw = random.Random(number)
    noise = tuple("".join(draw.choices(string.ascii_letters + string.digits, k=500)) for _ in range(40))
    return Lead(domain=f"large-{number}.example", crawled_at_ms=1_790_000_000_000, city=LARGE_CITY, keywords=noise)


def _evidence(leads: list[Lead]) -> pa.Table:
    kinds: tuple[Literal["email", "phone"], ...] = ("email", "phone")
    rows = [
        Sighting(
            domain=lead.domain,
            kind=kind,
            value=value,
            page=f"https://{lead.domain}/contact-{number}",
            method="text",
            first_seen_ms=1_780_000_000_000,
            last_seen_ms=1_790_000_000_000 - number * 86_400_000,
        )
        for lead in leads
        for kind in kinds
        for number, value in enumerate(lead.emails if kind == "email" else lead.phones)
    ]
    return pa.Table.from_pylist([msgspec.structs.asdict(row) for row in rows], EVIDENCE_SCHEMA)


@dataclass
class World:
    """The service with all that is around it, and what it responded so far."""

    leads: list[Lead]
    suppressed: list[str]
    """Values, all of them on the list before the first request."""
    settings: Settings
    client: httpx.Client
    broken: httpx.Client
    """Another service, whose search engine and mail server are unavailable."""
    customers: dict[str, Customer]
    clock: StoppedClock
    outbox: Outbox
    names: Names
    share: float = 1.0
    """How much of the drawn requests is sent; those that are listed are always sent."""
    entries: list[Entry] = field(default_factory=list)
    placeholders: Placeholders = field(default_factory=Placeholders)

    def times(self, count: int) -> range:
        """So often is something drawn that is drawn `count` times in a whole replay."""
        return range(max(1, round(count * self.share)))

    def ask(
        self,
        part: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = "",
        broken: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request and record its response. Bytes are sent as they are, anything else as JSON.

        `key` is the name of a customer, by default that of the part, or a text to send as the key; None: no key.
        """
        key = part if key == "" else key
        given = {"Host": "replay.test", **(headers or {})}  # pages show it, and the port is another in every run
        if key is not None:
            given["X-API-Key"] = self.customers[key].key if key in self.customers else key
        if body is not None:
            given = {"Content-Type": "application/json", **given}
        if path.startswith("/v1/opt-out"):  # each from another address: few are allowed an hour
            number = len(self.entries)
            given = {"X-Forwarded-For": f"198.18.{number // 256}.{number % 256}", **given}
        content = body if body is None or isinstance(body, bytes) else _json_bytes(body)
        client = self.broken if broken else self.client
        response = client.request(method, path, content=content, headers=given)
        self.entries.append(self.placeholders.entry(part, str(key), response.request, response))
        return response


def _json_bytes(body: Any) -> bytes:
    """Not by orjson, which refuses numbers and texts that callers may send."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _customers(bank: Bank, parts: tuple[str, ...]) -> dict[str, Customer]:
    """The accounts and keys, made in the same order every time: their numbers are part of responses."""
    do, postgres = bank.do, bank.postgres

    def add_key(account_id: int, name: str, *options: Any, test: bool = False) -> Customer:
        secrets = bank.settings.key_secrets
        key_id, key = do(create_key(postgres, secrets, account_id, name, *options, actor="replay", test=test))
        return Customer(bank, account_id, key_id, key, bank.client(key))

    for plan in PLANS:
        do(accounts.set_plan(postgres, plan, actor="replay"))
    customers: dict[str, Customer] = {}
    for name, (plan_name, api, lead) in {**dict.fromkeys(parts, ("tests", PLENTY, PLENTY)), **ACCOUNTS}.items():
        number = do(accounts.create_account(postgres, f"replay {name}", plan_name, actor="replay"))
        if api:
            do(credits.grant(postgres, number, api, lead, "replay", f"replay {name}"))
        customers[name] = add_key(number, f"key of {name}", test=name == "sandbox")
    full = customers["full"].account_id
    do(credits.grant(postgres, full, 500, 700, "replay", "replay, expiring", EXPIRES_AT))
    customers |= {name: add_key(full, name, *options) for name, options in KEYS.items()}
    bank.revoke(customers["revoked"].key_id)
    return customers


@contextlib.contextmanager
def _quiet_log() -> Iterator[None]:
    """Errors are asked for on purpose, so they are not logged meanwhile."""
    log = logging.getLogger("siteglass")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


async def _list_only(index: Index, listed: Mapping[str, str]) -> None:
    """List values, and note the leads that carry them, as an opt-out does before it changes the index.

    The index still has them, so that only the filter of responses hides them.
    """
    hasher = Hasher(index.settings)
    values = {read_value(text): domain for text, domain in listed.items()}
    await entries.add(index.postgres, list(map(hasher.pair, values)), reason="replay", actor="replay")
    carried = [
        FoundHash(domain, hasher.of_value(value)) for value, domain in values.items() if value.kind is not Kind.DOMAIN
    ]
    await entries.remember(index.postgres, carried)


@contextlib.contextmanager
def open_world(folder: Path, parts: tuple[str, ...], share: float) -> Iterator[World]:
    """A world with an account for each of these parts; it is gone afterwards."""
    leads = list(generate(LEADS, SEED))
    carriers = [lead for lead in leads if lead.emails and lead.phones]
    removed, listed = (
        {(lead.emails[0], lead.phones[0], lead.domain)[number % 3]: lead.domain for number, lead in enumerate(some)}
        for some in (carriers[:12], carriers[18:48])  # those between opt out while requests are sent
    )
    store, mails, clock = folder / "store", folder / "mails", StoppedClock()
    store.mkdir()
    write_parquet(store / "leads.parquet", [*leads, *map(_large, range(25))], row_group_size=500)
    write_evidence(store / "leads.parquet", _evidence(leads[:200]))
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet_log())
        names = stack.enter_context(naming())
        be_patient()
        # Without the counts, completions come in another order. A busy machine takes longer for them.
        stack.enter_context(mock.patch.object(generation_cache, "FIRST_WAIT_S", 60.0))
        settings = settings_for(
            "replay",
            postgres_schema=f"{RUN_PREFIX}_replay",
            lead_store=store,
            mail_url=f"file:{mails}",
            mail_from="Siteglass <privacy@sender.test>",
            dns_servers=(f"127.0.0.1:{names.port}",),
            personal_addresses_hidden=("FRA",),
        )
        stack.callback(_remove, settings)
        fill(settings, store / "leads.parquet")

        async def prepare(index: Index) -> None:
            await sandbox.build(index)
            await opt_out.suppress(index, [read_value(text) for text in removed], reason="replay", actor="replay")
            await _list_only(index, listed)

        run(settings, prepare)
        away = replace(
            settings,
            opensearch_urls=("http://127.0.0.1:9",),
            mail_url="",
            redis_prefix=f"{settings.redis_prefix}-broken",
        )
        client, broken = (stack.enter_context(serving(one, clock)) for one in (settings, away))
        for one in (client, broken):
            del one.headers["X-API-Key"]
        bank = Bank(settings, str(client.base_url))
        stack.callback(bank.close)
        customers = _customers(bank, parts)
        yield World(leads, [*removed, *listed], settings, client, broken, customers, clock, Outbox(mails), names, share)


def _remove(settings: Settings) -> None:
    with httpx.Client(base_url=settings.opensearch_urls[0], timeout=30, trust_env=False) as engine:
        for row in engine.get(f"/_cat/indices/{settings.index_prefix}*", params={"format": "json"}).json():
            engine.delete(f"/{row['index']}")
    asyncio.run(drop_schema(settings.postgres_dsn, settings.postgres_schema))
