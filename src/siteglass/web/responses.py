"""Spell answers and errors as bytes. The one place where an error becomes a body."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

from siteglass.billing.credits import Receipt
from siteglass.corpus.evidence_files import Sighting
from siteglass.errors import SiteglassError
from siteglass.leads.enrich import Enriched
from siteglass.leads.evidence import Evidence
from siteglass.leads.search import SearchPage
from siteglass.query.cursor import Continuation, CursorSealer
from siteglass.query.values import moment_text

SEARCH_PATH = "/v1/leads/search"
NOTES_HEADER = "X-Query-Notes"
ESTIMATED = {"X-Total-Estimated": "true"}
LEDGER_PATH = "/v1/ledger"
VALUES_PATH = "/v1/values"
JSON = "application/json"
# No answer of ours may be kept by a cache unless it says so, guessed at, or framed.
SAFE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return spelled_answer(orjson.dumps(body), status, headers)


def spelled_answer(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer whose bytes are there."""
    return Response(body, status, {**SAFE_HEADERS, **(headers or {})}, JSON)


def error_answer(error: SiteglassError) -> Response:
    """Exactly `error` and `message`, and `details` where there are any."""
    body: dict[str, Any] = {"error": error.code, "message": error.message}
    if error.problems:
        body["details"] = [problem.spelled() for problem in error.problems]
    return answer(body, error.status, dict(error.headers))


def credit_headers(receipt: Receipt) -> dict[str, str]:
    """What an answer cost, and what is left."""
    return {
        "X-Credits-Api-Used": str(receipt.api),
        "X-Credits-Lead-Used": str(receipt.lead),
        "X-Credits-Api-Remaining": str(receipt.balances.api),
        "X-Credits-Lead-Remaining": str(receipt.balances.lead),
    }


def enrich_body(enriched: Enriched) -> bytes:
    """The envelope of an enrichment."""
    return orjson.dumps({"results": enriched.items})


def evidence_body(found: Evidence) -> bytes:
    """The values of a lead, each with where and when it was seen."""
    return orjson.dumps(
        {
            "domain": found.domain,
            **{
                field: [{"value": value, "seen": [_sighting(one) for one in seen]} for value, seen in values]
                for field, values in found.values.items()
            },
        }
    )


def _sighting(one: Sighting) -> dict[str, str]:
    times = {"first_seen": moment_text(one.first_seen_ms), "last_seen": moment_text(one.last_seen_ms)}
    return {"page": one.page, "method": one.method, **times}


def search_body(
    page: SearchPage, sealer: CursorSealer, account: str, now_s: int, interpretation: dict[str, Any] | None = None
) -> bytes:
    """The envelope of a page; the interpretation where it was asked for."""

    def path(continuation: Continuation | None) -> str | None:
        return None if continuation is None else f"{SEARCH_PATH}/{sealer.seal(continuation, account, now_s)}"

    envelope: dict[str, Any] = {
        "result_id": page.result_id,
        "total_results": page.total,
        "size": len(page.records),
        "results": page.records,
        "filters": page.filters,
        "next": path(page.next),
        "previous": path(page.previous),
    }
    if interpretation is not None:
        envelope["interpretation"] = interpretation
    return orjson.dumps(envelope)
