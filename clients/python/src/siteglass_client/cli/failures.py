"""Every expected failure as one line that says what to do next, and as an exit code."""

from __future__ import annotations

import re

import click

from siteglass_client.errors import (
    ConfigurationError,
    ConnectionFailed,
    ServiceError,
    SiteglassError,
)

WRONG_INPUT = 2
NOT_AUTHORISED = 3
NO_CREDITS = 4
AWAY = 5
DOUBTFUL = 6
INTERRUPTED = 130

EXAMPLES = {
    "enrich": "sgl enrich crm.csv -o enriched.csv",
    "evidence": "sgl evidence example.com",
    "values": "sgl values city mun",
}
# Names that the API or other programs use, and what they are here.
MEANT = {"--limit": "--max-leads", "--fields": "--select", "--format": "-o", "--output-file": "-o"}


class Failure(Exception):
    """A failure as it is shown to the user."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def explained(error: Exception) -> Failure:
    """The message for an error of the client or of the system; errors of the service need its URL."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, click.UsageError):
        return _wrong_use(error)
    if isinstance(error, click.ClickException):
        return Failure(error.format_message(), error.exit_code)
    if isinstance(error, ConfigurationError):
        named = str(error).replace("pass base_url", "pass --url").replace("pass api_key", "pass --key")
        return Failure(named, WRONG_INPUT)
    if isinstance(error, (ServiceError, ConnectionFailed)):  # those of commands without the common options
        return Failure(sentence(str(error)), AWAY)
    if isinstance(error, OSError) and not isinstance(error, SiteglassError):
        reason = error.strerror or str(error)
        if error.filename is None:
            told = (
                f"The output cannot be written: {reason}. Fix that and run it again; with -o FILE a failed run can be "
                "resumed."
            )
            return Failure(told, WRONG_INPUT)
        return Failure(f"{error.filename}: {reason}. Choose another file or folder.", WRONG_INPUT)
    return Failure(str(error), WRONG_INPUT)


def _wrong_use(error: click.UsageError) -> Failure:
    """What `click` says about a command, and what was probably meant."""
    told = sentence(error.format_message()).replace("is not a valid integer range.", "is not a whole number.")
    command = error.ctx.command_path if error.ctx else "sgl"
    if isinstance(error, click.NoSuchOption) and error.option_name in MEANT and not error.possibilities:
        told += f" Did you mean {MEANT[error.option_name]}?"
    elif isinstance(error, click.MissingParameter) and error.ctx and error.ctx.info_name in EXAMPLES:
        told += f" For example: {EXAMPLES[error.ctx.info_name]}."
    elif "unexpected extra argument" in told:
        told += " Put words that belong together in quotes."
    return Failure(f"{told} See: {command} --help", WRONG_INPUT)


def sentence(text: str) -> str:
    """A text on one line, with a mark at its end."""
    line = " ".join(text.split())
    return line if re.search(r"[.?!:]\)?$", line) else f"{line}."
