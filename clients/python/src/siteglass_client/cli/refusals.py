"""What the service said no to, or why it did not answer, in words of this program: its options, not those of HTTP."""

from __future__ import annotations

import re

from siteglass_client.cli.failures import AWAY, NO_CREDITS, NOT_AUTHORISED, WRONG_INPUT, Failure, sentence
from siteglass_client.errors import (
    BadRequest,
    ConnectionFailed,
    CreditCapExceeded,
    CursorExpired,
    Detail,
    Forbidden,
    IdempotencyInProgress,
    NotFound,
    PaymentRequired,
    ServiceError,
    TooManyRequests,
    Unauthorized,
)

AGAIN = "run the same command again"
CHECK = "Check the URL (--url, SITEGLASS_URL or `sgl login`)"
ANOTHER_KEY = {
    "--key": "Pass another key with --key, or omit it to use that of `sgl login`.",
    "SITEGLASS_API_KEY": "Set another key, or unset SITEGLASS_API_KEY to use that of `sgl login`.",
}
# What the system says when a connection fails, and what that means for somebody who typed an address.
UNREACHED = (
    (r"refused", "nothing is listening there. Is the service running?"),
    (r"name or service not known|nodename nor servname|getaddrinfo|name resolution", "there is no such host."),
    (r"wrong.version.number|record layer|unknown protocol", "it does not use https. Is it an http:// URL?"),
    (r"certificate", "its certificate is not trusted here. Is it the right host?"),
    (r"timeout|timed out|not complete after", "it did not respond in time."),
    (r"unreachable|no route", "it cannot be reached from here. Is the network up?"),
    (
        r"not complete json|not an object|without sending a response|illegal|invalid http",
        "the server there may not be Siteglass.",
    ),
)


def unreached(error: ConnectionFailed, url: str) -> Failure:
    """A service from which no answer came that can be read."""
    meaning = next((told for known, told in UNREACHED if re.search(known, str(error), re.IGNORECASE)), None)
    why = f"{meaning} {_cause(error)}" if meaning else sentence(error.reason)
    return Failure(f"No response from {url}: {why} {CHECK}, then {AGAIN}.", AWAY)


def _cause(error: ConnectionFailed) -> str:
    """The words of the system, without those of Python."""
    reason = re.sub(r"^(\w+: )?(\[Errno -?\d+\] )?", "", error.reason).rstrip(".")
    return f"({reason}; {error.attempts} attempts)" if error.attempts > 1 else f"({reason})"


def refused(error: ServiceError, url: str, key_from: str) -> Failure:
    """What the service said, what to do next, and the id under which its operator finds it."""
    request = f" (request {error.request_id})" if error.request_id else ""
    if not _is_ours(error):
        return Failure(f"{_foreign(error, url)}{request}", AWAY if error.status >= 500 else WRONG_INPUT)
    if isinstance(error, Unauthorized):
        then = ANOTHER_KEY.get(key_from, "Run `sgl login` with a valid key, or set SITEGLASS_API_KEY.")
        told = f"{url} does not accept the key from {key_from}: it is wrong, expired or revoked. {then}"
        return Failure(f"{told}{request}", NOT_AUTHORISED)
    return Failure(f"{_told(error)} {_next_step(error)}".rstrip() + request, _exit_code(error))


def _is_ours(error: ServiceError) -> bool:
    """Whether the answer has a code such as Siteglass gives; other servers have their own ways to say no."""
    return re.fullmatch(r"[A-Z]+(_[A-Z]+)*", error.code) is not None


def _foreign(error: ServiceError, url: str) -> str:
    if error.status >= 500:
        return f"A proxy in front of the service answered {error.status}. Run the same command again later."
    if 300 <= error.status < 400:
        return f"{url} is not the service itself. {error.message}"
    return f"{url} answered {error.status}, but not in the way Siteglass does: it may be another service. {CHECK}."


def _told(error: ServiceError) -> str:
    """What the service said, without advice that is for programs."""
    if isinstance(error, (TooManyRequests, CursorExpired)):
        return error.message.partition(". ")[0] + "."
    if isinstance(error, (Forbidden, NotFound)):
        return sentence(re.split(" Enrich it first| Check its spelling", error.message)[0])
    if isinstance(error, PaymentRequired):
        before, charged, _ = error.message.partition("Nothing was charged.")
        return sentence(before + charged)
    if error.status >= 500:
        return sentence(error.message.partition(" Try again")[0])
    if len(error.details) < 2:
        return sentence(error.message.replace("wrapped_query", "--wrapped-query"))
    return " ".join(sentence(_problem(detail)) for detail in error.details)


def _problem(detail: Detail) -> str:
    field = detail.field.replace("wrapped_query", "--wrapped-query")
    place = "" if detail.line is None else f" line {detail.line}"
    return f"{field}{place}: {detail.message}"


def _next_step(error: ServiceError) -> str:
    if isinstance(error, BadRequest):
        told = error.message + " ".join(detail.message for detail in error.details)
        meant = [detail.nearest for detail in error.details if detail.nearest and detail.nearest not in told]
        return f"Did you mean {' or '.join(meant)}?" if meant else "Correct it, then run the command again."
    if isinstance(error, Forbidden):
        unpaid = re.search(r"has not paid for the lead (\S+)\. ", error.message)
        if unpaid:
            return f"Pay for it first (a lead credit): echo {unpaid[1]} | sgl enrich - ; then {AGAIN}."
        return "Pass it with --key, SITEGLASS_API_KEY or `sgl login`." if "scope" in error.message else ""
    if isinstance(error, CreditCapExceeded):
        if "max_lead_credits" in error.message:
            return f"Raise --max-lead-credits, then {AGAIN}."
        return f"{AGAIN.capitalize()} after 00:00 UTC, when a new day begins, or ask for a higher cap for the key."
    if isinstance(error, PaymentRequired):
        return f"Buy credits, then {AGAIN}: with -o it continues where it stopped."
    if isinstance(error, CursorExpired):
        return (
            "The run was interrupted too long ago to continue. Start again: the same command with --overwrite, or "
            "another -o."
        )
    if isinstance(error, TooManyRequests):
        wait_s = "a while" if error.retry_after_s is None else f"{error.retry_after_s:.0f} s"
        return f"Wait {wait_s}, then {AGAIN}."
    if isinstance(error, NotFound):
        if error.message.startswith("There is no lead "):
            return "Check its spelling: evidence exists for the domains that `sgl enrich` finds."
        return "Check the URL (--url or SITEGLASS_URL): it must not end in a path such as /v1."
    if error.status >= 500 or isinstance(error, IdempotencyInProgress):
        return f"{AGAIN.capitalize()} later; if it persists, send the request ID to the operator of the service."
    return error.advice


def _exit_code(error: ServiceError) -> int:
    if isinstance(error, Forbidden):
        return NOT_AUTHORISED
    if isinstance(error, PaymentRequired):
        return NO_CREDITS
    if isinstance(error, (TooManyRequests, IdempotencyInProgress)) or error.status >= 500:
        return AWAY
    return WRONG_INPUT
