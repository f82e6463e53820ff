"""The settings that the cluster must have: compared with those it has, and set."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from siteglass.index.administration import admin
from siteglass.index.index import Index

_ZONES = "cluster.routing.allocation.awareness.attributes"
ZONE = "zone"
"""The attribute by which nodes name the machine or the place that may fail as a whole."""


@dataclass(frozen=True, slots=True)
class ClusterSetting:
    """A setting as it must be and as it is."""

    name: str
    expected: str
    found: str

    @property
    def ok(self) -> bool:
        return self.expected == self.found


@cache
def _always() -> dict[str, str]:
    text = (files("siteglass.index") / "cluster_settings.toml").read_text()
    return {name: str(value) for name, value in tomllib.loads(text).items()}


async def compare(index: Index) -> list[ClusterSetting]:
    """Every setting, with what the cluster has."""
    params = {"include_defaults": "true", "flat_settings": "true"}
    answer = await admin(index, "GET", "/_cluster/settings", params=params)
    has = {**answer.get("defaults", {}), **answer["persistent"], **answer["transient"]}
    return [ClusterSetting(name, value, _text(has.get(name))) for name, value in (await _wanted(index)).items()]


async def apply(index: Index) -> None:
    """Set what must be; it stays over restarts."""
    await admin(index, "PUT", "/_cluster/settings", {"persistent": await _wanted(index)})


async def _wanted(index: Index) -> dict[str, str]:
    """Zones only if every node names its own: a node without one would get no shard."""
    answer = await admin(index, "GET", "/_nodes", params={"filter_path": "nodes.*.attributes"})
    nodes: dict[str, Any] = answer.get("nodes", {})
    zoned = bool(nodes) and all(ZONE in node.get("attributes", {}) for node in nodes.values())
    return _always() | ({_ZONES: ZONE} if zoned else {})


def _text(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)
