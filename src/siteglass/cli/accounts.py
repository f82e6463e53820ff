"""Operator commands on accounts: account, key, plan, credits, audit, migrate. Each calls one function."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import click

from siteglass.settings import load_settings

if TYPE_CHECKING:
    from siteglass.platform.postgres import Postgres

TIMEOUT_MS = 5_000
Result = TypeVar("Result")

_amount = click.IntRange(0, 1_000_000_000_000)
_cap = click.IntRange(0, 1_000_000_000_000)
_rate = click.FloatRange(0, 1_000_000, min_open=True)
_burst = click.IntRange(1, 1_000_000)


def run(action: Callable[[Postgres], Awaitable[Result]]) -> Result:
    """Run a function with the database of the settings, and more time than a request has."""
    from siteglass.platform.backends import open_backends

    settings = load_settings()
    patient = replace(settings, postgres_timeout_ms=max(settings.postgres_timeout_ms, TIMEOUT_MS))

    async def run() -> Result:
        async with open_backends(patient) as backends:
            return await action(backends.postgres)

    return asyncio.run(run())


def actor() -> str:
    """The user who runs this command, for the audit log."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return f"uid {os.getuid()}"


def _day(time: datetime | None) -> str:
    return "never" if time is None else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


@click.command()
def migrate() -> None:
    """Create or upgrade tables and functions; safe to run again."""
    from siteglass.platform import schema

    settings = load_settings()
    asyncio.run(schema.migrate(settings.postgres_owner_dsn, settings.postgres_schema, settings.postgres_dsn))
    click.echo(f"Tables and functions in schema {settings.postgres_schema} are up to date ({schema.HEAD}).")


@click.group()
def account() -> None:
    """Create, list, change, suspend, close and export accounts."""


@account.command("create")
@click.argument("name")
@click.option("--plan", default="standard", show_default=True)
def account_create(name: str, plan: str) -> None:
    """Create an account with an empty balance."""
    from siteglass.access import accounts

    number = run(lambda postgres: accounts.create_account(postgres, name, plan, actor=actor()))
    click.echo(f"Account {number} ({name}, plan {plan}) was created, with no credits and no key. Next:")
    click.echo(f"  siteglass credits grant {number} --api 1000 --lead 1000")
    click.echo(f"  siteglass key create {number}")


@account.command("list")
@click.option("--after", default=0, help="Show entries after this number, at most 1,000 at once.")
def account_list(after: int) -> None:
    """List the accounts with their balances."""
    from siteglass.access import accounts

    found = run(lambda postgres: accounts.list_accounts(postgres, after))
    if not found:
        click.echo("No account. Make one: siteglass account create NAME")
    for a in found:
        state = "" if a.state == "active" else f"  {a.state}" + (f": {a.state_reason}" if a.state_reason else "")
        click.echo(
            f"{a.id}  {a.name}  plan {a.plan}  {a.api} API and {a.lead} lead credits  since {_day(a.created_at)}{state}"
        )


@account.command("set")
@click.argument("account_id", type=int)
@click.option("--name", help="Another name.")
@click.option("--plan", help="Another plan; workers follow within 1 s.")
def account_set(account_id: int, name: str | None, plan: str | None) -> None:
    """Give an account another name, another plan or both."""
    from siteglass.access import lifecycle

    if name is None and plan is None:
        raise click.UsageError("Pass --name, --plan or both.")
    run(lambda postgres: lifecycle.change_account(postgres, account_id, name=name, plan=plan, actor=actor()))
    click.echo(f"Account {account_id} was changed.")


_reason = click.option(
    "--reason", required=True, help="Why; people and callers of the account see it. Must not contain contact data."
)


@account.command("suspend")
@click.argument("account_id", type=int)
@_reason
def account_suspend(account_id: int, reason: str) -> None:
    """Refuse an account everything but its balance, usage and ledger, and charge it nothing. Ends with `resume`."""
    from siteglass.access import lifecycle

    run(lambda postgres: lifecycle.suspend(postgres, account_id, reason, actor=actor()))
    click.echo(f"Account {account_id} is suspended: it is not charged from now on, and every worker refuses it in 1 s.")


@account.command("resume")
@click.argument("account_id", type=int)
def account_resume(account_id: int) -> None:
    """End a suspension, or open a closed account again before its data is removed."""
    from siteglass.access import lifecycle

    run(lambda postgres: lifecycle.resume(postgres, account_id, actor=actor()))
    click.echo(f"Account {account_id} is active. Revoked keys stay revoked: siteglass key list {account_id}")


@account.command("close")
@click.argument("account_id", type=int)
@_reason
def account_close(account_id: int, reason: str) -> None:
    """Close an account: its keys, sessions and invitations end now, and its data is removed later.

    SITEGLASS_CLOSED_ACCOUNT_DAYS says when. Its ledger and audit log stay.
    """
    from siteglass.access import lifecycle

    run(lambda postgres: lifecycle.close(postgres, account_id, reason, actor=actor()))
    click.echo(f"Account {account_id} is closed. Its data is removed in {load_settings().closed_account_days} days:")
    click.echo(f"  siteglass account export {account_id} FILE")


@account.command("export")
@click.argument("account_id", type=int)
@click.argument("file", type=click.File("xb"))
def account_export(account_id: int, file: BinaryIO) -> None:
    """Write all that an account has to a new file, one JSON object per line.

    That is people, keys, lists, saved searches, ledger and audit log. It has no contents of leads.
    """
    from siteglass.access import lifecycle

    os.fchmod(file.fileno(), 0o600)
    lines = run(lambda postgres: lifecycle.export(postgres, account_id, file.write))
    click.echo(f"{lines} lines were written to {file.name}. They contain personal data: keep them safe.")


@click.group()
def key() -> None:
    """Create, list, rotate, restrict and revoke API keys."""


@key.command("create")
@click.argument("account_id", type=int)
@click.option("--name", default="default", show_default=True, help="To tell keys apart.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["search", "enrich", "account"]),
    help="A scope of the key; repeat for several. Default: all scopes.",
)
@click.option("--expires-in-days", type=click.FloatRange(0, 36_500, min_open=True), help="Expires after this time.")
@click.option("--daily-api-cap", type=_cap, help="Maximum API credits per day (UTC).")
@click.option("--daily-lead-cap", type=_cap, help="Maximum lead credits per day (UTC).")
@click.option(
    "--rate", type=_rate, help="Requests per second for this key, in addition to the plan's limit; needs --burst."
)
@click.option("--burst", type=_burst, help="Burst size for this key, in addition to the plan's limit; needs --rate.")
@click.option(
    "--allow-network",
    "networks",
    multiple=True,
    metavar="CIDR",
    help="Address or network that may use the key; repeat for several. Default: any.",
)
@click.option("--test", is_flag=True, help="Create a test key: it finds made-up leads and is free of charge.")
def key_create(
    account_id: int,
    name: str,
    scopes: tuple[str, ...],
    expires_in_days: float | None,
    daily_api_cap: int | None,
    daily_lead_cap: int | None,
    rate: float | None,
    burst: int | None,
    networks: tuple[str, ...],
    test: bool,
) -> None:
    """Create a key and show it once. Only the key itself goes to standard output."""
    from siteglass.access import keys
    from siteglass.access.networks import read_networks

    if (rate is None) != (burst is None):
        raise click.UsageError("--rate and --burst must be used together.")
    expires_at = None if expires_in_days is None else datetime.now(UTC) + timedelta(days=expires_in_days)
    allowed = read_networks(networks) if networks else None
    limits = keys.KeyLimits(expires_at, daily_api_cap, daily_lead_cap, rate, burst, allowed)
    secrets = load_settings().key_secrets
    number, made = run(
        lambda postgres: keys.create_key(
            postgres, secrets, account_id, name, scopes or keys.SCOPES, limits, actor=actor(), test=test
        )
    )
    click.echo(f"Key {number} of account {account_id}. Store it now, it cannot be shown again:", err=True)
    click.echo(made)
    click.echo(f"Send it in the X-API-Key header. To revoke it: siteglass key revoke {number}", err=True)


@key.command("rotate")
@click.argument("key_id", type=int)
@click.option(
    "--overlap-hours",
    default=24.0,
    show_default=True,
    type=click.FloatRange(0, 7 * 24),
    help="How long the old key still works; 0 revokes it now. Never extends its expiry.",
)
def key_rotate(key_id: int, overlap_hours: float) -> None:
    """Replace a key with a new one that has the same settings; the old one stops working after the overlap.

    The new key alone goes to standard output. Both share the daily caps and the rate of the old one.
    """
    from siteglass.access.rotation import rotate_key

    secrets, overlap = load_settings().key_secrets, timedelta(hours=overlap_hours)
    number, made = run(lambda postgres: rotate_key(postgres, secrets, key_id, overlap, actor()))
    click.echo(f"Key {number} replaces key {key_id}. Store it now, it cannot be shown again:", err=True)
    click.echo(made)
    ends = f"in {overlap_hours:g} hours at the latest" if overlap_hours else "now"
    click.echo(f"Key {key_id} stops working {ends}. To revoke it sooner: siteglass key revoke {key_id}", err=True)


@key.command("allow")
@click.argument("key_id", type=int)
@click.argument("networks", metavar="[CIDR]...", nargs=-1)
@click.option("--any", "anywhere", is_flag=True, help="From anywhere again.")
def key_allow(key_id: int, networks: tuple[str, ...], anywhere: bool) -> None:
    """Allow a key only from these addresses and networks; replaces the previous list."""
    from siteglass.access import keys
    from siteglass.access.networks import read_networks

    if bool(networks) == anywhere:
        raise click.UsageError("Pass networks, or --any.")
    allowed = None if anywhere else read_networks(networks)
    run(lambda postgres: keys.allow_networks(postgres, key_id, allowed, actor()))
    where = "anywhere" if allowed is None else ", ".join(map(str, allowed))
    click.echo(f"Key {key_id} may be used from {where}. Workers follow within 1 s.")


@key.command("list")
@click.argument("account_id", type=int)
def key_list(account_id: int) -> None:
    """List the keys of an account."""
    from siteglass.access import keys
    from siteglass.billing import credits

    async def listed(postgres: Postgres) -> list[keys.KeyRow]:
        await credits.Billing(postgres).balance(account_id)  # raises if there is no such account
        return await keys.list_keys(postgres, account_id)

    found = run(listed)
    if not found:
        click.echo(f"No key. Make one: siteglass key create {account_id}")
    for k in found:
        state = f"revoked {_day(k.revoked_at)}" if k.revoked_at else f"expires {_day(k.expires_at)}"
        caps = [f"{cap} {kind} a day" for cap, kind in ((k.daily_api_cap, "API"), (k.daily_lead_cap, "lead")) if cap]
        rotated = [f"rotated to key {k.rotated_to}"] if k.rotated_to else []
        networks = [f"from {', '.join(map(str, k.allowed_networks))}"] if k.allowed_networks else []
        used = f"last used {_day(k.last_used_at)}"
        parts = [",".join(k.scopes), state, *rotated, used, *caps, *networks, f"secret {k.secret_version}"]
        click.echo("  ".join([f"{k.id}  {k.shown}  {k.name}", *parts]))


@key.command("revoke")
@click.argument("key_id", type=int)
def key_revoke(key_id: int) -> None:
    """Revoke a key permanently."""
    from siteglass.access import keys

    run(lambda postgres: keys.revoke_key(postgres, key_id, actor()))
    click.echo(f"Key {key_id} was revoked: it is not charged from now on, and every worker refuses it within 1 s.")


@click.group()
def plan() -> None:
    """List, create and change plans."""


@plan.command("list")
def plan_list() -> None:
    """List the plans."""
    from siteglass.access import accounts

    for p in run(accounts.list_plans):
        caps = f"a day and key: {p.daily_api_cap or 'any'} API, {p.daily_lead_cap or 'any'} lead"
        price = f"{p.api_price_micros / 1e6:g} {p.currency} an API, {p.lead_price_micros / 1e6:g} a lead credit"
        again = f"  a lead is free for {p.rebill_after_hours} h once paid" if p.rebill_after_hours else ""
        many = "any number of" if p.preview_leads_per_day == accounts.ANY_NUMBER else p.preview_leads_per_day
        preview = f"  preview {p.preview}, {many} new leads a day"
        internal = "  internal" if p.is_internal else ""
        click.echo(f"{p.name}  {p.rate_per_s:g} a second, burst {p.burst}  {caps}  {price}{again}{preview}{internal}")


@plan.command("set")
@click.argument("name")
@click.option("--rate", "rate_per_s", type=_rate, help="Requests per second for an account.")
@click.option("--burst", type=_burst, help="Burst size for an account.")
@click.option("--daily-api-cap", type=_cap, help="Maximum API credits that a key may spend per day (UTC).")
@click.option("--daily-lead-cap", type=_cap, help="Maximum lead credits that a key may spend per day (UTC).")
@click.option("--api-price-micros", type=_amount, help="Price of an API credit in millionths of the currency.")
@click.option("--lead-price-micros", type=_amount, help="Price of a lead credit in millionths of the currency.")
@click.option("--currency", help="Three capital letters.")
@click.option(
    "--rebill-after-hours",
    type=click.IntRange(0, 87_600),
    help="A lead that was paid for within this time is free; 0 charges it each time.",
)
@click.option(
    "--preview",
    type=click.Choice(("off", "masked", "named")),
    help="What a search in the browser shows of leads that cost something: nothing, facts without names, or also "
    "name, domain and title.",
)
@click.option(
    "--preview-leads-per-day",
    type=click.IntRange(0, 100_000),
    help="Maximum number of new leads that an account sees per day (UTC) before it gets them. New ones were not seen "
    "for 30 days. 100000: any number.",
)
@click.option(
    "--internal/--no-internal",
    "is_internal",
    default=None,
    help="For accounts within your company: pages don't mention credits. Prices must be 0.",
)
@click.option("--watches", type=click.IntRange(0, 10_000), help="Maximum number of watches of an account.")
def plan_set(name: str, **given: float | int | str | None) -> None:
    """Create a plan, or change it for all its accounts; omitted values stay as they are, or as in the standard plan."""
    from siteglass.access import accounts

    async def change(postgres: Postgres) -> accounts.Plan:
        plans = {p.name: p for p in await accounts.list_plans(postgres)}
        start = plans.get(name) or plans["standard"]
        values: dict[str, object] = {option: value for option, value in given.items() if value is not None}
        if values.get("rebill_after_hours") == 0:
            values["rebill_after_hours"] = None
        changed = replace(start, name=name, **values)  # type: ignore[arg-type]  # click has read them by these types
        await accounts.set_plan(postgres, changed, actor=actor())
        return changed

    p = run(change)
    click.echo(f"Plan {name}: {p.rate_per_s:g} a second, burst {p.burst}. Workers follow within 1 s.")


@click.command()
@click.argument("account_id", type=int, required=False)
@click.option("--after", type=int, help="Show entries after this number, at most 1,000 at once. Default: the newest.")
def audit(account_id: int | None, after: int | None) -> None:
    """Show who changed accounts, plans, keys and credits, for all accounts or one; newest last."""
    from siteglass.access import audit as log
    from siteglass.billing import credits

    async def listed(postgres: Postgres) -> list[log.AuditRow]:
        if account_id is not None:
            await credits.Billing(postgres).balance(account_id)  # every account has one: raises for an unknown number
        return await log.list_audit(postgres, account_id, after)

    for row in run(listed):
        about = [
            f"{what} {number}"
            for what, number in (("account", row.account_id), ("key", row.key_id), ("ledger row", row.entry_seq))
            if number is not None
        ]
        details = [json.dumps(row.details)] if row.details else []
        when = f"{row.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        click.echo("  ".join([str(row.id), when, f"{row.actor_kind} {row.actor_id}", row.action, *about, *details]))


COMMANDS = (migrate, account, key, plan, audit)
