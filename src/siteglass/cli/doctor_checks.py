"""What a service with these settings is missing: one finding per check, each with a fix.

One table lists the checks in the order of the report. Each has a deadline. A failed check does not stop the others, but
those that need it are skipped.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from siteglass.access.keys import key_secrets
from siteglass.billing.roots import RootError, open_root_keys, read_file
from siteglass.cli.engine_checks import (
    check_accounts,
    check_clock,
    check_cluster_settings,
    check_disk,
    check_durability,
    check_leads,
    check_ledger,
    check_opensearch,
    check_opt_outs,
    check_postgresql,
    check_redis,
    check_shards,
    check_tables,
    check_test_leads,
)
from siteglass.cli.findings import DEADLINE_S, Check, Finding, Patient, State
from siteglass.cli.production_checks import PRODUCTION_CHECKS
from siteglass.errors import Unavailable
from siteglass.people.secrecy import Secrecy
from siteglass.platform.backends import open_backends
from siteglass.platform.mailer import MailError, open_mailer
from siteglass.query.cursor import CursorSealer
from siteglass.settings import Settings, SettingsError, variable
from siteglass.suppression.values import Hasher
from siteglass.web.address import listener, public_url, require_free_port, url
from siteglass.web.served import RUNNING_S, has_port, noted_addresses

ROOT_MAX_AGE = timedelta(days=2)


async def examine(
    settings: Settings, make_all: str | None = None, *, production: bool = False
) -> AsyncIterator[Finding]:
    """Every check of the table, as soon as it is made; with `production`, those of the checklist, too."""
    states: dict[str, State] = {}
    async with open_backends(settings) as backends:
        patient = Patient(backends, make_all)
        for check in (*CHECKS, *(PRODUCTION_CHECKS if production else ())):
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
            "wrong", f"no response within {DEADLINE_S:g} s", "run `siteglass doctor` again; is the machine busy?"
        )
    except Exception as error:  # whatever it is, the next check is still worth its answer
        reason = error.reason if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"
        return Finding("wrong", reason, "run `siteglass doctor` again; if it persists, report it")


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
    needed = importlib.metadata.metadata("siteglass-server")["Requires-Python"]
    return Finding("ok", f"{platform.python_version()} (needs {needed})")


# --- this machine ---------------------------------------------------------------------------------


async def _lead_store(patient: Patient) -> Finding:
    folder = patient.settings.lead_store
    if not folder.exists():
        return Finding("warning", f"{folder} does not exist yet", f"mkdir -p {folder}, or set {variable('lead_store')}")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        mend = f"chmod u+rwx {folder}, or set {variable('lead_store')} to a folder that you can write to"
        return Finding("wrong", f"{folder} is not a writable folder", mend)
    return Finding("ok", f"{folder} is writable")


async def _roots(patient: Patient) -> Finding:
    name = variable("root_file")
    try:
        keys = open_root_keys(patient.settings)
    except SettingsError as error:
        return Finding("wrong", str(error).rstrip("."), f"set {variable('root_keys')} and {name}, or neither")
    if keys is None:
        return Finding("ok", f"none are signed; with {name}, a rewritten ledger or audit log is found")
    path = Path(patient.settings.root_file)
    try:
        roots = await asyncio.to_thread(read_file, keys, path)
    except (OSError, RootError) as error:
        return Finding("wrong", f"{path}: {error}", f"siteglass credits verify --against {path}")
    if not roots:
        return Finding("warning", f"{path} has none yet", "run the service: its workers write the first one")
    age = datetime.now(UTC) - datetime.fromisoformat(roots[-1].at)
    if age > ROOT_MAX_AGE:
        found = f"{path}: the newest root is {age / timedelta(hours=1):.0f} hours old"
        return Finding("wrong", found, "docs/runbooks/postgresql.md#siteglassrootold says what to do")
    return Finding("ok", f"{len(roots)} in {path}; public key {keys.public}")


async def _mail(patient: Patient) -> Finding:
    settings = patient.settings
    try:
        mailer = open_mailer(settings)
    except SettingsError as error:
        found, _, _ = str(error).partition(": ")
        return Finding("wrong", str(error).rstrip("."), f"set {found}; docs/guides/opt-out.md says how")
    if mailer is None:
        found = "email is not configured: people can opt out with a domain, but not with an email address"
        return Finding("warning", found, f"set {variable('mail_url')} and {variable('mail_from')}")
    try:
        await mailer.check()
    except MailError as error:
        return Finding("wrong", f"rejected: {error}", f"start its server, or set {variable('mail_url')}")
    finally:
        mailer.close()
    return Finding("ok", f"accepted by {mailer.place}")


async def _dashboard(patient: Patient) -> Finding:
    settings = patient.settings
    if not settings.dashboard_secrets:
        return Finding("ok", f"not served; set {variable('dashboard_secrets')} to let people sign in")
    try:
        Secrecy(settings.dashboard_secrets)
    except SettingsError as error:
        return Finding("wrong", str(error).rstrip("."), f"set {variable('dashboard_secrets')}")
    address = public_url(settings)
    if not settings.mail_url:
        found = f"{address}/dashboard, but email is not configured: only `siteglass person invite` can invite people"
        return Finding("warning", found, f"set {variable('mail_url')} and {variable('mail_from')}")
    if urlsplit(address).scheme != "https" and urlsplit(address).hostname not in ("127.0.0.1", "::1", "localhost"):
        found = f"{address}/dashboard does not use https, so browsers will not keep people signed in"
        return Finding("warning", found, f"put a proxy with TLS in front of it, and set {variable('public_url')}")
    return Finding("ok", f"{address}/dashboard")


async def _port(patient: Patient) -> Finding:
    settings = patient.settings
    answers = await listener(settings)
    if answers in ("siteglass", "siteglass, not ready"):
        running = await noted_addresses(settings, RUNNING_S)
        if running is not None and not has_port(running, settings.port):
            found = f"another Siteglass answers at {url(settings)}, with other settings"
            return Finding("wrong", found, f"stop it, or set {variable('port')} to a free port")
    match answers:
        case "nobody":
            return Finding(
                "ok", f"{settings.port} is free; `{patient.make_all or 'siteglass serve'}` starts the service"
            )
        case "siteglass":
            return Finding("ok", f"the service responds at {url(settings)} and is ready")
        case "siteglass, not ready":
            return Finding(
                "warning", f"the service responds at {url(settings)} but is not ready", "fix the problems above"
            )
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
    Check("postgresql", check_postgresql),
    Check("tables", check_tables, needs=("postgresql",)),
    Check("ledger", check_ledger, needs=("tables",)),
    Check("durability", check_durability, needs=("postgresql",)),
    Check("clock", check_clock, needs=("postgresql",)),
    Check("accounts", check_accounts, needs=("tables", "key secrets")),
    Check("opt-outs", check_opt_outs, needs=("tables", "opt-out secret")),
    Check("redis", check_redis),
    Check("opensearch", check_opensearch),
    Check("shards", check_shards, needs=("opensearch",)),
    Check("cluster setup", check_cluster_settings, needs=("opensearch",)),
    Check("disk", check_disk, needs=("opensearch",)),
    Check("leads", check_leads, needs=("opensearch",)),
    Check("test leads", check_test_leads, needs=("opensearch",)),
    Check("lead store", _lead_store),
    Check("roots", _roots),
    Check("mail", _mail),
    Check("dashboard", _dashboard),
    Check("port", _port),
)
