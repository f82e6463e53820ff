"""Leads deleted by age: what is too old, and its deletion from every generation that takes writes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from siteglass.index import generations
from siteglass.index.administration import admin
from siteglass.index.index import Index
from siteglass.platform.opensearch import EngineError
from siteglass.settings import Settings, variable

MS_PER_DAY = 86_400_000
MOST_SHARE = 0.5
"""More than this share of the live leads at once is a wrong clock or a wrong setting, until the operator insists."""
SLICES = 2
SCROLL_SIZE = 1_000
POLL_S = 0.25
DEADLINE_S = 3_600


def oldest_fact_ms(settings: Settings, now_ms: int) -> int | None:
    """Leads whose newest fact is from before this moment are too old; None: none is."""
    if settings.lead_max_age_days <= 0:
        return None
    return now_ms - settings.lead_max_age_days * MS_PER_DAY


async def too_old(index: Index, *, force: bool = False) -> dict[str, int]:
    """How many leads of each generation that takes writes are too old; refuses if they are most, unless forced."""
    query = _too_old(index)
    counts = {}
    for name in await generations.writable(index):
        await generations.refresh(index, [name])
        counts[name] = await generations.count(index, name, query)
        all_leads = await generations.count(index, name, {"match_all": {}})
        if counts[name] > MOST_SHARE * all_leads and not force:
            raise generations.GenerationError(
                f"{counts[name]} of the {all_leads} leads of {name} have expired, more than {MOST_SHARE:.0%}. Check "
                f"the clock and {variable('lead_max_age_days')}. If both are right, run: siteglass index expire --force"
            )
    return counts


def _too_old(index: Index) -> dict[str, Any]:
    oldest_ms = oldest_fact_ms(index.settings, index.clock.now_ms())
    if oldest_ms is None:
        raise generations.GenerationError(
            f"Leads do not expire: {variable('lead_max_age_days')} is not set. Set it for every process that loads "
            "leads."
        )
    since = {"gte": oldest_ms, "format": "epoch_millis"}
    return {"bool": {"must_not": [{"range": {name: since}} for name in ("crawled_at", "newest_at")]}}


async def expire(index: Index, name: str, on_progress: Callable[[int], None]) -> int:
    """Delete what is too old in one generation; how many it was. The engine does it in the background.

    A lead that is written meanwhile stays as it is written.
    """
    params = {
        "conflicts": "proceed",
        "slices": str(SLICES),
        "scroll_size": str(SCROLL_SIZE),
        "wait_for_completion": "false",
        "refresh": "true",
    }
    body = {"query": _too_old(index)}
    started = await admin(index, "POST", f"/{name}/_delete_by_query", body, params, repeatable=False)
    task = f"/_tasks/{started['task']}"
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not (state := await admin(index, "GET", task))["completed"]:
                on_progress(state["task"]["status"]["deleted"])
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise generations.GenerationError(
            f"{name}: not all leads were deleted within {DEADLINE_S} s. Run the command again: it continues where it "
            "stopped."
        ) from None
    finally:
        # Also when the operator interrupts it; one that has ended cannot be cancelled any more.
        with contextlib.suppress(EngineError):
            await admin(index, "POST", f"{task}/_cancel")
    failures = state["response"]["failures"] if "response" in state else [state["error"]]
    if failures:
        raise generations.GenerationError(
            f"Some leads could not be deleted from {name}: {failures[0]}. Run the command again."
        )
    deleted: int = state["response"]["deleted"]
    on_progress(deleted)
    return deleted
