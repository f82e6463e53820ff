"""Serialize responses and errors. The one place where an error becomes a body."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from siteglass.errors import MAX_DETAILS, Problem, SiteglassError
from siteglass.web.messages import ResponseBody

JSON = "application/json"
# No response may be cached unless it says so, sniffed or framed.
SAFE_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
# The served docs explain each code; `web/docs.py` redirects to its section.
ERROR_PAGES = "/docs/errors"


encode = msgspec.json.Encoder().encode


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response: a struct of `web.messages`, or what JSON is made of."""
    return bytes_response(encode(body), status, headers)


def bytes_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON response whose bytes exist already."""
    return Response(body, status, {**SAFE_HEADERS, **(headers or {})}, JSON)


class ProblemDetail(ResponseBody):
    """One thing that is wrong with a request."""

    field: Annotated[str, Meta(description="The field of the body, or `body` for the whole body; or the parameter.")]
    message: Annotated[str, Meta(description="What was expected and what was found.")]
    line: Annotated[int, Meta(ge=1, description="Line in `wrapped_query` or `query`, from 1.")] | UnsetType = UNSET
    column: Annotated[int, Meta(ge=1, description="Character in that line, from 1.")] | UnsetType = UNSET
    nearest: (
        Annotated[str, Meta(description="The known name or value that is most similar to the one sent.")] | UnsetType
    ) = UNSET


class ErrorResponse(ResponseBody):
    """An error: a code that stays, and a text for people."""

    error: str
    message: Annotated[str, Meta(description="What happened and what to do next, as a text for people.")]
    details: (
        Annotated[
            list[ProblemDetail],
            Meta(
                min_length=1,
                max_length=MAX_DETAILS,
                description="The problems found, in order; `message` says how many there are.",
            ),
        ]
        | UnsetType
    ) = UNSET


def _detail(problem: Problem) -> ProblemDetail:
    return ProblemDetail(
        field=problem.field,
        message=problem.message,
        line=UNSET if problem.line is None else problem.line,
        column=UNSET if problem.column is None else problem.column,
        nearest=UNSET if problem.nearest is None else problem.nearest,
    )


def help_link(code: str) -> str:
    """The `Link` header of an error: the path of the page that explains it."""
    return f'<{ERROR_PAGES}/{code}>; rel="help"'


def error_response(error: SiteglassError) -> Response:
    """Exactly `error` and `message`, and `details` where there are any."""
    body = ErrorResponse(
        error=error.code,
        message=error.message,
        details=[_detail(problem) for problem in error.problems] or UNSET,
    )
    return json_response(body, error.status, {**error.headers, "Link": help_link(error.code)})
