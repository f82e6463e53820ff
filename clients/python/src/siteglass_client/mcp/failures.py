"""Every expected failure as a text for the agent: what happened, what to do, and the request it was."""

from __future__ import annotations

from pydantic import ValidationError

from siteglass_client.errors import (
    BadRequest,
    ConnectionFailed,
    CursorExpired,
    InsufficientCredits,
    InvalidCursor,
    PaymentRequired,
    ServiceError,
    SiteglassError,
    TooManyRequests,
)
from siteglass_client.mcp.sizes import cut

MAX_BYTES = 1_500
AGAIN = "Call the tool again with the same arguments: within a day, nothing is charged twice."


def told(error: SiteglassError | TimeoutError, deadline_s: float) -> str:
    """The failure of a call."""
    if isinstance(error, TimeoutError):
        return f"There was no response within {deadline_s:g} s. {AGAIN}"
    if isinstance(error, ConnectionFailed):
        return f"{_short(sentence(str(error)))} {AGAIN}"
    if not isinstance(error, ServiceError):
        return _short(str(error))
    problems = (
        [error.message] if len(error.details) < 2 else [f"{each.field}: {each.message}" for each in error.details]
    )
    request = f" (request {error.request_id})" if error.request_id else ""
    said = " ".join(map(sentence, problems)).replace("`limit`", "`max_leads`")
    return f"{_short(f'{error.code}: {said}')} {_advice(error, said)}{request}"


def _advice(error: ServiceError, said: str) -> str:
    if isinstance(error, InvalidCursor | CursorExpired):
        return "Call the tool again without cursor."
    if isinstance(error, BadRequest):
        near = [each.nearest for each in error.details if each.nearest and each.nearest not in said]
        return f"Did you mean {' or '.join(near)}?" if near else "Correct it, then call the tool again."
    if isinstance(error, InsufficientCredits):
        return "Request less, or ask the user to buy credits; `account` shows the balance."
    if isinstance(error, PaymentRequired):
        return "Raise max_lead_credits if the user agrees; a daily cap of the key resets at 00:00 UTC."
    if isinstance(error, TooManyRequests):
        wait_s = "a while" if error.retry_after_s is None else f"{error.retry_after_s:.0f} s"
        return f"Wait {wait_s}. {AGAIN}"
    if error.status >= 500:
        return AGAIN if error.may_be_charged else f"Nothing was charged. {AGAIN}"
    return error.advice


def refused(error: ValidationError) -> str:
    """Arguments that are not as the input schema says."""
    problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
    return _short(f"{'; '.join(problems)}. Correct it, then call the tool again. Nothing was sent.")


def unknown_arguments(names: set[str], known: list[str]) -> str:
    """Arguments that the tool does not have; left out silently, a cap of another spelling would be none."""
    return _short(f"{', '.join(sorted(names))}: unknown; the arguments are {', '.join(known)}. Nothing was sent.")


def sentence(text: str) -> str:
    """With a full stop, as something follows."""
    line = text.strip()
    return line if line.endswith((".", "?", "!")) else f"{line}."


def _short(text: str) -> str:
    return str(cut(" ".join(text.split()), MAX_BYTES))
