"""`sg login` and `sg completion`: what is set up once."""

from __future__ import annotations

import os
import sys

import click
from click.shell_completion import get_completion_class

from siteglass_client.cli.credentials import Credentials, store
from siteglass_client.cli.failures import WRONG_INPUT, Failure
from siteglass_client.cli.options import Session, common
from siteglass_client.cli.terminal import note
from siteglass_client.client import Siteglass

SHELLS = ("bash", "zsh", "fish")


@click.command()
@common
def login(session: Session) -> None:
    """Store the address and the key.

    They are tried first, and stored in a file that only you can read.
    """
    url = session.url or _asked("Address of the service", os.environ.get("SITEGLASS_URL"))
    key = session.key or _asked("API key (not shown)", None, hidden=True)
    with Siteglass(key, url, deadline_s=session.deadline_s) as client:
        told = client.account()
    path = store(Credentials(url.strip().rstrip("/"), key.strip()))
    note(f"Logged in as {told.account.name} with {told.balances.lead_credits:,} lead credits; stored in {path}.")
    for name in ("SITEGLASS_URL", "SITEGLASS_API_KEY"):
        if os.environ.get(name):
            note(f"{name} is set, and wins over what is stored.")


def _asked(what: str, default: str | None, *, hidden: bool = False) -> str:
    """What somebody types, or the next line of a pipe."""
    if sys.stdin.isatty():
        return str(click.prompt(what, default=default, hide_input=hidden, err=True))
    line = sys.stdin.readline().strip() or default
    if not line:
        raise Failure(f"{what}: nothing was given. Type it, or give --url and --key.", WRONG_INPUT)
    return line


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes `sg`.

    For example: eval "$(sg completion bash)"
    """
    made = get_completion_class(shell)
    if made is None:
        raise Failure(f"There is no completion for {shell}.", WRONG_INPUT)
    click.echo(made(context.find_root().command, {}, "sg", "_SG_COMPLETE").source())
