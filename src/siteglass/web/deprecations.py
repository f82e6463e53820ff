"""What callers should stop using: one row for each operation or field that will go. docs/deprecation.md has the policy.

The guard takes the headers of responses from these rows, and the OpenAPI document its `deprecated` marks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Literal

from starlette.responses import Response

PAGE = "/docs/deprecation"


@dataclass(frozen=True, slots=True)
class Deprecation:
    """An operation that will go, or a field of its requests or responses."""

    operation: str
    """Its name, as in the OpenAPI document."""
    since: datetime
    sunset: datetime
    """After it, what is deprecated may be gone. Both in UTC."""
    kind: Literal["operation", "request", "response"] = "operation"
    """What goes: all of it, a field or parameter of its requests, or a field of its responses."""
    field: str = ""
    page: str = PAGE
    """Path of the served page that explains the move."""

    def headers(self) -> dict[str, str]:
        """What a response says about it: RFC 9745 and RFC 8594."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": format_datetime(self.sunset, usegmt=True),
            "Link": f'<{self.page}>; rel="deprecation"',
        }


# An example of a row:
#     Deprecation(
#         "search", datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 7, 1, tzinfo=UTC), "request", "seo_score",
#         page="/docs/deprecation#seo_score-becomes-min_score",
#     ),
DEPRECATIONS: tuple[Deprecation, ...] = ()


def deprecations_of(operation: str) -> tuple[Deprecation, ...]:
    """The rows of an operation."""
    return tuple(row for row in DEPRECATIONS if row.operation == operation)


def announce(response: Response, rows: Sequence[Deprecation], sent: Collection[str]) -> None:
    """Add the headers of what this request uses, by the names of fields and parameters that it sent.

    If it uses several, those of the one that goes first.
    """
    used = [row for row in rows if row.kind != "request" or row.field in sent]
    if used:
        for name, value in min(used, key=lambda row: row.sunset).headers().items():
            # Added, not replaced: an error already has a Link.
            response.headers.append(name, value)
