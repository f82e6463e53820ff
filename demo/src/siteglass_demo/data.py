"""What the demo has in the engines: tables, made-up leads, accounts and keys."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from siteglass.settings import Settings

if TYPE_CHECKING:
    from siteglass.platform.backends import Backends

COUNT, SEED = 50_000, 1
# Below this the demo has only generated leads: the companies that are read from pages would be most of it.
MIN_COUNT_WITH_COMPANIES = 10_000
ACTOR = "demo"
CREDITS = 10_000_000
TRIAL_API_CREDITS, TRIAL_LEAD_CREDITS = 100, 1_000

DemoKeys: TypeAlias = dict[str, str]
"""By name: API keys, and address and password of the person."""


async def prepare(
    settings: Settings, count: int | None, seed: int | None, keys: DemoKeys | None, say: Callable[[str], None]
) -> DemoKeys:
    """All that the service needs in the engines; returns the keys: those given, if the accounts still know them."""
    from siteglass.index import generations
    from siteglass.index.index import open_index
    from siteglass.leads import sandbox
    from siteglass.platform.backends import open_backends
    from siteglass.platform.schema import migrate

    say("bringing the tables up to date")
    await migrate(settings.postgres_owner_dsn, settings.postgres_schema, settings.postgres_dsn)
    async with open_backends(settings) as backends:
        index = open_index(backends)
        await _fill(backends, count, seed, say)
        if not await generations.status(index.sandbox()):
            say("creating the leads for test keys")
            await sandbox.build(index)
        if keys is None or "test_api_key" not in keys or not await _stands(backends, keys.get("api_key", "")):
            say("creating accounts and keys")
            keys = await _make_keys(backends)
    return keys


async def _fill(backends: Backends, count: int | None, seed: int | None, say: Callable[[str], None]) -> None:
    """A live generation of these leads, unless there is one; others that the demo made are dropped."""
    from siteglass.index import generations, segments
    from siteglass.index.entry import enter_store
    from siteglass.index.index import open_index
    from siteglass.index.load import LoadReport, load
    from siteglass.index.mapping import SCHEMA_VERSION
    from siteglass.platform.progress import progress

    index = open_index(backends)
    found = [g for g in await generations.status(index) if g.source.startswith("demo-")]
    live = next((g for g in found if g.live and g.schema_version == SCHEMA_VERSION), None)
    if live and count is None and seed is None:
        say(f"{live.documents:,} leads already exist")
        return
    leads = _DemoLeads(count or COUNT, SEED if seed is None else seed)
    if live and live.source == leads.name:
        say(f"{live.documents:,} leads already exist")
        return
    for half_filled in (g for g in found if not g.live):  # an `up` that was interrupted
        await generations.drop(index, half_filled.name)
    files = leads.files(backends.settings.lead_store, say)
    say(f"loading {leads.count:,} leads")
    name = await generations.create(index, generations.Shape(), source=leads.name)
    with progress("Loading", leads.count) as advance_to:
        loaded = 0
        for stored in await enter_store(index, files):

            def advance(so_far: LoadReport, before: int = loaded) -> None:
                advance_to(before + so_far.read)

            loaded += (await load(index, stored.path, advance, only=name)).read
    await segments.merge_if_large(index, name, loaded)
    await generations.promote(index, name)
    for before in (g for g in found if g.live):
        await generations.drop(index, before.name)


class _DemoLeads:
    """The leads of a demo: companies that were read from made-up pages, and generated leads; few are all generated."""

    def __init__(self, count: int, seed: int) -> None:
        from siteglass.corpus.lead_files import read_parquet
        from siteglass_demo.leads import COMPANIES

        self.count, self.seed = count, seed
        self._companies = [COMPANIES] if count >= MIN_COUNT_WITH_COMPANIES else []
        self._taken = {lead.domain for path in self._companies for _, group in read_parquet(path) for lead in group}
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in self._companies)).hexdigest()[:8]
        self.name = f"demo-{count}-{seed}-{digest}.parquet"

    def files(self, folder: Path, say: Callable[[str], None]) -> list[Path]:
        """The files of leads; those that are generated are written to the folder, unless they are there."""
        from siteglass.platform.progress import progress
        from siteglass_demo.leads import write_demo

        path = folder / self.name
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            missing = self.count - len(self._taken)
            say(f"making {missing:,} leads")
            with progress("Generating", missing) as advance_to:
                write_demo(path, missing, self.seed, advance_to, without=self._taken)
        return [*self._companies, path]


async def _stands(backends: Backends, key: str) -> bool:
    """Whether the accounts still know the key; they do not under another name, or if the data was lost."""
    from siteglass.access.keys import Keys
    from siteglass.errors import Unauthorized

    try:
        await Keys(backends.postgres, backends.settings.key_secrets, backends.settings.postgres_timeout_ms).find(key)
    except Unauthorized:
        return False
    return True


async def _make_keys(backends: Backends) -> DemoKeys:
    """One key for use, one for each refusal, and somebody with a separate account who signs in to the dashboard."""
    from siteglass.access.accounts import Plan, create_account, set_plan
    from siteglass.access.keys import KeyLimits, create_key, revoke_key
    from siteglass.billing.credits import grant
    from siteglass.people import people
    from siteglass.people.passwords import Passwords

    postgres, key_secrets = backends.postgres, backends.settings.key_secrets
    suffix = secrets.token_hex(3)

    async def account(name: str, plan: str, api: int, lead: int) -> int:
        number = await create_account(postgres, f"{name} {suffix}", plan, actor=ACTOR)
        if api or lead:
            await grant(postgres, number, api, lead, ACTOR, "demo")
        return number

    # Of the person who explores. With so few credits a price means something, and what was bought once stays free.
    trial = Plan("trial", rate_per_s=10, burst=40, rebill_after_hours=30 * 24)
    await set_plan(postgres, trial, actor=ACTOR)
    main = await account("Demo", "demo", CREDITS, CREDITS)
    small = await account("Small plan", "standard", CREDITS, CREDITS)
    empty = await account("No credit", "demo", 0, 0)
    person = await account("Trial", trial.name, TRIAL_API_CREDITS, TRIAL_LEAD_CREDITS)
    email, password = f"owner-{suffix}@demo.example", "-".join(secrets.token_hex(3) for _ in range(4))
    passwords = Passwords()
    hashed = await passwords.hash(password)
    passwords.close()
    await people.create(postgres, email, "Demo Owner", hashed, person, "owner")
    past = KeyLimits(expires_at=datetime.now(UTC) - timedelta(days=1))
    revoked_id, revoked = await create_key(postgres, key_secrets, main, "revoked", actor=ACTOR)
    await revoke_key(postgres, revoked_id, ACTOR)
    return {
        "api_key": (await create_key(postgres, key_secrets, main, "demo", actor=ACTOR))[1],
        "test_api_key": (await create_key(postgres, key_secrets, main, "test", actor=ACTOR, test=True))[1],
        "small_plan_api_key": (await create_key(postgres, key_secrets, small, "small plan", actor=ACTOR))[1],
        "no_credit_api_key": (await create_key(postgres, key_secrets, empty, "no credit", actor=ACTOR))[1],
        "expired_api_key": (await create_key(postgres, key_secrets, main, "expired", limits=past, actor=ACTOR))[1],
        "revoked_api_key": revoked,
        "dashboard_email": email,
        "dashboard_password": password,
    }
