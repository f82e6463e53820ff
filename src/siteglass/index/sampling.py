"""The same leads of two generations, side by side: those of the same buckets, which are bits of the domain's hash."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import Any

from siteglass.index import generations
from siteglass.index.administration import ADMIN_TIMEOUT_MS, admin
from siteglass.index.documents import BUCKETS
from siteglass.index.index import Index
from siteglass.index.scanning import scanned

SAMPLE_LEADS = 4_000
MAX_SAMPLE_LEADS = 20_000
"""From some five million leads on, one bucket has more than SAMPLE_LEADS; from twenty million on, more than this."""
PAGE_LEADS = 1_000
# A writer writes to one generation after the other; so far apart may they be.
CATCH_UP_TRIES, CATCH_UP_PAUSE_S = 10, 0.5


@dataclass(frozen=True, slots=True)
class SampledLead:
    """One lead of a generation."""

    version: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pairs:
    """A sample of the live generation, and what became of it in another."""

    live: dict[str, SampledLead]
    other: dict[str, SampledLead]
    """Those of the sample that are in the other, too."""
    gone: list[str]
    older: list[str]
    """Those that the other has from an older crawl."""


async def sample(index: Index, live: str, other: str, live_count: int) -> Pairs:
    """Some thousand leads of the live generation, and the same ones of another."""
    buckets = min(BUCKETS, math.ceil(SAMPLE_LEADS * BUCKETS / max(live_count, 1)))
    ours = await _read(index, live, buckets, None)
    last = max(ours, default=None) if len(ours) >= MAX_SAMPLE_LEADS else None
    await generations.refresh(index, [other])  # it may show later what the live one shows already
    theirs = await _read(index, other, buckets, last)
    both = {domain: theirs[domain] for domain in ours if domain in theirs}
    gone = [domain for domain in ours if domain not in theirs]
    older = [domain for domain, found in both.items() if found.version < ours[domain].version]
    return Pairs(ours, both, gone, await _still_older(index, other, older, ours))


async def _read(index: Index, name: str, buckets: int, last: str | None) -> dict[str, SampledLead]:
    """Leads of the first buckets in the order of their domains: up to `last`, otherwise up to the largest sample."""
    filters: list[dict[str, Any]] = [{"range": {"bucket": {"lt": buckets}}}]
    found: dict[str, SampledLead] = {}
    async for hits in scanned(index, name, filters, timeout_ms=ADMIN_TIMEOUT_MS):
        found.update((hit["_id"], SampledLead(hit["_version"], hit["_source"])) for hit in hits)
        # A range over domains would end this, but the engine counts it among its expensive queries.
        if hits[-1]["_id"] > last if last is not None else len(found) >= MAX_SAMPLE_LEADS:
            break
    return found


async def _still_older(index: Index, name: str, older: list[str], ours: dict[str, SampledLead]) -> list[str]:
    """Those that stay older when all that was being written has arrived."""
    for _ in range(CATCH_UP_TRIES):
        if not older:
            break
        await asyncio.sleep(CATCH_UP_PAUSE_S)
        versions = await stored_versions(index, name, older)
        older = [domain for domain in older if versions.get(domain, 0) < ours[domain].version]
    return older


async def stored_versions(index: Index, name: str, domains: list[str]) -> dict[str, int]:
    """The versions of those domains that a generation has, whether searches see them yet or not."""
    versions: dict[str, int] = {}
    for start in range(0, len(domains), PAGE_LEADS):
        ids = {"ids": domains[start : start + PAGE_LEADS]}
        answer = await admin(index, "POST", f"/{name}/_mget", ids, {"_source": "false"})
        versions.update((found["_id"], found["_version"]) for found in answer["docs"] if found.get("found"))
    return versions
