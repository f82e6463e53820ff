"""The checks of `siteglass doctor` that ask PostgreSQL, Redis and OpenSearch."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

import asyncpg

from siteglass.access import health as postgres_condition
from siteglass.access.limits import health as redis_condition
from siteglass.billing.ledger_months import MAX_COUNTED, ledger_months
from siteglass.cli.findings import DEADLINE_MS, DEADLINE_S, GB, MAX_SKEW_S, OPT_OUT_OVERDUE, Finding, Patient
from siteglass.errors import Unavailable
from siteglass.index import cluster_settings, generations
from siteglass.index import health as index_condition
from siteglass.index.mapping import SCHEMA_VERSION
from siteglass.platform.opensearch import EngineError
from siteglass.platform.schema import HEAD, LEDGER_MONTHS_AHEAD, outdated
from siteglass.settings import host_and_port, variable
from siteglass.suppression import entries
from siteglass.suppression.values import Hasher


def _away(setting: str) -> str:
    return f"start it there, or set {variable(setting)}; `make up` starts one at the default address"


async def check_postgresql(patient: Patient) -> Finding:
    place = host_and_port(patient.settings.postgres_dsn)
    try:
        server = await postgres_condition.server(patient.backends.postgres, DEADLINE_MS // 2)
    except Unavailable as error:
        return Finding("wrong", f"no response from {place} ({error.reason})", _away("postgres_dsn"))
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return Finding("wrong", f"{place}: {error}", f"set {variable('postgres_dsn')} to an existing database and role")
    return Finding("ok", f"{server.version} at {place}")


async def check_tables(patient: Patient) -> Finding:
    schema = patient.settings.postgres_schema
    match await outdated(patient.backends.postgres):
        case None:
            return Finding("ok", f"schema {schema} has everything that this build needs ({HEAD})")
        case "tables":
            found = f"schema {schema} is missing tables that this build needs ({HEAD})"
        case "functions":
            found = f"the functions in schema {schema} are older than this build"
    return Finding("wrong", found, patient.make_all or "siteglass migrate")


async def check_ledger(patient: Patient) -> Finding:
    state = await ledger_months(patient.backends.postgres, datetime.now(UTC), DEADLINE_MS)
    mend = "run the service: its workers create and fill them; if they do not, their log says why"
    if state.missing:
        found = f"no partition for {', '.join(state.missing)}: charges of that time go to the default partition"
        return Finding("warning", found, mend)
    if state.stray_rows:
        count = f"{state.stray_rows:,}{' or more' if state.stray_rows == MAX_COUNTED else ''}"
        return Finding("warning", f"{count} rows are in the default partition", mend)
    return Finding("ok", f"every row is in the partition of its month; {LEDGER_MONTHS_AHEAD} months are ready")


async def check_durability(patient: Patient) -> Finding:
    server = await postgres_condition.server(patient.backends.postgres, DEADLINE_MS)
    if not server.not_durable:
        return Finding("ok", f"{', '.join(postgres_condition.DURABLE)} are on")
    found = ", ".join(f"{name} is off (set by: {source})" for name, source in server.not_durable.items())
    if "client" in server.not_durable.values():
        return Finding("wrong", f"{found}: a crash can lose charges", f"remove it from {variable('postgres_dsn')}")
    steps = [f"ALTER SYSTEM SET {name} = on;" for name in server.not_durable]
    mend = f"as superuser in psql: {' '.join(steps)} SELECT pg_reload_conf();"
    return Finding("wrong", f"{found}: a crash can lose charges", mend)


async def check_clock(patient: Patient) -> Finding:
    before = datetime.now(UTC)
    server = await postgres_condition.server(patient.backends.postgres, DEADLINE_MS)
    after = datetime.now(UTC)
    # The response was created somewhere in between: only a time outside this range is a difference.
    skew_s = max((server.now - after).total_seconds(), (before - server.now).total_seconds(), 0.0)
    if skew_s <= MAX_SKEW_S:
        return Finding("ok", f"the clocks of PostgreSQL and this machine agree within {max(skew_s, 0.001):.3f} s")
    found = (
        f"the clocks of PostgreSQL and this machine differ by {skew_s:.1f} s: keys and cursors expire at the wrong time"
    )
    return Finding("warning", found, "synchronise both with a time server, for example: timedatectl set-ntp true")


async def check_accounts(patient: Patient) -> Finding:
    found = await postgres_condition.callers(patient.backends.postgres, patient.settings.key_secrets, DEADLINE_MS)
    if not found.accounts:
        return Finding("wrong", "no account", patient.make_all or 'siteglass account create "First account"')
    newest = found.newest_account
    if not found.keys:
        others = found.keys_of_other_secrets
        why = f" ({others} need another secret in {variable('key_secrets')})" if others else ""
        mend = patient.make_all or f"siteglass key create {newest}"
        return Finding("wrong", f"{found.accounts} accounts, no usable key{why}", mend)
    if not found.keys_with_credits:
        mend = patient.make_all or f"siteglass credits grant {newest} --api 1000 --lead 1000"
        return Finding("warning", f"{found.accounts} accounts, none with a key has credits of both kinds", mend)
    older = found.keys_of_older_secret
    waiting = f", {older} of them not used since the newest secret was set" if older else ""
    return Finding("ok", f"{found.accounts}, usable keys: {found.keys}{waiting}")


async def check_opt_outs(patient: Patient) -> Finding:
    hasher = Hasher(patient.settings)
    found = await entries.condition(patient.backends.postgres, hasher, OPT_OUT_OVERDUE, timeout_ms=DEADLINE_MS)
    if not found.right_secret:
        told = f"{variable('suppression_secret')} differs from the secret that the opt-out list was created with"
        return Finding("wrong", told, "restore the original secret: with another one, nobody on the list is recognised")
    if found.overdue:
        told = f"{found.overdue:,} of {found.listed:,} entries are waiting to be applied again"
        return Finding("warning", told, "run the service: its workers do it; if they do not, their log says why")
    return Finding("ok", f"{found.listed:,} entries")


async def check_redis(patient: Patient) -> Finding:
    from redis.exceptions import RedisError

    settings = patient.settings
    place = host_and_port(settings.redis_url)
    try:
        server = await redis_condition.server(settings.redis_url, DEADLINE_S / 2)
    except (RedisError, OSError) as error:
        return Finding("wrong", f"no response from {place} ({type(error).__name__})", _away("redis_url"))
    except ValueError as error:
        return Finding(
            "wrong", f"{variable('redis_url')}: {error}", f"set {variable('redis_url')} to redis://host:port/0"
        )
    if server.answer_ms > settings.redis_timeout_ms:
        found = f"{server.version} at {place} took {server.answer_ms:.0f} ms: each worker applies the limits separately"
        return Finding("warning", found, f"use a closer Redis, or a larger {variable('redis_timeout_ms')}")
    return Finding("ok", f"{server.version} at {place}")


async def check_opensearch(patient: Patient) -> Finding:
    urls = patient.settings.opensearch_urls
    place = ", ".join(map(host_and_port, urls))
    try:
        cluster = await index_condition.cluster(patient.index, DEADLINE_MS // 2)
    except Unavailable as error:
        return Finding("wrong", f"no response from {place} ({error.reason})", _away("opensearch_urls"))
    except EngineError as error:
        return Finding(
            "wrong", f"{place} refused: {error}", f"set {variable('opensearch_urls')}; with a user, in the URL"
        )
    return Finding("ok", f"{cluster.version} at {place}, nodes: {cluster.nodes}")


async def check_shards(patient: Patient) -> Finding:
    cluster = await index_condition.cluster(patient.index, DEADLINE_MS)
    if cluster.health == "green":
        return Finding("ok", "all are there")
    node = urlsplit(patient.settings.opensearch_urls[0])
    user = "-u USER " if node.username else ""  # then curl asks for the password
    where = f"{node.scheme}://{host_and_port(node.geturl())}"
    why = f"curl {user}'{where}/_cluster/allocation/explain?pretty' says why"
    if cluster.health == "yellow":
        return Finding("warning", "replicas are missing: losing a node would lose leads", f"add a node; {why}")
    return Finding("wrong", "some are missing: searches fail", f"restore the lost node; {why}")


async def check_cluster_settings(patient: Patient) -> Finding:
    differs = [one for one in await cluster_settings.compare(patient.index) if not one.ok]
    if not differs:
        return Finding("ok", "as this build needs them")
    found = ", ".join(f"{one.name} is {one.found}" for one in differs[:3]) + (", ..." if len(differs) > 3 else "")
    return Finding("warning", found, "siteglass index settings --apply")


async def check_disk(patient: Patient) -> Finding:
    disk = await index_condition.disk(patient.index, DEADLINE_MS)
    if disk is None:
        return Finding("ok", "the cluster does not report it")
    found = f"{disk.free_bytes / GB:.1f} GB free on {disk.node}"
    mend = "free or add disk space; `siteglass index status` shows the size of each generation"
    if disk.free_bytes < disk.flood_bytes:
        limit = f"{found}, less than {disk.flood_bytes / GB:.1f} GB"
        if disk.enforced:
            return Finding("wrong", f"{limit}: its indices no longer accept writes", mend)
        return Finding("warning", f"{limit} (the watermarks are off)", mend)
    if disk.free_bytes < disk.low_bytes:
        return Finding(
            "warning", f"{found}, less than {disk.low_bytes / GB:.1f} GB: new indices cannot be allocated", mend
        )
    return Finding("ok", found)


async def check_leads(patient: Patient) -> Finding:
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


async def check_test_leads(patient: Patient) -> Finding:
    sandbox = patient.index.sandbox()
    live = next((g for g in await generations.status(sandbox) if g.live), None)
    if live is None:
        return Finding("ok", "none, so test keys get 503; `siteglass index test-leads` makes them")
    return Finding("ok", f"{live.documents:,} for test keys")
