"""Operator commands on sign-in with a company's account: set, show, forget, remove."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from siteglass.cli.accounts import actor, run
from siteglass.settings import SettingsError, load_settings, variable

if TYPE_CHECKING:
    from siteglass.people.secrecy import Secrecy

MAX_SECRET_BYTES = 1_000


@click.group()
def sso() -> None:
    """Sign-in with a company's account (OpenID Connect)."""


def _secrecy() -> Secrecy:
    from siteglass.people.secrecy import Secrecy

    secrets = load_settings().dashboard_secrets
    if not secrets:
        raise SettingsError(f"{variable('dashboard_secrets')} is not set: the dashboard is not served without it.")
    return Secrecy(secrets)


@sso.command("set")
@click.argument("account_id", type=int)
@click.option("--issuer", required=True, help="Address of the provider, as its configuration names it.")
@click.option("--client-id", required=True, help="Our name at the provider.")
@click.option(
    "--client-secret", "secret_file", required=True, type=click.File("rb"), help="File with our secret there."
)
@click.option("--domain", required=True, help="Domain of the email addresses of these people.")
@click.option(
    "--group",
    "groups",
    multiple=True,
    required=True,
    metavar="NAME=ROLE",
    help="What members of a group may do: viewer, member or owner. Repeat for several.",
)
@click.option("--groups-claim", default="groups", show_default=True, help="Claim of the ID token that has the groups.")
@click.option("--scopes", default="openid email profile", show_default=True, help="What we ask the provider for.")
@click.option("--required", is_flag=True, help="Nobody enters the account with a password any more.")
def sso_set(
    account_id: int,
    issuer: str,
    client_id: str,
    secret_file: BinaryIO,
    domain: str,
    groups: tuple[str, ...],
    groups_claim: str,
    scopes: str,
    required: bool,
) -> None:
    """Let people of an account sign in with their company's account; ends the sessions that began so."""
    from siteglass.people import providers
    from siteglass.people.openid import OpenIdError, check_address
    from siteglass.people.people import ROLES

    roles = {name: role for name, _, role in (group.rpartition("=") for group in groups)}
    if not all(roles) or set(roles.values()) - {*ROLES}:
        raise click.UsageError(f"Pass --group as NAME=ROLE; a role is one of {', '.join(ROLES)}.")
    try:
        check_address(issuer)
    except OpenIdError as error:
        raise click.UsageError(f"--issuer: {error}") from None
    secret, secrecy = secret_file.read(MAX_SECRET_BYTES).decode().strip(), _secrecy()
    provider = providers.Provider(
        account_id, domain.strip().lower(), issuer, client_id, secret, scopes, groups_claim, roles, required
    )
    run(lambda postgres: providers.set_provider(postgres, secrecy, provider, actor=actor()))
    click.echo(f"People with addresses at {provider.email_domain} sign in to account {account_id} through {issuer}.")
    click.echo(f"Register this address there: {_address_back(account_id)}")


def _address_back(account_id: int) -> str:
    from siteglass.people.providers import CALLBACK
    from siteglass.web.address import public_url

    return f"{public_url(load_settings())}{CALLBACK}/{account_id}"


@sso.command("show")
@click.argument("account_id", type=int)
def sso_show(account_id: int) -> None:
    """Show how people of an account sign in with their company's account, without the secret."""
    from siteglass.people import providers

    secrecy = _secrecy()
    found = run(lambda postgres: providers.of_account(postgres, secrecy, account_id))
    if found is None:
        click.echo("With a password.")
        return
    roles = ", ".join(f"{group}={role}" for group, role in sorted(found.roles.items()))
    click.echo(f"{found.issuer}  client {found.client_id}  addresses at {found.email_domain}  {roles}")
    click.echo(f"scopes {found.scopes}  claim {found.groups_claim}  {'required' if found.required else 'not required'}")


@sso.command("forget")
@click.argument("account_id", type=int)
@click.argument("email")
def sso_forget(account_id: int, email: str) -> None:
    """Forget as whom the provider knows somebody, who has another identifier there now; ends their sessions."""
    from siteglass.people import people, providers

    run(lambda postgres: providers.forget_person(postgres, account_id, people.clean_email(email), actor=actor()))
    click.echo("At their next sign-in there, their address shows who they are.")


@sso.command("remove")
@click.argument("account_id", type=int)
def sso_remove(account_id: int) -> None:
    """Let people of an account sign in with a password only; ends the sessions that began at the provider."""
    from siteglass.people import providers

    run(lambda postgres: providers.remove_provider(postgres, account_id, actor=actor()))
    click.echo(f"People of account {account_id} sign in with a password: /dashboard/forgot sends a link to set one.")
