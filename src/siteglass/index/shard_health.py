"""Whether the shards of generations are there: writers go around what is lost, and promotion waits for every copy."""

from __future__ import annotations

import logging
import time

from siteglass.index.administration import admin
from siteglass.index.index import Index
from siteglass.index.names import written_as
from siteglass.platform.opensearch import EngineError

# A new generation waits this long for its shards, and one that lost some for their return; then writers go around it.
RED_GRACE_S = 10
GREEN_EVERY_S = 5
GREEN_WITHIN_S = 900
log = logging.getLogger(__name__)


async def red(index: Index, names: list[str]) -> list[str]:
    """Those of which a shard has no copy."""
    params = {"level": "indices", "filter_path": "indices.*.status"}
    answer = await admin(index, "GET", f"/_cluster/health/{index.names.write}", params=params)
    return [name for name in names if answer.get("indices", {}).get(name, {}).get("status") == "red"]


async def leave_if_red(index: Index, name: str) -> bool:
    """Whether a generation was taken out of the writers' way: unfinished, and one of its shards is lost."""
    return name in await red(index, [name]) and await leave_if_unfinished(index, name)


async def leave_if_unfinished(index: Index, name: str) -> bool:
    """Take a red generation that nobody searches yet out of the write alias, unless its shards return in time.

    A rebuild that still fills it ends then: changes would be missing in what it promotes.
    """
    found = await admin(index, "GET", f"/{name}/_mapping")
    if not found[name]["mappings"].get("_meta", {}).get("unfinished"):
        return False
    if await _comes_to(index, name, "yellow", RED_GRACE_S):
        return False
    actions = [{"remove": {"index": name, "alias": alias}} for alias in (index.names.write, written_as(name))]
    await admin(index, "POST", "/_aliases", {"actions": actions})
    log.warning(
        "generation left the write alias",
        extra={"generation": name, "reason": "a shard of it is lost and a rebuild had not finished it"},
    )
    return True


async def wait_until_green(index: Index, name: str) -> str | None:
    """None once every copy of every shard is there; otherwise what is missing."""
    ends = time.monotonic() + GREEN_WITHIN_S
    while not await _comes_to(index, name, "green", GREEN_EVERY_S):
        health = await admin(index, "GET", f"/_cluster/health/{name}")
        coming = health["initializing_shards"] + health["delayed_unassigned_shards"]
        if not coming or time.monotonic() > ends:
            missing = health["initializing_shards"] + health["unassigned_shards"]
            return f"{name} is {health['status']}: {missing} of its shards or copies of them are missing"
    return None


async def _comes_to(index: Index, name: str, status: str, within_s: int) -> bool:
    """Whether its health becomes this, or better, in time."""
    waiting = {"wait_for_status": status, "timeout": f"{within_s}s"}
    try:
        await admin(index, "GET", f"/_cluster/health/{name}", params=waiting)
    except EngineError as error:
        if error.status != 408:
            raise
        return False
    return True


async def default_replicas(index: Index) -> int:
    """One copy of each shard where there is a second node for it."""
    health = await admin(index, "GET", "/_cluster/health")
    return 1 if health["number_of_data_nodes"] > 1 else 0
