"""Operator commands on people who sign in to the dashboard: invite, list, delete."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from siteglass.cli.accounts import actor, run
from siteglass.settings import Settings, SettingsError, load_settings, variable

if TYPE_CHECKING:
    from siteglass.people.sign_in import SignIn
    from siteglass.platform.backends import Backends
    from siteglass.platform.mailer import Mailer

MAX_LISTED = 1_000


@asynccontextmanager
async def _signing_in(settings: Settings, mailer: Mailer | None) -> AsyncIterator[tuple[Backends, SignIn]]:
    """Sign-in as the service has it; waits for the mails that are sent meanwhile."""
    from siteglass.people.passwords import Passwords
    from siteglass.people.secrecy import Secrecy
    from siteglass.people.sign_in import SignIn
    from siteglass.platform.backends import open_backends
    from siteglass.web.served import reachable_url

    async with open_backends(replace(settings, public_url=await reachable_url(settings))) as backends:
        sign_in = SignIn(backends, Secrecy(settings.dashboard_secrets), Passwords(), mailer)
        try:
            yield backends, sign_in
        finally:
            await sign_in.close()


@click.group()
def person() -> None:
    """People who sign in to the dashboard."""


@person.command("invite")
@click.argument("account_id", type=int)
@click.argument("email")
@click.option("--role", type=click.Choice(["viewer", "member", "owner"]), default="owner", show_default=True)
def person_invite(account_id: int, email: str, role: str) -> None:
    """Email somebody an invitation to an account, and print its link. Use it to add the first owner."""
    from siteglass.access.accounts import list_accounts
    from siteglass.people.problems import PeopleError
    from siteglass.platform.mailer import open_mailer

    settings = load_settings()
    mailer = open_mailer(settings)
    if not settings.dashboard_secrets:
        raise SettingsError(f"{variable('dashboard_secrets')} is not set: the dashboard is not served without it.")

    async def invite() -> str:
        async with _signing_in(settings, mailer) as (backends, sign_in):
            found = await list_accounts(backends.postgres, account_id - 1)
            if not found or found[0].id != account_id:
                raise PeopleError(f"There is no account {account_id}. `siteglass account list` lists the accounts.")
            if found[0].state in ("closed", "erased"):
                raise PeopleError(f"Account {account_id} is closed: nobody can join it.")
            return await sign_in.invite(email, role, account_id, found[0].name, ("operator", actor()))

    click.echo(asyncio.run(invite()))
    if mailer is None:
        click.echo(f"No mail was sent: {variable('mail_url')} is not set. Give the link to {email}.", err=True)
    else:
        mailer.close()
        click.echo(f"Emailed to {email} through {mailer.place}.", err=True)
    click.echo("The link works once and is valid for seven days.", err=True)


@person.command("list")
@click.argument("account_id", type=int)
def person_list(account_id: int) -> None:
    """List the people of an account."""
    from siteglass.people.members import members_page

    page = run(lambda postgres: members_page(postgres, account_id, 1, size=MAX_LISTED))
    for one in page.members if page else ():
        second = "two-step" if one.has_second_factor else "password only"
        click.echo(f"{one.person_id}  {one.email}  {one.name}  {one.role}  {second}")


@person.command("delete")
@click.argument("email")
def person_delete(email: str) -> None:
    """Delete a person permanently from all accounts; the audit log keeps what they did under a number."""
    from siteglass.people import people

    address = people.clean_email(email)
    run(lambda postgres: people.delete(postgres, address, actor()))
    click.echo(f"{address} was deleted and signed out everywhere.")


@person.command("second-factor-off")
@click.argument("email")
def person_second_factor_off(email: str) -> None:
    """Let a person who lost their phone and recovery codes sign in with the password alone. Verify their identity
    first; they are told by email. An operator also loses that role; `siteglass operator add` gives it back."""
    from siteglass.people import people
    from siteglass.people.problems import PeopleError
    from siteglass.platform.mailer import open_mailer

    address, settings = people.clean_email(email), load_settings()
    mailer = open_mailer(settings)

    async def take_off() -> bool:
        async with _signing_in(settings, mailer) as (backends, sign_in):
            known = await people.find(backends.postgres, address)
            if known is None:
                raise PeopleError(
                    "There is no such person. `siteglass person list ACCOUNT` lists the people of an account."
                )
            done = await sign_in.factors.take_off(known.id, actor())
            if done:
                # Else nobody would notice that somebody else talked the operator into it.
                sign_in.tell_of_factor(address, "off")
            return done

    done = asyncio.run(take_off())
    if mailer is not None:
        mailer.close()
    click.echo(f"{address} can now sign in with the password alone." if done else f"{address} had no second factor.")
