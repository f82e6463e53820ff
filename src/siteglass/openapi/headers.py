"""Headers of the responses; the code that sends them also formats the examples."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from siteglass.access.limits import Level, Policy, Verdict, limit_headers
from siteglass.billing.credits import Balances, Receipt
from siteglass.billing.requests import EXAMPLE_REQUEST_ID
from siteglass.billing.responses import CREDIT_HEADERS, HEAD_HEADER, credit_headers
from siteglass.leads.diagnose import HINT_HEADER
from siteglass.leads.responses import CORRECTED_HEADER, NOTES_HEADER, UNUSED_HEADER
from siteglass.platform.tracing import TRACEPARENT
from siteglass.web.deprecations import Deprecation, deprecations_of
from siteglass.web.operations import Operation
from siteglass.web.responses import help_link

_POLICY = Policy(10, 20)
_LEVEL = Level(_POLICY, 12, 0, 100_000, 800_000)
_LIMIT = limit_headers(Verdict(True, _LEVEL, _LEVEL, local=False))
_DEPRECATED = Deprecation("", datetime(2026, 11, 1, tzinfo=UTC), datetime(2027, 5, 1, tzinfo=UTC)).headers()
_CREDITS = credit_headers(Receipt(0, 17, Balances(990, 4_983, 1)))


def _header(description: str, schema: dict[str, Any], example: Any, *, always: bool = True) -> dict[str, Any]:
    return {"description": description, "required": always, "schema": schema, "example": example}


def _text(description: str, example: str, *, always: bool = True) -> dict[str, Any]:
    return _header(description, {"type": "string"}, example, always=always)


def _credit_header(name: str) -> dict[str, Any]:
    _, _, kind, what = name.split("-")
    description = f"{'API' if kind == 'Api' else 'Lead'} credits " + (
        "that this response cost; on a replay, that the first response cost."
        if what == "Used"
        else "left in the account."
    )
    return _header(description, {"type": "integer", "minimum": 0}, int(_CREDITS[name]))


LIMIT_HEADERS = tuple(_LIMIT)

HEADERS: dict[str, Any] = {
    "X-Request-Id": _header(
        "ID of this request; include it when you report a problem.",
        {"type": "string", "format": "uuid"},
        EXAMPLE_REQUEST_ID,
    ),
    **{name: _credit_header(name) for name in CREDIT_HEADERS},
    "Idempotency-Replayed": _header(
        "`true` if this is the stored response of an earlier request with the same Idempotency-Key, returned free of "
        "charge; otherwise absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    "Idempotency-Request-Id": _header(
        "On a replay: `X-Request-Id` of the request that was charged, as listed in the ledger.",
        {"type": "string", "format": "uuid"},
        "5f4d7c38-92f2-4d0c-8a2e-0d9b5a1c7e21",
        always=False,
    ),
    "Idempotency-Repeated": _header(
        "`true` if an earlier request with the same Idempotency-Key was answered free of charge. That response was not "
        "stored; this one was found again, and is free, too. Otherwise absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    "Idempotency-Redacted": _header(
        "`true` on a replay that leaves out contacts suppressed since the first response; otherwise absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    "RateLimit-Policy": _text(
        "The limits of the account and the key; for an opt-out, of the caller and the subject. At most `q` units at "
        "once, restored within `w` seconds. On every rate-limited response.",
        _LIMIT["RateLimit-Policy"],
        always=False,
    ),
    "RateLimit": _text(
        "The remaining units: `r` now, the next one in `t` seconds. On every rate-limited response.",
        _LIMIT["RateLimit"],
        always=False,
    ),
    "WWW-Authenticate": _header(
        "How to authenticate: with a key in the header that it names.",
        {"type": "string"},
        'ApiKey realm="Siteglass", header="X-API-Key"',
    ),
    "Retry-After": _header(
        "Whole seconds to wait before you retry. On every 429 and 503, and on `IDEMPOTENCY_IN_PROGRESS`.",
        {"type": "integer", "minimum": 1},
        1,
        always=False,
    ),
    "X-Total-Estimated": _header(
        "`true` if counting took too long and `total_results` was estimated from a sample; otherwise absent.",
        {"type": "string", "const": "true"},
        "true",
        always=False,
    ),
    "X-Total-Error": _header(
        "By how much an estimated `total_results` may be off; 95 of 100 are within it. `unknown` if the sample failed, "
        "too: `total_results` is then what is known, the leads of the first page and one more if there is a next page.",
        {"type": "string", "pattern": "^(unknown|[1-9][0-9]*)$"},
        "4141",
        always=False,
    ),
    NOTES_HEADER: _header(
        "Number of notes about the search. There are notes on words of `query` that were not understood, corrected "
        "or replaced by a filter. Others are on a low confidence, unknown values and contradictions. `explain` lists "
        "them.",
        {"type": "integer", "minimum": 0},
        0,
    ),
    UNUSED_HEADER: _text(
        "Words of `query` that were not used, comma-separated and percent-encoded (UTF-8), as many as fit into 1 kB; "
        "absent if all were used.",
        "that%20are%20hiring",
        always=False,
    ),
    CORRECTED_HEADER: _text(
        "Misspelt words of `query` as `word=correction`, comma-separated and percent-encoded (UTF-8), as many as fit "
        "into 1 kB; absent if there are none.",
        "dentsts=dentists",
        always=False,
    ),
    HINT_HEADER: _text(
        "If a search finds no lead: the smallest change that gives it results, for people. Characters outside ASCII "
        "are percent-encoded. `POST /v1/leads/diagnose` returns more. Absent if no single change helps.",
        "42 leads match without @city(Austin)",
        always=False,
    ),
    "Link": _text(
        'On an error: path of the page that explains its code, with `rel="help"`. On a page of the ledger: path of the '
        'next page, with `rel="next"`; absent on the last page. On what is deprecated: path of the page that explains '
        'the move, with `rel="deprecation"`.',
        help_link("INVALID_REQUEST"),
        always=False,
    ),
    HEAD_HEADER: _text(
        "On a page of the ledger, if the operator signs it: row number, hash and sums of the account on a day. It ends "
        "with an Ed25519 signature. `sgl verify` compares statements with it.",
        '{"siteglass":"head 1","account":3,"row":3,"hash":"c3c3...","api_credits":99,"lead_credits":5000,"root":12,'
        '"at":"2026-11-16T00:10:00+00:00"} 9f1c...',
        always=False,
    ),
    "Allow": _text("The methods that this path supports.", "POST"),
    TRACEPARENT: _text(
        "If the operator traces this request: its span, as in W3C Trace Context. Send `traceparent` to make it a part "
        "of your trace.",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        always=False,
    ),
    "Deprecation": _text(
        "Since when the operation, or a field that the request uses, is deprecated, in seconds since 1970 (RFC 9745).",
        _DEPRECATED["Deprecation"],
        always=False,
    ),
    "Sunset": _text(
        "When what is deprecated may be gone (RFC 8594).",
        _DEPRECATED["Sunset"],
        always=False,
    ),
}


def headers_of_any_response(operation: Operation) -> list[str]:
    """What responses of an operation may have, whatever their status."""
    deprecated = ["Link", "Deprecation", "Sunset"] if deprecations_of(operation.name) else []
    return [*([TRACEPARENT] if operation.scope else []), *deprecated]


def headers(*names: str) -> dict[str, Any]:
    """References to headers; the request id is on every answer."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}
