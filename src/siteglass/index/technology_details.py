"""The field `technologies_detail` as responses contain it, made from what is stored.

There is one for each technology of the record of which something is known, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from siteglass.corpus.lead import MAX_EXCERPT_BYTES, Mark, MarkKind, TechnologyDetail
from siteglass.query.values import moment_text
from siteglass.suppression.redaction import without_contacts

Record = dict[str, Any]
_KINDS = frozenset(get_args(MarkKind))


def checked_details(details: Sequence[TechnologyDetail], technologies: Sequence[str]) -> list[Record]:
    """Details of what the lead shows, without marks that may hold a contact. Single values of a Parquet file are not
    checked when it is read."""
    known = [detail for detail in details if detail["value"] in technologies]
    # One look at all of them: nearly all are clean. The letter keeps digits of two from making a number.
    excerpts = "\nx\n".join(mark["excerpt"] for detail in known for mark in detail["marks"])
    is_clean = without_contacts(excerpts) == excerpts
    return [
        {**detail, "marks": [mark for mark in detail["marks"] if _is_shown(mark, is_clean=is_clean)]}
        for detail in known
    ]


def _is_shown(mark: Mark, *, is_clean: bool) -> bool:
    excerpt = mark["excerpt"]
    if mark["kind"] not in _KINDS or len(excerpt) > MAX_EXCERPT_BYTES:
        return False
    return is_clean or without_contacts(excerpt) == excerpt


def technology_details(record: Record) -> list[Record]:
    """Generations before schema 8 have none stored."""
    by_value = {detail["value"]: detail for detail in record.get("technologies_detail", ())}
    return [_detail(by_value[value]) for value in record.get("technologies", ()) if value in by_value]


def _detail(stored: Record) -> Record:
    return {
        "value": stored["value"],
        "marks": stored["marks"],
        "page": stored["page"],
        "first_seen": _time(stored["first_seen_ms"]),
        "last_seen": _time(stored["last_seen_ms"]),
    }


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else moment_text(at_ms)
