"""How many leads have each value, taken once from the live generation: completion shows frequent values first."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from siteglass.index.generation_cache import GenerationCache
from siteglass.index.index import Index
from siteglass.index.mapping import properties
from siteglass.query import completion
from siteglass.query.completion import COMPLETABLE, KnownValue, Popularity
from siteglass.query.field import Kind as FieldKind
from siteglass.query.fields import ASKED
from siteglass.query.folding import fold
from siteglass.query.vocabulary import Kind, vocabulary

COUNT_TIMEOUT_MS = 30_000
# The engine refuses more than 65,535 buckets in one search.
MAX_VALUES = 10_000
MAX_COUNTRIES = 250
MAX_PLACES = 250

Key = tuple[str, ...]
"""A value folded as the index folds it; that of a place has its country before it."""

# Counted within their country, and, for regions, by the countries in them.
_PLACES = ("state", "city")
_REGIONS = ("region", "subregion")


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """The counts of one generation, by index field."""

    by_field: Mapping[str, Mapping[Key, int]]
    popularity: dict[str, Popularity] = field(default_factory=dict)
    """Made when a field is first asked for."""


class ValueCounter(GenerationCache[ValueCounts]):
    """The counts that this worker uses."""

    def __init__(self, index: Index) -> None:
        super().__init__(index, take_counts)

    async def popularity(self, name: str, kind: Kind) -> Popularity | None:
        """The order of a field's values by how many leads have them; None: not known yet."""
        counts = await self.current()
        if counts is None:
            return None
        if name not in counts.popularity:
            by_key = counts.by_field.get(_counted_field(name), {})
            counts.popularity[name] = await asyncio.to_thread(completion.popularity, kind, _count_of(kind, by_key))
        return counts.popularity[name]


async def take_counts(index: Index, generation: str) -> ValueCounts:
    """Count the values of every completable field in a generation."""
    simple = {name: _terms(name, MAX_VALUES) for name in _simple_fields()}
    by_country = {
        place: {"country": {**_terms("country", MAX_COUNTRIES), "aggs": {place: _terms(place, MAX_PLACES)}}}
        for place in _PLACES
    }
    found = [await _aggregate(index, generation, aggregations) for aggregations in (simple, *by_country.values())]
    counts: dict[str, dict[Key, int]] = {
        name: {(bucket["key"],): bucket["doc_count"] for bucket in found[0][name]["buckets"]} for name in simple
    }
    for place, answer in zip(by_country, found[1:], strict=True):
        counts[place] = {
            (country["key"], bucket["key"]): bucket["doc_count"]
            for country in answer["country"]["buckets"]
            for bucket in country[place]["buckets"]
        }
    return ValueCounts(counts | _by_region(counts["country"]))


def _counted_field(name: str) -> str:
    """The index field that has the values of a field: the one that is searched, if the engine can count it."""
    if ASKED[name].ask.kind is FieldKind.CHANGE:
        return "technologies"
    searched = ASKED[name].ask.index
    return searched if searched in _REGIONS or _is_countable(searched) else name


def _is_countable(index_field: str) -> bool:
    return bool(properties().get(index_field, {"doc_values": False}).get("doc_values", True))


def _simple_fields() -> list[str]:
    names = {_counted_field(one.field) for one in COMPLETABLE.values()} - {*_PLACES, *_REGIONS}
    return sorted(name for name in names if _is_countable(name))


def _terms(name: str, size: int) -> dict[str, Any]:
    return {"terms": {"field": name, "size": size}}


async def _aggregate(index: Index, generation: str, aggregations: dict[str, Any]) -> dict[str, Any]:
    """Sizes are bounded, so a value that few leads have may be missing: it counts as none."""
    answer = await index.opensearch.search(
        f"/{generation}/_search",
        {"size": 0, "track_total_hits": False, "aggs": aggregations},
        timeout_ms=COUNT_TIMEOUT_MS,
        params={"allow_partial_search_results": "false"},
    )
    found: dict[str, Any] = answer["aggregations"]
    return found


def _by_region(countries: Mapping[Key, int]) -> dict[str, dict[Key, int]]:
    """Every lead with a country is in its region and subregion."""
    regions: Counter[Key] = Counter()
    subregions: Counter[Key] = Counter()
    for (country,), count in countries.items():
        regions[(fold(vocabulary().region_of(country.upper()) or ""),)] += count
        subregions[(fold(vocabulary().subregion_of(country.upper()) or ""),)] += count
    return {"region": regions, "subregion": subregions}


def _count_of(kind: Kind, counts: Mapping[Key, int]) -> Callable[[KnownValue], int]:
    if kind == "state":
        return lambda one: counts.get((fold(one.country or ""), fold(one.value.partition("-")[2])), 0)
    if kind == "city":
        return lambda one: counts.get((fold(one.country or ""), fold(one.value)), 0)
    return lambda one: counts.get((fold(one.value),), 0)
