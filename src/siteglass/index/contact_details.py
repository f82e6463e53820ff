"""The fields `emails_detail` and `phones_detail` as responses contain them, made from what is stored.

There is one for each address and number of the record, in the same order, so they never contain another value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siteglass.query.values import moment_text
from siteglass.suppression.values import NotAValue, spelled_address

Record = dict[str, Any]
_UNKNOWN: Record = {"owner": "unknown", "confidence": None, "page": None, "crawled_at_ms": None}


def email_details(record: Record) -> list[Record]:
    """A detail for each address."""
    personal = frozenset(record["emails_personal"])
    return [
        {**detail, "status": _status(detail["value"], personal)}
        for detail in _details(record["emails"], record.get("emails_detail", ()))
    ]


def phone_details(record: Record) -> list[Record]:
    """A detail for each number."""
    return _details(record["phones"], record.get("phones_detail", ()))


def _details(values: Sequence[str], stored: Sequence[Record]) -> list[Record]:
    """Generations of schema 3 have none stored, and older leads have details without the times of the value."""
    by_value = {detail["value"]: detail for detail in stored}
    return [_detail(value, by_value.get(value, _UNKNOWN)) for value in values]


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
