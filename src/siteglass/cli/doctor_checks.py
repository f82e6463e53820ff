"""What a service with these settings lacks, one finding per check, each with the way to mend it.

The checks stand in one table, in the order in which they are told. Each has a deadline; one that fails does not stop
the others, those that need it are skipped.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

import asyncpg

from siteglass.access import health as postgres_condition
from siteglass.access.keys import key_secrets
from siteglass.access.limits import health as redis_condition
from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index import health as index_condition
from siteglass.index.index import Index, open_index
from siteglass.index.mapping import SCHEMA_VERSION
from siteglass.people.secrecy import Secrecy
from siteglass.platform.backends import Backends, EngineError, open_backends
from siteglass.platform.mailer import MailError, open_mailer
from siteglass.platform.schema import HEAD, outdated
from siteglass.query.cursor import CursorSealer
from siteglass.settings import Settings, SettingsError, host_and_port, variable
from siteglass.suppression import entries
from siteglass.suppression.values import Hasher
from siteglass.web.address import listener, public_url, require_free_port, url

DEADLINE_S = 4.0
DEADLINE_MS = int(DEADLINE_S * 1000)
# Workers look for each entry once more some ten minutes after it was listed.
OPT_OUT_OVERDUE = timedelta(hours=1)
MAX_SKEW_S = 1.0
GB = 10**9

State = Literal["ok", "warning", "wrong", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `mend` is a command or a setting, and empty when there is nothing to mend."""

    state: State
    found: str
    mend: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Patient:
    """What is looked at. `make_all`: the one command that makes tables, accounts and leads, where there is one."""

    backends: Backends
    make_all: str | None = None

    @property
    def settings(self) -> Settings:
        return self.backends.settings

    @property
    def index(self) -> Index:
        return open_index(self.backends)


@dataclass(frozen=True, slots=True)
class Check:
    """A row of the table."""

    name: str
    look: Callable[[Patient], Awaitable[Finding]]
    needs: tuple[str, ...] = ()


async def examine(settings: Settings, make_all: str | None = None) -> AsyncIterator[Finding]:
    """Every check of the table, as soon as it is made."""
    states: dict[str, State] = {}
    async with open_backends(settings) as backends:
        patient = Patient(backends, make_all)
        for check in CHECKS:
            failed = [name for name in check.needs if states[name] in ("wrong", "skipped")]
            finding = Finding("skipped", f"needs {failed[0]}") if failed else await _look(check, patient)
            states[check.name] = finding.state
            yield replace(finding, check=check.name)


def skip_all(because: str) -> Iterator[Finding]:
    """The table when nothing of it can be looked at."""
    return (Finding("skipped", f"needs {because}", check=check.name) for check in CHECKS)


async def _look(check: Check, patient: Patient) -> Finding:
    try:
        async with asyncio.timeout(DEADLINE_S):
            return await check.look(patient)
    except TimeoutError:
        return Finding(
            "wrong", f"no answer within {DEADLINE_S:g} s", "run `siteglass doctor` again; is the machine busy?"
        )
    except Exception as error:  # whatever it is, the next check is still worth its answer
        reason = error.reason if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"
        return Finding("wrong", reason, "run `siteglass doctor` again; if it stays, report it")


# --- settings -------------------------------------------------------------------------------------


def _new_secret(setting: str) -> str:
    return f"export {variable(setting)}=$(python3 -c 'import secrets; print(secrets.token_hex(32))')"


async def _cursor_secrets(patient: Patient) -> Finding:
    settings = patient.settings
    try:
        CursorSealer(settings.cursor_secrets, settings.cursor_life_s)
    except ValueError as error:
        return Finding("wrong", f"{variable('cursor_secrets')}: {error}", _new_secret("cursor_secrets"))
    if set(settings.cursor_secrets) & set(settings.key_secrets):
        found = f"{variable('cursor_secrets')} and {variable('key_secrets')} share a secret"
        # The other one cannot be changed so easily: every key is hashed with it.
        return Finding("warning", found, _new_secret("cursor_secrets"))
    return Finding("ok", f"{len(settings.cursor_secrets)} set")


async def _key_secrets(patient: Patient) -> Finding:
    try:
        return Finding("ok", f"{len(key_secrets(patient.settings.key_secrets))} set")
    except SettingsError as error:
        return Finding("wrong", str(error).rstrip("."), _new_secret("key_secrets"))


async def _suppression_secret(patient: Patient) -> Finding:
    try:
        Hasher(patient.settings)
    except SettingsError as error:
        return Finding("wrong", str(error).partition(". ")[0], _new_secret("suppression_secret"))
    return Finding("ok", "set")


async def _python(_patient: Patient) -> Finding:
    needed = importlib.metadata.metadata("siteglass")["Requires-Python"]
    return Finding("ok", f"{platform.python_version()} (needs {needed})")


# --- engines --------------------------------------------------------------------------------------


def _away(setting: str) -> str:
    return f"start it there, or set {variable(setting)}; `make up` starts one where the default setting looks"


async def _postgresql(patient: Patient) -> Finding:
    place = host_and_port(patient.settings.postgres_dsn)
    try:
        server = await postgres_condition.server(patient.backends.postgres, DEADLINE_MS // 2)
    except Unavailable as error:
        return Finding("wrong", f"no answer from {place} ({error.reason})", _away("postgres_dsn"))
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return Finding("wrong", f"{place}: {error}", f"set {variable('postgres_dsn')} to a database and role it has")
    return Finding("ok", f"{server.version} at {place}")


async def _tables(patient: Patient) -> Finding:
    schema = patient.settings.postgres_schema
    match await outdated(patient.backends.postgres):
        case None:
            return Finding("ok", f"schema {schema} has all that this build needs ({HEAD})")
        case "tables":
            found = f"schema {schema} lacks tables that this build needs ({HEAD})"
        case "functions":
            found = f"the functions in schema {schema} are older than this build"
    return Finding("wrong", found, patient.make_all or "siteglass migrate")


async def _durability(patient: Patient) -> Finding:
    server = await postgres_condition.server(patient.backends.postgres, DEADLINE_MS)
    if not server.not_durable:
        return Finding("ok", f"{', '.join(postgres_condition.DURABLE)} are on")
    found = ", ".join(f"{name} is off (set by: {source})" for name, source in server.not_durable.items())
    if "client" in server.not_durable.values():
        return Finding("wrong", f"{found}: a crash can lose charges", f"take it out of {variable('postgres_dsn')}")
    steps = [f"ALTER SYSTEM SET {name} = on;" for name in server.not_durable]
    mend = f"as superuser in psql: {' '.join(steps)} SELECT pg_reload_conf();"
    return Finding("wrong", f"{found}: a crash can lose charges", mend)


async def _clock(patient: Patient) -> Finding:
    before = datetime.now(UTC)
    server = await postgres_condition.server(patient.backends.postgres, DEADLINE_MS)
    after = datetime.now(UTC)
    # The answer was given somewhere between: only what lies outside is a difference.
    skew_s = max((server.now - after).total_seconds(), (before - server.now).total_seconds(), 0.0)
    if skew_s <= MAX_SKEW_S:
        return Finding("ok", f"PostgreSQL's agrees with this machine's within {max(skew_s, 0.001):.3f} s")
    found = f"PostgreSQL's and this machine's differ by {skew_s:.1f} s: keys and cursors end at the wrong time"
    return Finding("warning", found, "synchronise both with a time server, for example: timedatectl set-ntp true")


async def _accounts(patient: Patient) -> Finding:
    found = await postgres_condition.callers(patient.backends.postgres, patient.settings.key_secrets, DEADLINE_MS)
    if not found.accounts:
        return Finding("wrong", "no account", patient.make_all or 'siteglass account create "First account"')
    newest = found.newest_account
    if not found.keys:
        others = found.keys_of_other_secrets
        why = f" ({others} need another secret in {variable('key_secrets')})" if others else ""
        mend = patient.make_all or f"siteglass key create {newest}"
        return Finding("wrong", f"{found.accounts} accounts, no key that can be used{why}", mend)
    if not found.keys_with_credits:
        mend = patient.make_all or f"siteglass credits grant {newest} --api 1000 --lead 1000"
        return Finding("warning", f"{found.accounts} accounts, none with a key has credits of both kinds", mend)
    older = found.keys_of_older_secret
    waiting = f", {older} of them not used since the newest secret was set" if older else ""
    return Finding("ok", f"{found.accounts}, keys that can be used: {found.keys}{waiting}")


async def _opt_outs(patient: Patient) -> Finding:
    hasher = Hasher(patient.settings)
    found = await entries.condition(patient.backends.postgres, hasher, OPT_OUT_OVERDUE, timeout_ms=DEADLINE_MS)
    if not found.right_secret:
        told = f"{variable('suppression_secret')} is not the one that the list of opt-outs was begun with"
        return Finding("wrong", told, "set the first one again: with another nobody on the list is recognised")
    if found.overdue:
        told = f"{found.overdue:,} of {found.listed:,} entries wait to be looked for once more"
        return Finding("warning", told, "run the service: its workers do it; their log says what keeps them")
    return Finding("ok", f"{found.listed:,} entries")


async def _redis(patient: Patient) -> Finding:
    from redis.exceptions import RedisError

    settings = patient.settings
    place = host_and_port(settings.redis_url)
    try:
        server = await redis_condition.server(settings.redis_url, DEADLINE_S / 2)
    except (RedisError, OSError) as error:
        return Finding("wrong", f"no answer from {place} ({type(error).__name__})", _away("redis_url"))
    except ValueError as error:
        return Finding(
            "wrong", f"{variable('redis_url')}: {error}", f"set {variable('redis_url')} to redis://host:port/0"
        )
    if server.answer_ms > settings.redis_timeout_ms:
        found = f"{server.version} at {place} took {server.answer_ms:.0f} ms: each worker limits by itself"
        return Finding("warning", found, f"a Redis nearer by, or a larger {variable('redis_timeout_ms')}")
    return Finding("ok", f"{server.version} at {place}")


async def _opensearch(patient: Patient) -> Finding:
    urls = patient.settings.opensearch_urls
    place = ", ".join(map(host_and_port, urls))
    try:
        cluster = await index_condition.cluster(patient.index, DEADLINE_MS // 2)
    except Unavailable as error:
        return Finding("wrong", f"no answer from {place} ({error.reason})", _away("opensearch_urls"))
    except EngineError as error:
        return Finding(
            "wrong", f"{place} refused: {error}", f"set {variable('opensearch_urls')}; with a user, in the URL"
        )
    return Finding("ok", f"{cluster.version} at {place}, nodes: {cluster.nodes}")


async def _shards(patient: Patient) -> Finding:
    cluster = await index_condition.cluster(patient.index, DEADLINE_MS)
    if cluster.health == "green":
        return Finding("ok", "all are there")
    node = urlsplit(patient.settings.opensearch_urls[0])
    user = "-u USER " if node.username else ""  # then curl asks for the password
    where = f"{node.scheme}://{host_and_port(node.geturl())}"
    why = f"curl {user}'{where}/_cluster/allocation/explain?pretty' says why"
    if cluster.health == "yellow":
        return Finding("warning", "copies are missing: a node less loses leads", f"add a node; {why}")
    return Finding("wrong", "some are missing: searches fail", f"bring the lost node back; {why}")


async def _disk(patient: Patient) -> Finding:
    disk = await index_condition.disk(patient.index, DEADLINE_MS)
    if disk is None:
        return Finding("ok", "the cluster does not tell")
    found = f"{disk.free_bytes / GB:.1f} GB free on {disk.node}"
    mend = "free or add disk space; `siteglass index status` shows what each generation takes"
    if disk.free_bytes < disk.flood_bytes:
        limit = f"{found}, less than {disk.flood_bytes / GB:.1f} GB"
        if disk.enforced:
            return Finding("wrong", f"{limit}: its indices take no more writes", mend)
        return Finding("warning", f"{limit} (the watermarks are off)", mend)
    if disk.free_bytes < disk.low_bytes:
        return Finding("warning", f"{found}, less than {disk.low_bytes / GB:.1f} GB: new indices find no place", mend)
    return Finding("ok", found)


async def _leads(patient: Patient) -> Finding:
    found = await generations.status(patient.index)
    if (reason := await generations.readiness(patient.index)) is not None:
        return Finding(
            "wrong", f"{reason} (prefix {patient.index.names.prefix})", patient.make_all or _way_to_a_generation(found)
        )
    live = next(generation for generation in found if generation.live)
    told = f"{live.documents:,} in {live.name}, schema {live.schema_version}"
    if live.schema_version < SCHEMA_VERSION:
        found_old = f"{told}; this build writes schema {SCHEMA_VERSION}"
        return Finding("warning", found_old, patient.make_all or _way_to_a_generation([]))
    if not live.documents:
        return Finding("warning", told, patient.make_all or "siteglass index load FILE")
    return Finding("ok", told)


def _way_to_a_generation(found: list[generations.Generation]) -> str:
    filled = [one.name for one in found if one.documents and not one.live and not one.unfinished]
    if filled:
        return f"siteglass index promote {filled[-1]}"
    create = "" if any(generation.takes_writes for generation in found) else "siteglass index create; "
    return f"{create}siteglass index load FILE; siteglass index promote NAME"


# --- this machine ---------------------------------------------------------------------------------


async def _test_leads(patient: Patient) -> Finding:
    sandbox = patient.index.sandbox()
    live = next((g for g in await generations.status(sandbox) if g.live), None)
    if live is None:
        return Finding("ok", "none, so test keys get 503; `siteglass index test-leads` makes them")
    return Finding("ok", f"{live.documents:,} for test keys")


async def _lead_store(patient: Patient) -> Finding:
    folder = patient.settings.lead_store
    if not folder.exists():
        return Finding("warning", f"{folder} is not there yet", f"mkdir -p {folder}, or set {variable('lead_store')}")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        mend = f"chmod u+rwx {folder}, or set {variable('lead_store')} to a folder of yours"
        return Finding("wrong", f"{folder} is no folder that can be written to", mend)
    return Finding("ok", f"{folder} can be written to")


async def _mail(patient: Patient) -> Finding:
    settings = patient.settings
    try:
        mailer = open_mailer(settings)
    except SettingsError as error:
        found, _, _ = str(error).partition(": ")
        return Finding("wrong", str(error).rstrip("."), f"set {found}; docs/guides/opt-out.md says how")
    if mailer is None:
        found = "none can be sent: people can opt out with a domain, not with an address"
        return Finding("warning", found, f"set {variable('mail_url')} and {variable('mail_from')}")
    try:
        await mailer.check()
    except MailError as error:
        return Finding("wrong", f"not taken: {error}", f"start its server, or set {variable('mail_url')}")
    finally:
        mailer.close()
    return Finding("ok", f"taken by {mailer.place}")


async def _dashboard(patient: Patient) -> Finding:
    settings = patient.settings
    if not settings.dashboard_secrets:
        return Finding("ok", f"not served; {variable('dashboard_secrets')} lets people sign in")
    try:
        Secrecy(settings.dashboard_secrets)
    except SettingsError as error:
        return Finding("wrong", str(error).rstrip("."), f"set {variable('dashboard_secrets')}")
    address = public_url(settings)
    if not settings.mail_url:
        found = f"{address}/dashboard, but nobody can be invited: no mail can be sent"
        return Finding("warning", found, f"set {variable('mail_url')} and {variable('mail_from')}")
    if urlsplit(address).scheme != "https" and urlsplit(address).hostname not in ("127.0.0.1", "::1", "localhost"):
        found = f"{address}/dashboard is not https: browsers keep nobody signed in"
        return Finding("warning", found, f"put a proxy with TLS before it, and set {variable('public_url')}")
    return Finding("ok", f"{address}/dashboard")


async def _port(patient: Patient) -> Finding:
    settings = patient.settings
    match await listener(settings):
        case "nobody":
            return Finding(
                "ok", f"{settings.port} is free; `{patient.make_all or 'siteglass serve'}` starts the service"
            )
        case "siteglass":
            return Finding("ok", f"the service answers at {url(settings)} and is ready")
        case "siteglass, not ready":
            return Finding("warning", f"the service answers at {url(settings)}, not ready", "mend what is wrong above")
    try:
        require_free_port(settings)
    except SettingsError as error:
        found, _, mend = str(error).partition(". ")
        return Finding("wrong", found, mend)
    return Finding("ok", f"{settings.port} is free again")


CHECKS = (
    Check("cursor secrets", _cursor_secrets),
    Check("key secrets", _key_secrets),
    Check("opt-out secret", _suppression_secret),
    Check("python", _python),
    Check("postgresql", _postgresql),
    Check("tables", _tables, needs=("postgresql",)),
    Check("durability", _durability, needs=("postgresql",)),
    Check("clock", _clock, needs=("postgresql",)),
    Check("accounts", _accounts, needs=("tables", "key secrets")),
    Check("opt-outs", _opt_outs, needs=("tables", "opt-out secret")),
    Check("redis", _redis),
    Check("opensearch", _opensearch),
    Check("shards", _shards, needs=("opensearch",)),
    Check("disk", _disk, needs=("opensearch",)),
    Check("leads", _leads, needs=("opensearch",)),
    Check("test leads", _test_leads, needs=("opensearch",)),
    Check("lead store", _lead_store),
    Check("mail", _mail),
    Check("dashboard", _dashboard),
    Check("port", _port),
)
