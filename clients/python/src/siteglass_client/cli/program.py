"""The program: its commands, and the one place where failures become lines and exit codes."""

from __future__ import annotations

import os
import sys

import click

from siteglass_client.cli.asking import account, evidence, usage, values
from siteglass_client.cli.enriching import enrich
from siteglass_client.cli.entering import completion, login, logout
from siteglass_client.cli.failures import INTERRUPTED, Failure, explained
from siteglass_client.cli.listing import list_
from siteglass_client.cli.saved import saved
from siteglass_client.cli.searching import count, diagnose, facets, interpret, search
from siteglass_client.cli.serving import mcp
from siteglass_client.cli.terminal import ReaderGone, note
from siteglass_client.cli.verifying import verify
from siteglass_client.cli.watching import watch
from siteglass_client.errors import SiteglassError
from siteglass_client.version import __version__


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, invoke_without_command=True
)
@click.version_option(__version__, prog_name="sgl")
@click.pass_context
def sgl(context: click.Context) -> None:
    """Find websites and the contact details that they publish, and never pay for a lead twice.

    Tables on a terminal, JSON in a pipe. Exit codes: 0 done, 2 wrong input, 3 not authorised, 4 out of credits or cap
    reached, 5 rate limited or service away, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (
    *(login, logout, interpret, count, facets, diagnose, search, enrich, list_, saved, watch, evidence, values),
    *(account, usage, verify, mcp, completion),
):
    sgl.add_command(_command)


def _open_streams() -> None:
    """Python has none where a stream was closed, as some programs do before they start another."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - open until the program ends
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as above


OLD_OPTIONS = {"--max-credits": "--max-lead-credits", "--directives": "--wrapped-query"}


def _words(typed: list[str]) -> list[str]:
    """What was typed, with the present names of options; old ones are accepted for one release, with a note."""
    if typed[:1] == ["mcp"]:  # its --max-credits counts credits of both kinds, and keeps its name
        return typed
    words = []
    for word in typed:
        old, equals, value = word.partition("=")
        new = OLD_OPTIONS.get(old)
        if new:
            note(f"sgl: {old} is now {new}. The old name is accepted until the next release: change it.")
        words.append(f"{new}{equals}{value}" if new else word)
    return words


def run() -> int:
    """Run the command that was typed; returns the exit code."""
    _open_streams()
    try:
        result = sgl.main(_words(sys.argv[1:]), prog_name="sgl", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (ReaderGone, BrokenPipeError):
        # What is not written yet must not fail when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (click.Abort, KeyboardInterrupt):
        click.echo("sgl: Interrupted. Run the command again.", err=True)
        return INTERRUPTED
    except (Failure, SiteglassError, click.ClickException, OSError) as error:
        failure = explained(error)
        click.echo(f"sgl: {failure.message}", err=True)
        return failure.exit_code
