"""Leads that contain a value: found by the keys in `contacts`, generation by generation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from siteglass.index.index import Index
from siteglass.index.scanning import scanned

# Far below the engine's own limit of 65,536 terms in one query.
KEYS_AT_ONCE = 1_000
FIND_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class Holder:
    """A document that carries one of the values."""

    domain: str
    place: str
    """The position of its record."""
    version: int
    """The time of its crawl in milliseconds, by which it was written."""
    record: dict[str, Any]
    """All that answers could show of it."""


async def holders(
    index: Index, generation: str, domains: Sequence[str], keys: Sequence[str]
) -> AsyncIterator[list[Holder]]:
    """All documents of a generation with one of these domains or keys, some at a time; none twice for one set of keys.

    What was written before is found only after a refresh.
    """
    for field, values in (("domain", domains), ("contacts", keys)):
        for start in range(0, len(values), KEYS_AT_ONCE):
            wanted = {"terms": {field: list(values[start : start + KEYS_AT_ONCE])}}
            async for found in scanned(index, generation, [wanted], timeout_ms=FIND_TIMEOUT_MS):
                yield [Holder(hit["_id"], hit["_source"]["src"], hit["_version"], hit["_source"]) for hit in found]
