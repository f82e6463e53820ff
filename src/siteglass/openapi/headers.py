"""Headers of the answers; their examples are spelled by the code that sends them."""

from __future__ import annotations

from typing import Any

from siteglass.access.limits import Level, Policy, Verdict, limit_headers
from siteglass.billing.credits import Balances, Receipt
from siteglass.billing.requests import EXAMPLE_REQUEST_ID
from siteglass.billing.responses import CREDIT_HEADERS, LEDGER_PATH, credit_headers
from siteglass.leads.responses import NOTES_HEADER

_POLICY = Policy(10, 20)
_LEVEL = Level(_POLICY, 12, 0, 100_000, 800_000)
_LIMIT = limit_headers(Verdict(True, _LEVEL, _LEVEL, local=False))
_CREDITS = credit_headers(Receipt(0, 17, Balances(990, 4_983, 1)))


def _header(description: str, schema: dict[str, Any], example: Any, *, always: bool = True) -> dict[str, Any]:
    return {"description": description, "required": always, "schema": schema, "example": example}


def _text(description: str, example: str, *, always: bool = True) -> dict[str, Any]:
    return _header(description, {"type": "string"}, example, always=always)


def _credit_header(name: str) -> dict[str, Any]:
    _, _, kind, what = name.split("-")
    description = f"{'API' if kind == 'Api' else 'Lead'} credits " + (
        "that this answer cost; on a replay, when it was first given."
        if what == "Used"
        else "that the account has left."
    )
    return _header(description, {"type": "integer", "minimum": 0}, int(_CREDITS[name]))


LIMIT_HEADERS = tuple(_LIMIT)

HEADERS: dict[str, Any] = {
    "X-Request-Id": _header(
        "Name of this request; tell it when you report a problem.",
        {"type": "string", "format": "uuid"},
        EXAMPLE_REQUEST_ID,
    ),
    **{name: _credit_header(name) for name in CREDIT_HEADERS},
    "Idempotency-Replayed": _header(
        "`true` if this is the stored answer to an earlier request with the same Idempotency-Key, which costs nothing "
        "now; else absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    "Idempotency-Request-Id": _header(
        "On a replay: `X-Request-Id` of the request that was charged, by which the ledger lists it.",
        {"type": "string", "format": "uuid"},
        "5f4d7c38-92f2-4d0c-8a2e-0d9b5a1c7e21",
        always=False,
    ),
    "Idempotency-Redacted": _header(
        "`true` on a replay that lacks what was suppressed since the first answer; else absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    "RateLimit-Policy": _text(
        "The limits of account and key, of caller and subject for an opt-out: `q` units at most at once, back within "
        "`w` seconds. On every answer behind the rate limit.",
        _LIMIT["RateLimit-Policy"],
        always=False,
    ),
    "RateLimit": _text(
        "What is left: `r` units, the next one in `t` seconds. On every answer behind the rate limit.",
        _LIMIT["RateLimit"],
        always=False,
    ),
    "Retry-After": _header("Whole seconds to wait before trying again.", {"type": "integer", "minimum": 1}, 1),
    "X-Total-Estimated": _header(
        "`true` if counting took too long and `total_results` was estimated from a sample; else absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    NOTES_HEADER: _header(
        "How many things to know before trusting how `query` was read: words that were not understood, corrected or "
        "replaced by a filter, and a low confidence. 0 without `query`. `explain` tells them.",
        {"type": "integer", "minimum": 0},
        0,
    ),
    "Link": _text(
        'Path of the next page of the ledger, with `rel="next"`; absent on the last.',
        f'<{LEDGER_PATH}?limit=2&before=3>; rel="next"',
        always=False,
    ),
    "Allow": _text("The methods that this address has.", "POST"),
}


def headers(*names: str) -> dict[str, Any]:
    """References to headers; the request id is on every answer."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}
