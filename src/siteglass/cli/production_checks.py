"""The checks of `siteglass doctor --production`: docs/guides/production-checklist.md, as far as a program can look.

Passwords are not looked for in settings: each engine is asked without one.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from siteglass.cli.findings import DEADLINE_MS, DEADLINE_S, Check, Finding, Patient
from siteglass.errors import Unavailable
from siteglass.platform.backup_info import newest_backups
from siteglass.platform.opensearch import EngineError, open_opensearch
from siteglass.platform.postgres_servers import Connector, Servers
from siteglass.settings import Settings, SettingsError, variable
from siteglass.suppression.journal import missing, open_journal
from siteglass.suppression.values import Hasher

GUIDE = "docs/guides/production-checklist.md"
BACKUP_MAX_AGE = timedelta(hours=26)
ARCHIVE_MAX_AGE = timedelta(minutes=15)
# Files and connections to engines, beside those of callers.
OTHER_FILES = 200
MIN_DISTINCT_CHARS = 12


def _is_here(address: str) -> bool:
    """Whether an address never leaves this machine."""
    hosts = urlsplit(address).netloc.rpartition("@")[2].split(",")
    names = [urlsplit(f"//{host}").hostname or "" for host in hosts]
    return all(name in ("", "localhost") or _is_loopback(name) for name in names)


def _is_loopback(name: str) -> bool:
    with contextlib.suppress(ValueError):
        return ip_address(name).is_loopback
    return False


async def _encryption(patient: Patient) -> Finding:
    settings = patient.settings
    row = await patient.backends.postgres.fetchrow(
        "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", timeout_ms=DEADLINE_MS
    )
    clear = [] if _is_here(settings.postgres_dsn) or (row is not None and row["ssl"]) else ["PostgreSQL"]
    if not _is_here(settings.redis_url) and urlsplit(settings.redis_url).scheme != "rediss":
        clear.append("Redis")
    if any(not _is_here(url) and urlsplit(url).scheme != "https" for url in settings.opensearch_urls):
        clear.append("OpenSearch")
    if clear:
        return Finding("wrong", f"{', '.join(clear)}: reached over the network without TLS", f"{GUIDE} says how")
    if not (_is_here(settings.postgres_dsn) or "sslmode=verify-full" in settings.postgres_dsn):
        found = "the certificate of PostgreSQL is not checked: somebody in between could read and change everything"
        return Finding("wrong", found, f"set {variable('postgres_ca')}")
    return Finding("ok", "every engine is reached with TLS, or on this machine")


async def _passwords(patient: Patient) -> Finding:
    settings = patient.settings
    asked = {"PostgreSQL": _postgres_lets_in, "Redis": _redis_lets_in, "OpenSearch": _opensearch_lets_in}
    if everybody := [name for name, lets_in in asked.items() if await lets_in(settings)]:
        found = f"{', '.join(everybody)}: lets in everybody who reaches it, without a password"
        return Finding("wrong", found, f"{GUIDE} says how")
    return Finding("ok", "no engine lets anybody in without one")


async def _postgres_lets_in(settings: Settings) -> bool:
    if settings.postgres_certificate:
        return False  # a certificate proves as much
    try:
        connection = await Connector(settings.postgres_dsn).connect(password="", timeout=DEADLINE_S / 4)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
        return False
    await connection.close()
    return True


async def _redis_lets_in(settings: Settings) -> bool:
    from redis.exceptions import RedisError

    from siteglass.access.limits import health

    try:
        await health.server(_without_login(settings.redis_url), DEADLINE_S / 4)
    except (RedisError, OSError):
        return False
    return True


async def _opensearch_lets_in(settings: Settings) -> bool:
    stranger = replace(settings, opensearch_urls=tuple(map(_without_login, settings.opensearch_urls)))
    client = open_opensearch(stranger)
    try:
        await client.request("GET", "/", timeout_ms=DEADLINE_MS // 4)
    except (EngineError, Unavailable, ssl.SSLError):
        return False
    finally:
        await client.close()
    return True


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


async def _secrets(patient: Patient) -> Finding:
    settings = patient.settings
    groups = {
        "cursor_secrets": settings.cursor_secrets,
        "key_secrets": settings.key_secrets,
        "suppression_secret": (settings.suppression_secret,),
        "dashboard_secrets": settings.dashboard_secrets,
    }
    simple = [variable(name) for name, found in groups.items() if any(len(set(s)) < MIN_DISTINCT_CHARS for s in found)]
    if simple:
        return Finding("wrong", f"{', '.join(simple)}: easy to guess", "make it with `openssl rand -hex 24`")
    every = [secret for found in groups.values() for secret in found]
    if len(set(every)) < len(every):
        return Finding("wrong", "two settings share a secret", "make a separate one for each: `openssl rand -hex 24`")
    return Finding("ok", f"{len(every)}, all different")


async def _backups(patient: Patient) -> Finding:
    row = await patient.backends.postgres.fetchrow(
        "SELECT current_setting('archive_mode') AS mode, last_archived_time AS archived, last_failed_time AS failed,"
        " clock_timestamp() AS now FROM pg_stat_archiver",
        timeout_ms=DEADLINE_MS,
    )
    assert row is not None  # noqa: S101 - the view has one row
    if row["mode"] == "off":
        return Finding("wrong", "PostgreSQL archives nothing", "deploy/postgresql/siteglass.conf has the settings")
    if row["archived"] is None or (row["failed"] is not None and row["failed"] > row["archived"]):
        return Finding("wrong", "archiving fails: the newest changes are in no backup", "see the log of PostgreSQL")
    if row["now"] - row["archived"] > ARCHIVE_MAX_AGE:
        found = f"nothing was archived since {row['archived'].astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        return Finding("warning", found, "set archive_timeout; deploy/postgresql/siteglass.conf has it")
    try:
        newest = _newest_backup(patient.settings)
    except (OSError, ValueError, KeyError, TypeError, SettingsError) as error:
        found = f"the age of the newest backup is not known ({error})"
        return Finding(
            "wrong", found, f"set {variable('backup_info')}; deploy/systemd/siteglass-backup.service writes it"
        )
    age = datetime.now(UTC) - newest
    if age > BACKUP_MAX_AGE:
        return Finding(
            "wrong", f"the newest backup is {age / timedelta(hours=1):.0f} hours old", "run one, see its log"
        )
    if _hosts(patient.settings.crawl_dsn) & _hosts(patient.settings.postgres_dsn):
        found = "contain the crawler's database too, which changes with each page and need not be backed up"
        return Finding("warning", found, f"set {variable('crawl_dsn')} to another server")
    return Finding("ok", f"the newest is {age / timedelta(hours=1):.1f} hours old; the archive is up to date")


def _hosts(dsn: str) -> set[str]:
    return set(Servers.read(dsn).places[:-1])  # the last one is the database


def _newest_backup(settings: Settings) -> datetime:
    """When the newest backup without an error was complete."""
    if not settings.backup_info:
        raise SettingsError(f"{variable('backup_info')} is not set")
    newest = newest_backups(Path(settings.backup_info))
    if not newest:
        raise ValueError("there is none")
    return max(newest.values())


async def _journal(patient: Patient) -> Finding:
    settings = patient.settings
    try:
        journal = open_journal(settings, Hasher(settings))
    except SettingsError as error:
        return Finding("wrong", str(error).rstrip("."), f"correct it, or set {variable('opt_out_journal')}")
    if journal is None:
        found = "a restored backup would bring back people who opted out since"
        return Finding("wrong", found, f"set {variable('opt_out_journal')}")
    # All of it, unlike a worker that starts: an entry that was lost long ago is noticed here.
    entries = await asyncio.to_thread(lambda: list(journal.read(journal.path))) if journal.path.exists() else []
    if lacking := await missing(patient.backends.postgres, entries):
        found = f"has {len(lacking)} entries that the database lacks, as after a restore"
        return Finding("wrong", found, "siteglass suppress replay")
    return Finding("ok", f"{journal.path}; the database has all of its {len(entries)} entries")


async def _public_address(patient: Patient) -> Finding:
    settings = patient.settings
    if settings.demo_networks:
        found = f"{', '.join(settings.demo_networks)} may enter by a demo's link, without a password"
        return Finding("wrong", found, f"remove {variable('demo_networks')}")
    if urlsplit(settings.public_url).scheme != "https":
        return Finding("wrong", f"{variable('public_url')} is not an https address", f"set {variable('public_url')}")
    if wide := list(_too_wide(settings.trusted_proxies)):
        found = f"{', '.join(wide)} is trusted as a proxy: callers could claim any address"
        return Finding("wrong", found, f"list the load balancers in {variable('trusted_proxies')}")
    return Finding("ok", f"{settings.public_url}; {len(settings.trusted_proxies)} proxies are trusted")


def _too_wide(networks: tuple[str, ...]) -> Iterator[str]:
    for network in networks:
        with contextlib.suppress(ValueError):
            if ip_network(network, strict=False).prefixlen == 0:
                yield network
        if network == "*":
            yield network


async def _outgoing(patient: Patient) -> Finding:
    name = variable("outgoing_allowed")
    if allowed := patient.settings.outgoing_allowed:
        found = f"the crawler may connect to {', '.join(allowed)}: strangers choose what it fetches"
        return Finding("wrong", found, f"remove {name}")
    return Finding("ok", "the crawler connects to public addresses only")


async def _metrics(patient: Patient) -> Finding:
    settings = patient.settings
    if not settings.metrics_port:
        return Finding("wrong", "not served, so nothing can raise an alert", f"set {variable('metrics_port')}")
    place = f"{settings.metrics_host}:{settings.metrics_port}"
    with contextlib.suppress(ValueError):  # a name
        address = ip_address(settings.metrics_host)
        if address.is_global:
            found = f"{place} is a public address, and metrics have no password"
            return Finding("wrong", found, f"set {variable('metrics_host')} to a private address")
        if address.is_unspecified:
            return Finding("ok", f"{place}, every address of this machine: let only the monitoring reach the port")
    return Finding("ok", place)


async def _open_files(patient: Patient) -> Finding:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = patient.settings.max_connections + OTHER_FILES
    if allowed < needed:
        found = f"this shell may open {allowed} files, a worker may need {needed}"
        return Finding("warning", found, f"ulimit -n {needed}, or LimitNOFILE= in the unit")
    return Finding("ok", f"{allowed} may be open, {needed} are needed")


PRODUCTION_CHECKS = (
    Check("encryption", _encryption, needs=("postgresql",)),
    # An engine that does not answer lets nobody in, which proves nothing.
    Check("passwords", _passwords, needs=("postgresql", "redis", "opensearch")),
    Check("secrets", _secrets),
    Check("backups", _backups, needs=("postgresql",)),
    Check("journal", _journal, needs=("tables", "opt-out secret")),
    Check("public address", _public_address),
    Check("outgoing", _outgoing),
    Check("metrics", _metrics),
    Check("open files", _open_files),
)
