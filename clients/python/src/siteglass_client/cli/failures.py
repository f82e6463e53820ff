"""Every expected failure as one line that says what to do next, and as an exit code."""

from __future__ import annotations

import re

import click

from siteglass_client.errors import (
    BadRequest,
    ConfigurationError,
    ConnectionFailed,
    CreditCapExceeded,
    CursorExpired,
    Detail,
    Forbidden,
    IdempotencyInProgress,
    NotFound,
    PaymentRequired,
    ServiceError,
    SiteglassError,
    TooManyRequests,
    Unauthorized,
)

WRONG_INPUT = 2
NOT_AUTHORISED = 3
NO_CREDITS = 4
AWAY = 5
INTERRUPTED = 130


class Failure(Exception):
    """A failure as the user is told it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def explained(error: Exception) -> Failure:
    """What a user is told about an error of the client or of the system."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "sg"
        return Failure(f"{_sentence(error.format_message())} See: {command} --help", WRONG_INPUT)
    if isinstance(error, click.ClickException):
        return Failure(error.format_message(), error.exit_code)
    if isinstance(error, ServiceError):
        request = f" (request {error.request_id})" if error.request_id else ""
        return Failure(f"{_told(error)} {_next_step(error)}{request}", _exit_code(error))
    if isinstance(error, ConnectionFailed):
        return Failure(
            f"{_sentence(str(error))} Check the address (--url, SITEGLASS_URL or `sg login`), then run the same "
            "command again.",
            AWAY,
        )
    if isinstance(error, ConfigurationError):
        named = str(error).replace("give base_url", "give --url").replace("give api_key", "give --key")
        return Failure(named, WRONG_INPUT)
    if isinstance(error, OSError) and not isinstance(error, SiteglassError):
        place = error.filename or "a file"
        return Failure(f"{place}: {error.strerror or error}. Choose another file or folder.", WRONG_INPUT)
    return Failure(str(error), WRONG_INPUT)


def _told(error: ServiceError) -> str:
    """What the service said, on one line, in words of this program."""
    if isinstance(error, Unauthorized):
        return "The service does not accept this key: it is wrong, expired or revoked."
    if len(error.details) < 2:
        return _sentence(error.message.replace("wrapped_query", "--directives"))
    return " ".join(_sentence(_problem(detail)) for detail in error.details)


def _problem(detail: Detail) -> str:
    field = detail.field.replace("wrapped_query", "--directives")
    place = "" if detail.line is None else f" line {detail.line}"
    return f"{field}{place}: {detail.message}"


def _sentence(text: str) -> str:
    line = " ".join(text.split())
    return line if re.search(r"[.?!:]$", line) else f"{line}."


def _next_step(error: ServiceError) -> str:
    if isinstance(error, BadRequest):
        told = error.message + " ".join(detail.message for detail in error.details)
        meant = [detail.nearest for detail in error.details if detail.nearest and detail.nearest not in told]
        return f"Did you mean {' or '.join(meant)}?" if meant else "Correct it, then run the command again."
    if isinstance(error, Unauthorized):
        return "Run `sg login` with a valid key, or set SITEGLASS_API_KEY."
    if isinstance(error, Forbidden):
        return "Give it with --key, SITEGLASS_API_KEY or `sg login`."
    if isinstance(error, CreditCapExceeded):
        return "Raise --max-credits; if it is the daily cap of the key, run the same command again after 00:00 UTC."
    if isinstance(error, PaymentRequired):
        return "Buy credits, then run the same command again: with -o it goes on where it stopped."
    if isinstance(error, CursorExpired):
        return "Start anew: the same command with --overwrite, or another file."
    if isinstance(error, TooManyRequests):
        wait_s = "a while" if error.retry_after_s is None else f"{error.retry_after_s:.0f} s"
        return f"Wait {wait_s}, then run the same command again."
    if isinstance(error, NotFound):
        return "Check the address (--url or SITEGLASS_URL), which has no path such as /v1."
    if error.status >= 500 or isinstance(error, IdempotencyInProgress):
        return "Run the same command again later."
    return error.advice


def _exit_code(error: ServiceError) -> int:
    if isinstance(error, (Unauthorized, Forbidden)):
        return NOT_AUTHORISED
    if isinstance(error, PaymentRequired):
        return NO_CREDITS
    if isinstance(error, (TooManyRequests, IdempotencyInProgress)) or error.status >= 500:
        return AWAY
    return WRONG_INPUT
