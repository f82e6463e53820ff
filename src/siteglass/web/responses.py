"""Spell answers and errors as bytes. The one place where an error becomes a body."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response

from siteglass.errors import SiteglassError

JSON = "application/json"
# No answer of ours may be kept by a cache unless it says so, guessed at, or framed.
SAFE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return bytes_response(orjson.dumps(body), status, headers)


def bytes_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer whose bytes are there."""
    return Response(body, status, {**SAFE_HEADERS, **(headers or {})}, JSON)


def error_response(error: SiteglassError) -> Response:
    """Exactly `error` and `message`, and `details` where there are any."""
    body: dict[str, Any] = {"error": error.code, "message": error.message}
    if error.problems:
        body["details"] = [problem.spelled() for problem in error.problems]
    return json_response(body, error.status, dict(error.headers))
