"""Index generations: made aside, filled, promoted by swapping the read alias, dropped. Readers never see the change.

All generations that take writes stand behind the write alias; a writer asks for them before each batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from siteglass import __version__
from siteglass.backends import Backends, EngineError
from siteglass.errors import Unavailable
from siteglass.index import mapping
from siteglass.index.names import Names

ADMIN_TIMEOUT_MS = 60_000


class GenerationError(Exception):
    """An administrative step that cannot be taken; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What `status` tells of one generation."""

    name: str
    documents: int
    size_bytes: int
    health: str
    live: bool
    takes_writes: bool
    schema_version: int
    source: str


@dataclass(frozen=True, slots=True)
class Shape:
    """How a generation is laid out on the cluster."""

    shards: int = 1
    replicas: int = 0
    codec: str = "default"
    refresh_interval: str = "1s"
    query_cache: bool = True


async def create(backends: Backends, names: Names, shape: Shape, source: str = "") -> str:
    """A new, empty generation that takes writes; returns its name."""
    name = names.generation(backends.clock.now_ms())
    body = mapping.index_body(
        shards=shape.shards,
        replicas=shape.replicas,
        codec=shape.codec,
        refresh_interval=shape.refresh_interval,
        build=__version__,
        source=source,
        query_cache=shape.query_cache,
    )
    body["aliases"] = {names.write: {}}
    await _admin(backends, "PUT", f"/{name}", body)
    return name


async def writable(backends: Backends, names: Names) -> list[str]:
    """Generations that take writes, oldest first."""
    try:
        answer = await _admin(backends, "GET", f"/_alias/{names.write}")
    except EngineError as error:
        if error.status == 404:
            return []
        raise
    return sorted(answer)


async def oldest_made_at(backends: Backends, names: Names) -> datetime | None:
    """When the oldest generation that takes writes was made."""
    found = await writable(backends, names)
    return names.made_at(found[0]) if found else None


async def live(backends: Backends, names: Names) -> str | None:
    """The generation that is searched."""
    try:
        answer = await _admin(backends, "GET", f"/_alias/{names.read}")
    except EngineError as error:
        if error.status == 404:
            return None
        raise
    return next(iter(answer), None)


async def promote(backends: Backends, names: Names, name: str) -> None:
    """Let searches see this generation, in one step."""
    await require(backends, names, name)
    await refresh(backends, [name])
    actions = [
        {"remove": {"index": names.generations, "alias": names.read, "must_exist": False}},
        {"add": {"index": name, "alias": names.read}},
    ]
    await _admin(backends, "POST", "/_aliases", {"actions": actions})


async def refresh(backends: Backends, generations: list[str]) -> None:
    """Make what was written visible to searches."""
    await _admin(backends, "POST", f"/{','.join(generations)}/_refresh")


async def drop(backends: Backends, names: Names, name: str) -> None:
    """Delete a generation; the live one is kept."""
    await require(backends, names, name)
    if await live(backends, names) == name:
        raise GenerationError(f"{name} is live. Promote another generation first: siteglass index promote NAME")
    await _admin(backends, "DELETE", f"/{name}")


async def require(backends: Backends, names: Names, name: str) -> None:
    """Raise unless the generation exists."""
    known = [generation.name for generation in await status(backends, names)]
    if name not in known:
        listed = ", ".join(known) or "none; make one with: siteglass index create"
        raise GenerationError(f"There is no generation {name}. There are: {listed}")


async def status(backends: Backends, names: Names) -> list[Generation]:
    """All generations, oldest first."""
    found = await _admin(backends, "GET", f"/{names.generations}")
    params = {"format": "json", "bytes": "b", "h": "index,docs.count,store.size,health"}
    rows = await _admin(backends, "GET", f"/_cat/indices/{names.generations}", params=params)
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
                names.read in described["aliases"],
                names.write in described["aliases"],
                int(meta.get("schema_version", 0)),
                str(meta.get("source", "")),
            )
        )
    return generations


async def readiness(backends: Backends, names: Names) -> str | None:
    """Why searches cannot be answered, or None."""
    try:
        found = await backends.opensearch.request("GET", f"/{names.read}/_mapping", timeout_ms=2_000)
    except EngineError as error:
        return "no index generation is live" if error.status == 404 else f"opensearch refused: {error.status}"
    except Unavailable:
        return "opensearch does not answer"
    versions = [index["mappings"].get("_meta", {}).get("schema_version", 0) for index in found.values()]
    if not versions or min(versions) < mapping.OLDEST_READABLE_SCHEMA:
        return f"the live index has schema {versions}, this build reads {mapping.OLDEST_READABLE_SCHEMA} and newer"
    return None


async def _admin(
    backends: Backends, method: str, path: str, body: Any = None, params: dict[str, str] | None = None
) -> Any:
    return await backends.opensearch.request(method, path, body, timeout_ms=ADMIN_TIMEOUT_MS, params=params)
