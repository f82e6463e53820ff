"""What OpenSearch says of itself: version, health of our indices, free disk space. The doctor, /readyz and metrics
ask it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from siteglass.errors import Unavailable
from siteglass.index.index import Index
from siteglass.platform.metrics import GENERATION_MADE, GENERATION_STATUS
from siteglass.platform.opensearch import EngineError

READY_TIMEOUT_MS = 2_000
REPORT_EVERY_S = 10.0
STATUSES = ("green", "yellow", "red", "unknown")

_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "pb": 2**50}
_WATERMARK = "cluster.routing.allocation.disk.watermark."


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster as a whole, and our part of it."""

    version: str
    nodes: int
    health: str
    """Only our generations: this service cannot fix a broken index of another one."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The fullest node: what is free, and the least that must stay free before the cluster acts."""

    node: str
    free_bytes: int
    low_bytes: int
    """Below this, no new shard goes to the node."""
    flood_bytes: int
    """Below this, indices on the node take no more writes."""
    enforced: bool


async def cluster(index: Index, timeout_ms: int) -> Cluster:
    """Ask the cluster; raises Unavailable or EngineError."""
    engine = index.opensearch
    root = await engine.request("GET", "/", timeout_ms=timeout_ms)
    health = await engine.request("GET", f"/_cluster/health/{index.names.generations}", timeout_ms=timeout_ms)
    version = root["version"]
    return Cluster(
        f"{version.get('distribution', 'not OpenSearch')} {version['number']}",
        health["number_of_nodes"],
        health["status"],
    )


async def readiness(index: Index) -> str | None:
    """Why some leads cannot be read, or None; according to whichever node answers."""
    path, params = f"/_cluster/health/{index.names.read}", {"local": "true"}
    try:
        health = await index.opensearch.request("GET", path, timeout_ms=READY_TIMEOUT_MS, params=params)
    except EngineError as error:
        return f"opensearch refused: {error.status}"
    except Unavailable:
        return "opensearch does not respond"
    return "shards of the live index are missing" if health["status"] == "red" else None


async def report_generation(index: Index) -> None:
    """Set the metrics of the live generation; a job of every worker, since each has its own metrics."""
    # Without a live generation, OpenSearch would wait for one.
    params = {"level": "indices", "local": "true", "timeout": "0s", "filter_path": "indices.*.status"}
    path = f"/_cluster/health/{index.names.read}"
    try:
        answer = await index.opensearch.request("GET", path, timeout_ms=READY_TIMEOUT_MS, params=params)
    except (EngineError, Unavailable):
        answer = {}
    name, described = next(iter(answer.get("indices", {}).items()), ("", {"status": "unknown"}))
    for status in STATUSES:
        GENERATION_STATUS.labels(status).set(status == described["status"])
    if (made_at := index.names.made_at(name)) is not None:
        GENERATION_MADE.set(made_at.timestamp())


async def disk(index: Index, timeout_ms: int) -> Disk | None:
    """Room on the fullest node; None where the cluster does not report it, as some that others manage."""
    engine = index.opensearch
    params = {"include_defaults": "true", "flat_settings": "true"}
    answer = await engine.request("GET", "/_cluster/settings", timeout_ms=timeout_ms, params=params)
    settings = {**answer.get("defaults", {}), **answer["persistent"], **answer["transient"]}
    stats = await engine.request("GET", "/_nodes/stats/fs", timeout_ms=timeout_ms)
    found = []
    for node in stats["nodes"].values():
        total = node.get("fs", {}).get("total", {})
        if "available_in_bytes" in total and f"{_WATERMARK}low" in settings:
            size = total["total_in_bytes"]
            low, flood = (_must_stay_free(settings[_WATERMARK + stage], size) for stage in ("low", "flood_stage"))
            enforced = settings.get("cluster.routing.allocation.disk.threshold_enabled") != "false"
            found.append(Disk(node["name"], total["available_in_bytes"], low, flood, enforced))
    return min(found, key=lambda disk: disk.free_bytes - disk.flood_bytes, default=None)


def _must_stay_free(watermark: str, size: int) -> int:
    """A watermark in bytes: `85%` and `0.85` say how much may be used, `500mb` how much must be free."""
    if amount := re.fullmatch(r"([\d.]+)([kmgtp]?b)", watermark.lower()):
        return int(float(amount[1]) * _UNITS[amount[2]])
    used = float(watermark.rstrip("%")) / (100 if watermark.endswith("%") else 1)
    return int(size * (1 - used))
