"""The fields `emails_detail` and `phones_detail`: whose each shown address or number is, and where and when it was
seen.

They are made from `emails` and `phones` as they are shown, after opt-outs and filters of addresses. So they never
contain another value, whatever is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from siteglass.corpus.lead import Percent, ShownOwner
from siteglass.query.values import moment_text
from siteglass.suppression.values import NotAValue, spelled_address
from siteglass.web.messages import Record, ResponseBody, Time


class EmailStatus(ResponseBody):
    """What an address itself shows. The service sends no mail and makes no DNS requests to check addresses, so whether
    mail arrives is not known."""

    syntax: Annotated[
        Literal["valid", "invalid"],
        Meta(
            description="Whether it is written as an address. Addresses from web pages are; imported ones may not be."
        ),
    ]
    kind: Annotated[
        Literal["role", "person"],
        Meta(description="A role address such as `info@`, which `exclude_generic_emails` leaves out, or a person's."),
    ]


class _Detail(ResponseBody):
    value: Annotated[str, Meta(description="The value as the lead shows it.")]
    owner: Annotated[
        ShownOwner,
        Meta(
            description="`own`: of the business. `affiliate`: of its owner, on a free-mail or related domain. "
            "`unknown`: not decided, or the lead was imported. Values of third parties are not shown."
        ),
    ]
    confidence: (
        Annotated[Percent, Meta(description="Confidence in `owner`, in percent; null if nothing was decided.")] | None
    )
    page: (
        Annotated[
            str,
            Meta(
                description="URL of the page that showed the value last. Null if it is not known, or if the URL "
                "contains a value that is not shown."
            ),
        ]
        | None
    )
    crawled_at: Annotated[Time, Meta(description="When that page was crawled; null if it is not known.")] | None
    first_seen: (
        Annotated[Time, Meta(description="When a page that shows the value first showed it; null if it is not known.")]
        | None
    )
    last_seen: (
        Annotated[
            Time, Meta(description="When a page was last crawled that showed the value; null if it is not known.")
        ]
        | None
    )


class PhoneDetail(_Detail):
    """A number of `phones`."""


class EmailDetail(_Detail):
    """An address of `emails`."""

    status: EmailStatus


_UNKNOWN: Record = {"owner": "unknown", "confidence": None, "page": None, "crawled_at_ms": None}


def shown_field(record: Record, name: str) -> Any:
    """A field of a stored record that may be shown, as responses contain it."""
    match name:
        case "emails_detail":
            personal = frozenset(record["emails_personal"])
            return [
                {**detail, "status": _status(detail["value"], personal)} for detail in _details(record, "emails", name)
            ]
        case "phones_detail":
            return _details(record, "phones", name)
        case _:
            return record[name]


def _details(record: Record, values: str, name: str) -> list[Record]:
    """A detail for each value that is shown, in the same order; generations of schema 3 have none stored, and older
    leads have details without the times of the value."""
    stored: Sequence[Record] = record.get(name, ())
    by_value = {detail["value"]: detail for detail in stored}
    return [_detail(value, by_value.get(value, _UNKNOWN)) for value in record[values]]


def _detail(value: str, stored: Record) -> Record:
    return {
        "value": value,
        "owner": stored["owner"],
        "confidence": stored["confidence"],
        "page": stored["page"],
        "crawled_at": _time(stored["crawled_at_ms"]),
        "first_seen": _time(stored.get("first_seen_ms")),
        "last_seen": _time(stored.get("last_seen_ms")),
    }


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else moment_text(at_ms)


def _status(address: str, personal: frozenset[str]) -> Record:
    try:
        spelled_address(address)
        syntax = "valid"
    except NotAValue:
        syntax = "invalid"
    return {"syntax": syntax, "kind": "person" if address in personal else "role"}
