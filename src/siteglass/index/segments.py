"""One segment for each shard of a generation that was just filled, and each lead in it once.

As loaded, a shard has many segments, and most leads are in them twice. `_source` leaves fields out, so the engine also
stores the whole document, for copies that have to catch up. A merge drops what no copy needs any more. Merged, leads
take half of the disk, and searches and look-ups less CPU: see docs/performance.md.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from siteglass.errors import Unavailable
from siteglass.index.administration import admin
from siteglass.index.index import Index
from siteglass.platform.opensearch import EngineError
from siteglass.platform.progress import working

# With fewer, the wait for the leases takes longer than loading them, and every request is quick.
WORTH_IT_FROM = 100_000
# The engine renews the leases of copies every 30 seconds. One that does not respond keeps its lease for hours.
LEASES_WITHIN_S = 60
# 20,000 leads a second were measured. Later it is left to itself.
MERGED_WITHIN_S = 4 * 3_600
log = logging.getLogger(__name__)


async def merge_if_large(index: Index, name: str, leads: int) -> None:
    """Merge a generation that was filled with so many leads, if that is worth it."""
    if leads >= WORTH_IT_FROM:
        with working("Merging"):
            await merge_segments(index, name)


async def merge_segments(index: Index, name: str) -> None:
    """Merge a generation. A failure is logged: the generation is only slower and larger then."""
    try:
        await _wait_for_leases(index, name)
        # Only what the last commit contains counts as safe.
        await admin(index, "POST", f"/{name}/_flush")
        problem = await _merge(index, name)
    except (EngineError, Unavailable) as error:
        problem = error.reason if isinstance(error, Unavailable) else str(error)
    if problem:
        log.warning("segments not merged", extra={"generation": name, "reason": problem})


async def _wait_for_leases(index: Index, name: str) -> None:
    """Until no copy of a shard needs what was written so far, or for as long as that usually takes."""
    ends = time.monotonic() + LEASES_WITHIN_S
    written = {number: copies[0]["seq_no"]["max_seq_no"] for number, copies in (await _shards(index, name)).items()}
    while time.monotonic() < ends:
        shards = await _shards(index, name)
        if all(
            lease["retaining_seq_no"] > written.get(number, -1)
            for number, copies in shards.items()
            for copy in copies
            for lease in copy["retention_leases"]["leases"]
        ):
            return
        await asyncio.sleep(1)


async def _shards(index: Index, name: str) -> dict[str, list[dict[str, Any]]]:
    """The copies of each shard: what was written to them, and what they keep for others."""
    wanted = "indices.*.shards.*.seq_no,indices.*.shards.*.retention_leases"
    found = await admin(index, "GET", f"/{name}/_stats", params={"level": "shards", "filter_path": wanted})
    shards: dict[str, list[dict[str, Any]]] = found["indices"][name]["shards"]
    return shards


async def _merge(index: Index, name: str) -> str:
    """What went wrong, or nothing. The engine works on its own meanwhile: no request may take so long."""
    ends = time.monotonic() + MERGED_WITHIN_S
    params = {"max_num_segments": "1", "wait_for_completion": "false"}
    begun = await admin(index, "POST", f"/{name}/_forcemerge", params=params, repeatable=False)
    while time.monotonic() < ends:
        state = await admin(index, "GET", f"/_tasks/{begun['task']}")
        if state["completed"]:
            failed: int = state.get("response", {}).get("_shards", {}).get("failed", 0)
            return str(state["error"]) if "error" in state else f"{failed} of its shards failed" if failed else ""
        await asyncio.sleep(1)
    return f"it takes longer than {MERGED_WITHIN_S // 3_600} hours"
