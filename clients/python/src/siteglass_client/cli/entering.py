"""`sgl login`, `sgl logout` and `sgl completion`: what is set up once."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import click
from click.shell_completion import get_completion_class

from siteglass_client.cli.credentials import forget, store
from siteglass_client.cli.failures import NOT_AUTHORISED, WRONG_INPUT, Failure
from siteglass_client.cli.keyrings import Keyring
from siteglass_client.cli.options import Session, common
from siteglass_client.cli.terminal import note
from siteglass_client.errors import Unauthorized

SHELLS = ("bash", "zsh", "fish")


@click.command()
@common
@click.option("--keyring", "in_keyring", is_flag=True, help="Store the key in the system keyring instead of a file.")
def login(session: Session, in_keyring: bool) -> None:
    """Store the service URL and the API key.

    They are tried first, and stored in a file that only you can read; with --keyring the key is in no file.
    """
    keyring = Keyring() if in_keyring else None  # before somebody types a key in vain
    url = session.url or _asked("Service URL", os.environ.get("SITEGLASS_URL"))
    key = session.key or _asked("API key (not shown)", None, hidden=True)
    given = replace(session, url=url.strip().rstrip("/"), key=key.strip())
    with given.in_words(), given.connect() as client:
        try:
            told = client.account()
        except Unauthorized:
            raise Failure(
                f"{url} does not accept this key: it is wrong, expired or revoked. Nothing was stored. A key has 44 "
                "characters and starts with sg_live_ or sg_test_: copy all of it, then run `sgl login` again.",
                NOT_AUTHORISED,
            ) from None
    place = store(given.used, keyring)
    note(f"Logged in as {told.account.name} with {told.balances.lead_credits:,} lead credits; the key is in {place}.")
    _tell_what_wins()


@click.command()
def logout() -> None:
    """Remove the URL and the key that `sgl login` stored."""
    gone = forget()
    if gone is None:
        note("No key is stored.")
    else:
        url, place = gone
        note(f"Logged out of {url}: its key was removed from {place}. The key itself still works until it is revoked.")
    _tell_what_wins()


def _tell_what_wins() -> None:
    for name in ("SITEGLASS_URL", "SITEGLASS_API_KEY"):
        if os.environ.get(name):
            note(f"{name} is set and overrides the stored value.")


def _asked(what: str, default: str | None, *, hidden: bool = False) -> str:
    """What somebody types, or the next line of a pipe."""
    if sys.stdin.isatty():
        return str(click.prompt(what, default=default, hide_input=hidden, err=True))
    line = sys.stdin.readline().strip() or default
    if not line:
        raise Failure(
            f"{what}: nothing was given, and there is no terminal to ask on. Pass --url, and the key as a line on "
            "standard input; or set SITEGLASS_URL and SITEGLASS_API_KEY, which need no login.",
            WRONG_INPUT,
        )
    return line


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes `sgl`.

    For example: eval "$(sgl completion bash)"
    """
    made = get_completion_class(shell)
    if made is None:
        raise Failure(f"There is no completion for {shell}.", WRONG_INPUT)
    click.echo(made(context.find_root().command, {}, "sgl", "_SGL_COMPLETE").source())
