"""Index generations: made aside, filled, promoted by swapping the read alias, dropped. Readers never see the change.

The write alias names all generations that receive writes; a writer looks them up before each batch.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from siteglass import __version__
from siteglass.errors import Unavailable
from siteglass.index import mapping, shard_health
from siteglass.index.administration import admin
from siteglass.index.index import Index
from siteglass.index.names import written_as
from siteglass.platform.opensearch import EngineError

# A generation is named by the clock of the machine that created it, but opt-outs are dated by PostgreSQL's clock. A
# fast clock must not let workers forget opt-outs that were listed just afterwards. No machine in use is wrong by a day.
CLOCK_MARGIN = timedelta(days=1)
META_TIMEOUT_MS = 2_000


class GenerationError(Exception):
    """An administrative step that cannot be taken; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What `status` shows of one generation."""

    name: str
    documents: int
    size_bytes: int
    health: str
    live: bool
    takes_writes: bool
    previous: bool
    """It was live before the live one: a rollback goes there."""
    unfinished: bool
    """A rebuild fills it, or did until it was killed."""
    schema_version: int
    source: str
    promoted_at_ms: int | None
    forced: str
    """Why it was promoted although it was refused."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a generation is laid out on the cluster."""

    shards: int = 1
    replicas: int | None = 0
    """Copies of each shard; None: one, where there is a second node for it."""
    codec: str = "default"
    refresh_interval: str = "1s"
    query_cache: bool = True


async def create(index: Index, shape: Shape, source: str = "", *, unfinished: bool = False) -> str:
    """A new, empty generation that takes writes; returns its name. An unfinished one waits for `finish`."""
    name = index.names.generation(index.clock.now_ms())
    body = mapping.index_body(
        shards=shape.shards,
        replicas=await shard_health.default_replicas(index) if shape.replicas is None else shape.replicas,
        codec=shape.codec,
        refresh_interval=shape.refresh_interval,
        build=__version__,
        source=source,
        query_cache=shape.query_cache,
    )
    body["aliases"] = {index.names.write: {}, written_as(name): {}}
    if unfinished:
        body["mappings"]["_meta"]["unfinished"] = True
    await admin(index, "PUT", f"/{name}", body, repeatable=False)
    return name


async def finish(index: Index, name: str, shape: Shape) -> None:
    """All is in it: from now on searches see what is written, and it is marked so."""
    await admin(index, "PUT", f"/{name}/_settings", {"index": {"refresh_interval": shape.refresh_interval}})
    await refresh(index, [name])
    await note(index, name, unfinished=None)


async def note(index: Index, name: str, **facts: Any) -> None:
    """Keep facts with a generation; None forgets one."""
    found = await admin(index, "GET", f"/{name}/_mapping")
    # The engine replaces `_meta` as a whole.
    meta = {**found[name]["mappings"].get("_meta", {}), **facts}
    kept = {fact: value for fact, value in meta.items() if value is not None}
    await admin(index, "PUT", f"/{name}/_mapping", {"_meta": kept})


async def writable(index: Index) -> list[str]:
    """Generations that take writes, oldest first. Those of an older schema get the fields that they lack: the mapping
    is strict, and would reject documents that have them."""
    # `aliases` has the write alias at least, so that no generation is left out of the response.
    params = {"filter_path": "*.aliases,*.mappings._meta.schema_version"}
    try:
        found = await admin(index, "GET", f"/{index.names.write}", params=params)
    except EngineError as error:
        if error.status == 404:
            return []
        raise
    for name in await shard_health.red(index, list(found)):
        if await shard_health.leave_if_unfinished(index, name):
            del found[name]
    for name, described in found.items():
        version = described.get("mappings", {}).get("_meta", {}).get("schema_version", 0)
        if mapping.OLDEST_READABLE_SCHEMA <= version < mapping.SCHEMA_VERSION:
            # Adding what is there already changes nothing. The version stays: it says what the documents contain.
            added = {
                field: described for field, described in mapping.properties().items() if field in mapping.ADDED_FIELDS
            }
            await admin(index, "PUT", f"/{name}/_mapping", {"properties": added})
    return sorted(found)


async def require_writable(index: Index) -> list[str]:
    """Generations that take writes; raises if there is none."""
    targets = await writable(index)
    if not targets:
        raise GenerationError("No generation takes writes. Make one first: siteglass index create")
    return targets


async def oldest_made_at(index: Index) -> datetime | None:
    """No later than when the oldest generation that takes writes and may be searched was made.

    An unfinished one is not searched: abandoned by a rebuild that was killed, it must not hold this back for ever.
    """
    params = {"filter_path": "*.aliases,*.mappings._meta.unfinished"}
    try:
        found = await admin(index, "GET", f"/{index.names.write}", params=params)
    except EngineError as error:
        if error.status == 404:
            return None
        raise
    searched = [
        name
        for name, described in found.items()
        if index.names.read in described["aliases"]
        or not described.get("mappings", {}).get("_meta", {}).get("unfinished")
    ]
    made_at = index.names.made_at(min(searched)) if searched else None
    return made_at and made_at - CLOCK_MARGIN


async def live(index: Index) -> str | None:
    """The generation that is searched."""
    return await _target_of(index, index.names.read)


async def previous(index: Index) -> str | None:
    """The generation that was searched before."""
    return await _target_of(index, index.names.previous)


async def is_gone(index: Index, name: str) -> bool:
    """Whether a generation was dropped; one that only lacks an alias is still there."""
    try:
        await admin(index, "GET", f"/{name}/_alias")
    except EngineError as error:
        if error.status == 404:
            return True
        raise
    return False


async def _target_of(index: Index, alias: str) -> str | None:
    try:
        answer = await admin(index, "GET", f"/_alias/{alias}")
    except EngineError as error:
        if error.status == 404:
            return None
        raise
    return next(iter(answer), None)


async def promote(index: Index, name: str, forced: str | None = None, *, accept_yellow: str | None = None) -> None:
    """Let searches see this generation, in one step, which also keeps the one that was live as the way back.

    Waits until every copy of its shards is there, unless there is a reason not to.
    """
    if not (await require(index, name)).takes_writes:
        raise GenerationError(f"{name} does not receive writes, so recent changes are missing. Rebuild it.")
    missing = None if accept_yellow else await shard_health.wait_until_green(index, name)
    if missing is not None:
        raise GenerationError(
            f"{missing}, so losing one more node would stop searches. Add a node, or promote it all the same: "
            f"siteglass index promote {name} --accept-yellow REASON"
        )
    await refresh(index, [name])
    was_live = await live(index)
    if was_live != name:
        await _point(index, name, was_live)
    await note(index, name, promoted_at_ms=index.clock.now_ms(), forced=forced or accept_yellow)


async def rollback(index: Index) -> tuple[str, str]:
    """Let searches see the generation that was live before; it and the one they saw until now.

    From there no way leads further back, nor forward but by promotion: run twice, it must not bring back what was bad.
    """
    was_live, target = await live(index), await previous(index)
    if was_live is None or target is None:
        raise GenerationError(
            "There is no generation to roll back to: none was live before, it was dropped, or a rollback was already "
            "done. `siteglass index status` lists them; siteglass index promote NAME"
        )
    found = await require(index, target)
    if not found.takes_writes or found.schema_version < mapping.OLDEST_READABLE_SCHEMA:
        raise GenerationError(
            f"{target} was live before, but does not receive writes or has schema {found.schema_version}, which this "
            "build cannot read. Rebuild: siteglass index rebuild SOURCE --promote"
        )
    await refresh(index, [target])
    await _point(index, target, None)
    await note(index, target, promoted_at_ms=index.clock.now_ms())
    return target, was_live


async def _point(index: Index, read: str, previous: str | None) -> None:
    """Swap both aliases; the engine takes all actions or none, and no search falls in between."""
    actions: list[dict[str, Any]] = [
        {"remove": {"index": index.names.generations, "alias": alias, "must_exist": False}}
        for alias in (index.names.read, index.names.previous)
    ]
    actions.append({"add": {"index": read, "alias": index.names.read}})
    if previous is not None:
        actions.append({"add": {"index": previous, "alias": index.names.previous}})
    await admin(index, "POST", "/_aliases", {"actions": actions})


async def retain(index: Index, keep: int) -> list[str]:
    """Drop finished generations older than the live one but the last `keep`; the names of those dropped.

    The one that was live before is the last to go. Newer ones, and those that a rebuild may still fill, stay.
    """
    found = await status(index)
    serving = next((generation for generation in found if generation.live), None)
    if serving is None:
        return []
    old = [g for g in found if g.name < serving.name and not g.unfinished]
    dropped = sorted(old, key=lambda g: (g.previous, g.name), reverse=True)[keep:]
    if any(generation.previous for generation in dropped):
        # Searches that began in it come to their end first.
        ends_ms = (serving.promoted_at_ms or 0) + index.settings.search_timeout_ms
        await asyncio.sleep(max(0, ends_ms - index.clock.now_ms()) / 1000)
    for generation in dropped:
        await drop(index, generation.name)
    return [generation.name for generation in dropped]


async def refresh(index: Index, generations: list[str]) -> None:
    """Make what was written visible to searches."""
    # One that was dropped meanwhile has nothing to show.
    await admin(index, "POST", f"/{','.join(generations)}/_refresh", params={"ignore_unavailable": "true"})


async def count(index: Index, name: str, query: dict[str, Any]) -> int:
    """How many leads of a generation match; a part of them is a failure."""
    answer = await admin(index, "POST", f"/{name}/_count", {"query": query})
    if answer["_shards"]["failed"]:
        raise Unavailable(f"a shard of {name} does not respond")
    counted: int = answer["count"]
    return counted


async def drop(index: Index, name: str) -> None:
    """Delete a generation; the live one is kept."""
    await require(index, name)
    if await live(index) == name:
        raise GenerationError(f"{name} is live. Promote another generation first: siteglass index promote NAME")
    await admin(index, "DELETE", f"/{name}", repeatable=False)


async def require(index: Index, name: str) -> Generation:
    """The generation; raises unless it exists."""
    known = {generation.name: generation for generation in await status(index)}
    if name not in known:
        listed = ", ".join(known) or "none; create one with: siteglass index create"
        raise GenerationError(f"There is no generation {name}. Existing generations: {listed}")
    return known[name]


async def status(index: Index) -> list[Generation]:
    """All generations, oldest first."""
    found = await admin(index, "GET", f"/{index.names.generations}")
    params = {"format": "json", "bytes": "b", "h": "index,docs.count,store.size,health"}
    rows = await admin(index, "GET", f"/_cat/indices/{index.names.generations}", params=params)
    sizes = {row["index"]: row for row in rows}
    generations = []
    for name, described in sorted(found.items()):
        row = sizes.get(name, {})
        meta = described["mappings"].get("_meta", {})
        generations.append(
            Generation(
                name,
                int(row.get("docs.count") or 0),
                int(row.get("store.size") or 0),
                row.get("health") or "unknown",
                index.names.read in described["aliases"],
                index.names.write in described["aliases"],
                index.names.previous in described["aliases"],
                bool(meta.get("unfinished", False)),
                int(meta.get("schema_version", 0)),
                str(meta.get("source", "")),
                meta.get("promoted_at_ms"),
                str(meta.get("forced", "")),
            )
        )
    return generations


async def live_build(index: Index) -> tuple[str, str]:
    """The generation that is searched, and the build that made it."""
    found = await index.opensearch.request("GET", f"/{index.names.read}/_mapping", timeout_ms=META_TIMEOUT_MS)
    builds = ((name, str(one["mappings"].get("_meta", {}).get("build", ""))) for name, one in found.items())
    return max(builds, default=("", ""))


async def readiness(index: Index) -> str | None:
    """Why searches cannot be answered, or None."""
    try:
        found = await index.opensearch.request("GET", f"/{index.names.read}/_mapping", timeout_ms=META_TIMEOUT_MS)
    except EngineError as error:
        return "no index generation is live" if error.status == 404 else f"opensearch refused: {error.status}"
    except Unavailable:
        return "opensearch does not respond"
    versions = [index["mappings"].get("_meta", {}).get("schema_version", 0) for index in found.values()]
    if not versions or min(versions) < mapping.OLDEST_READABLE_SCHEMA:
        return f"the live index has schema {versions}, but this build reads {mapping.OLDEST_READABLE_SCHEMA} and newer"
    return None
