"""Operator commands on credits: grant, refund, adjust, balance, unconfirmed charges, verify."""

from __future__ import annotations

import sys
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from siteglass.cli.accounts import actor, run
from siteglass.settings import SettingsError, load_settings, variable

if TYPE_CHECKING:
    from siteglass.billing.credits import Balances
    from siteglass.billing.ledger import LedgerReport
    from siteglass.billing.roots import RootKeys
    from siteglass.platform.postgres import Postgres

MOST = 1_000_000_000_000

_amount = click.IntRange(0, MOST)
_change = click.IntRange(-MOST, MOST)
_reference = click.option(
    "--reference", help="An invoice or ticket, which can be used only once. Default: a new reference."
)
_reason = click.option("--reason", required=True, help="The reason, for the audit log. Must not contain contact data.")


def _left(account_id: int, left: Balances) -> str:
    return f"Account {account_id} has {left.api} API and {left.lead} lead credits (ledger row {left.seq})."


@click.group(name="credits")
def credits_() -> None:
    """Grant, refund, adjust, show, settle and verify credits."""


@credits_.command("grant")
@click.argument("account_id", type=int)
@click.option("--api", default=0, type=_amount, help="API credits.")
@click.option("--lead", default=0, type=_amount, help="Lead credits.")
@click.option(
    "--expires-in-days", type=click.FloatRange(0, 36_500, min_open=True), help="Unused credits expire after this time."
)
@_reference
def credits_grant(account_id: int, api: int, lead: int, expires_in_days: float | None, reference: str | None) -> None:
    """Grant credits to an account; without --reference, running it twice grants them twice."""
    from siteglass.billing import credits

    ends = None if expires_in_days is None else datetime.now(UTC) + timedelta(days=expires_in_days)
    named = reference or str(uuid.uuid4())
    left = run(lambda postgres: credits.grant(postgres, account_id, api, lead, actor(), named, ends))
    click.echo(_left(account_id, left))


@credits_.command("refund")
@click.argument("account_id", type=int)
@click.argument("row", type=int)
@click.option("--api", type=_amount, help="API credits.")
@click.option("--lead", type=_amount, help="Lead credits.")
@_reason
@_reference
def credits_refund(
    account_id: int, row: int, api: int | None, lead: int | None, reason: str, reference: str | None
) -> None:
    """Refund the charge in ledger row ROW: all that is left of it, or the given amounts; never more than it took."""
    from siteglass.billing import credits

    named = reference or str(uuid.uuid4())
    left = run(lambda postgres: credits.refund(postgres, account_id, row, api, lead, actor(), named, reason))
    click.echo(_left(account_id, left))


@credits_.command("adjust")
@click.argument("account_id", type=int)
@click.option("--api", default=0, type=_change, help="API credits; negative to remove.")
@click.option("--lead", default=0, type=_change, help="Lead credits; negative to remove.")
@_reason
@_reference
def credits_adjust(account_id: int, api: int, lead: int, reason: str, reference: str | None) -> None:
    """Correct a balance by hand; adds a row to the ledger and changes no other."""
    from siteglass.billing import credits

    named = reference or str(uuid.uuid4())
    left = run(lambda postgres: credits.adjust(postgres, account_id, api, lead, actor(), named, reason))
    click.echo(_left(account_id, left))


@credits_.command("balance")
@click.argument("account_id", type=int)
def credits_balance(account_id: int) -> None:
    """Show the balance of an account."""
    from siteglass.billing import credits

    click.echo(_left(account_id, run(lambda postgres: credits.Billing(postgres).balance(account_id))))


@credits_.command("in-doubt")
@click.argument("account_id", type=int, required=False)
def credits_in_doubt(account_id: int | None) -> None:
    """List charges whose callers got no response, for all accounts or one: a retry or `settle` ends the doubt."""
    from siteglass.billing import in_doubt

    charges = run(lambda postgres: in_doubt.list_in_doubt(postgres, account_id))
    for charge in charges:
        key = "no Idempotency-Key" if charge.idempotency_key is None else f"Idempotency-Key {charge.idempotency_key}"
        click.echo(
            f"account {charge.account_id}, row {charge.seq}, {charge.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC: "
            f"{charge.api} API and {charge.lead} lead credits, request {charge.request_id}, {key}"
        )
    click.echo(f"{len(charges)} charges are unconfirmed.")


@credits_.command("settle")
@click.argument("account_id", type=int)
@click.argument("key")
@click.option(
    "--give-back/--confirm", required=True, help="Refund the charge and forget its response, or keep the charge."
)
def credits_settle(account_id: int, key: str, give_back: bool) -> None:
    """End the doubt about a charge, by its Idempotency-Key or, if it has none, its request ID."""
    from siteglass.billing import in_doubt

    decision: Literal["confirm", "give back"] = "give back" if give_back else "confirm"
    row = run(lambda postgres: in_doubt.settle(postgres, account_id, key, decision, actor()))
    click.echo(f"The charge in row {row} of account {account_id} was {'given back' if give_back else 'confirmed'}.")


@credits_.command("verify")
@click.argument("account_id", type=int, required=False)
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of signed roots, best a copy on another machine: compare rows and audit log with it, too.",
)
def credits_verify(account_id: int | None, against: Path | None) -> None:
    """Verify every hash, number and sum in the ledger, for all accounts or one; exit code 1 if any is wrong.

    Only --against finds rows that were rewritten together with all hashes by somebody who owns the tables.
    """
    from siteglass.billing import ledger
    from siteglass.billing.heads import Evidence, compare
    from siteglass.platform.progress import progress

    keys = _root_keys() if against else None

    async def verify(postgres: Postgres) -> tuple[LedgerReport, Evidence | None]:
        evidence = await compare(postgres, keys, against) if keys and against else None
        with progress("rows", await ledger.count_rows(postgres, account_id)) as on_progress:
            seals = evidence.seals() if evidence else None
            return await ledger.verify(postgres, account_id, on_progress, seals), evidence

    found, evidence = run(verify)
    problems = list(evidence.problems) if evidence else []
    for problem in found.problems:
        place = "balance" if problem.seq is None else f"row {problem.seq}"
        problems.append(f"account {problem.account_id}, {place}: {problem.what}")
    for line in problems:
        click.echo(line, err=True)
    count = found.problem_count + (len(evidence.problems) if evidence else 0)
    compared = f" and compared with {len(evidence.roots)} roots" if evidence else ""
    click.echo(f"{found.entries} rows of {found.accounts} accounts read{compared}, {count} problems.")
    if count:
        click.echo(
            "Stop charging these accounts and compare them with a backup: the service itself never changes a row.",
            err=True,
        )
        sys.exit(1)


def _root_keys() -> RootKeys:
    from siteglass.billing.roots import open_root_keys

    keys = open_root_keys(load_settings())
    if keys is None:
        raise SettingsError(f"{variable('root_keys')} is not set: nothing shows who signed the roots.")
    return keys
