"""Spell answers and errors as bytes. The one place where an error becomes a body."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

from siteglass.accounts.credits import Receipt
from siteglass.errors import SiteglassError
from siteglass.query.cursor import Continuation, CursorSealer
from siteglass.search import SearchPage

SEARCH_PATH = "/v1/leads/search"
LEDGER_PATH = "/v1/ledger"
JSON = "application/json"
# No answer of ours may be kept by a cache, guessed at, or framed.
SAFE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(orjson.dumps(body), status, {**SAFE_HEADERS, **(headers or {})}, JSON)


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


def search_answer(page: SearchPage, sealer: CursorSealer, account: str, now_s: int) -> Response:
    """The envelope of a page."""

    def path(continuation: Continuation | None) -> str | None:
        return None if continuation is None else f"{SEARCH_PATH}/{sealer.seal(continuation, account, now_s)}"

    body = {
        "result_id": page.result_id,
        "total_results": page.total,
        "size": len(page.records),
        "results": page.records,
        "filters": page.filters,
        "next": path(page.next),
        "previous": path(page.previous),
    }
    headers = credit_headers(page.receipt)
    if page.total_estimated:
        headers["X-Total-Estimated"] = "true"
    return answer(body, headers=headers)
