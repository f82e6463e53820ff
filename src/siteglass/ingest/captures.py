"""Captures of many domains as columns: which speak for their domain, which are its best, and which need no content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from siteglass.ingest.facts import FACTS_SCHEMA
from siteglass.ingest.grouped import ASCENDING, DESCENDING, Order, column, exploded, few, mask, numbers, pc

MAX_PAGES = 50
MAX_TIME_MS = 2**42
# Of more than this the content of pages that will not be read is let go.
MAX_HELD_BYTES = 512 * 2**20
MAX_HELD_TABLES = 300

Priority = Callable[[str], int]

# What is known of a capture that is not read: enough to say when its body was seen, and whether its domain is a lead.
LIGHT = (
    "domain", "url", "path", "is_home", "kind", "captured_at_ms", "archive", "offset", "digest", "redirects_to",
    "alias_of", "noindex", "missed_at_ms",
)  # fmt: skip
MAY_BE_UNKNOWN = (
    "secure", "responsive", "has_schema", "has_heading", "has_description", "has_robots", "has_sitemap",
    "load_time_ms", "first_captured_ms", "last_captured_ms",
)  # fmt: skip
_RANK: list[Order] = [
    *((name, ASCENDING) for name in ("lead", "later", "worth")),
    ("captured_at_ms", DESCENDING),
    *((name, ASCENDING) for name in ("digest", "url", "archive", "offset", "light")),
]


def checked(captures: pa.Table, name: str) -> pa.Table:
    """Facts as extraction writes them: all is known but flags and times of loading."""
    captures = captures.select(FACTS_SCHEMA.names)
    for field in FACTS_SCHEMA:
        if field.name not in MAY_BE_UNKNOWN and captures.column(field.name).null_count:
            raise ValueError(f"{name}: {field.name} is null in a row. Extract this file again from its archive.")
    return captures


def believable(captures: pa.Table) -> pa.Table:
    """Those of a time that can be."""
    at_ms = captures.column("captured_at_ms")
    can_be = pc.and_(pc.greater_equal(at_ms, 0), pc.less(at_ms, MAX_TIME_MS))
    return captures if pc.all(can_be).as_py() else captures.filter(can_be)


def newest_ms(captures: pa.Table) -> Any:
    """The time of the newest fact of each row: its capture, or a newer attempt that failed."""
    times = numbers(captures, "captured_at_ms").copy()
    rows = captures.select(["missed_at_ms"]).append_column("lead", pa.array(np.arange(captures.num_rows)))
    missed = exploded(rows, "missed_at_ms")
    np.maximum.at(times, numbers(missed, "lead"), numbers(missed, "value"))
    return times


def numbered(captures: pa.Table) -> tuple[Any, pa.Array[Any]]:
    """The number of each capture's domain, and the domains in their order."""
    names = column(captures, "domain").dictionary_encode()
    order = pc.sort_indices(names.dictionary).to_numpy()
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[names.indices.to_numpy()], names.dictionary.take(pa.array(order))


def speaks(captures: pa.Table) -> Any:
    """Which captures are pages that say something of their domain. A home page that asks not to be listed does not.
    Other pages do: many sites ask it for their imprint and contact page, for the sake of their ranking."""
    is_refused = pc.and_(captures.column("noindex"), captures.column("is_home"))
    return pc.and_(pc.equal(captures.column("kind"), "page"), pc.invert(is_refused)).combine_chunks()


def best_pages(captures: pa.Table, rows: Any, leads: Any, priority: Priority) -> pa.Table:
    """Of some rows those of the best MAX_PAGES bodies of each domain, best first, with the times of all of that body.

    Of captures with equal bodies the best stands for all. The order is total: the same captures have the same best ones
    wherever they lie."""
    ranked = _ranked(captures, rows, leads, priority)
    bodies = ranked.group_by(["lead", "digest"], use_threads=False).aggregate(
        [("place", "min"), ("captured_at_ms", "min"), ("captured_at_ms", "max")]
    )
    bodies = few(bodies.sort_by("place_min"), MAX_PAGES)
    return pa.table(
        {
            "lead": bodies.column("lead"),
            "row": ranked.column("row").take(bodies.column("place_min")),
            "first_seen_ms": bodies.column("captured_at_ms_min"),
            "last_seen_ms": bodies.column("captured_at_ms_max"),
        }
    )


def _ranked(captures: pa.Table, rows: Any, leads: Any, priority: Priority) -> pa.Table:
    """Captures by domain and worth: the home page, key pages, the newest; of twins the one that has its content."""
    light = pc.is_null(captures.column("text")).combine_chunks().take(pa.array(rows))
    captures = captures.select(["path", "is_home", "captured_at_ms", "digest", "url", "archive", "offset"]).take(rows)
    paths = column(captures, "path").dictionary_encode()
    worths = pa.array([priority(path) for path in paths.dictionary.to_pylist()], pa.int32()).take(paths.indices)
    not_root = pc.not_equal(column(captures, "path"), "/").cast(pa.int32())
    home = column(captures, "is_home")
    ranked = captures.drop_columns(["path", "is_home"])
    more = {
        "row": pa.array(rows),
        "lead": pa.array(leads),
        "later": pc.invert(home),
        "worth": pc.if_else(home, not_root, worths),
        "light": light.cast(pa.int8()),
    }
    for name, values in more.items():
        ranked = ranked.append_column(name, values)
    ranked = ranked.sort_by(_RANK)
    return ranked.append_column("place", pa.array(np.arange(ranked.num_rows)))


def lightened(captures: pa.Table, priority: Priority) -> pa.Table:
    """Captures without the content of pages that will not be read, whatever other captures there are elsewhere: those
    that do not speak, and those with MAX_PAGES better ones here. A million pages are moved as that many short rows."""
    leads, _ = numbered(captures)
    light = mask(pc.equal(captures.column("kind"), "page")).copy()
    speaking = np.flatnonzero(mask(speaks(captures)))
    if len(speaking) == light.sum() and np.bincount(leads[speaking], minlength=1).max() <= MAX_PAGES:
        return captures
    light[numbers(best_pages(captures, speaking, leads[speaking], priority), "row")] = False
    kept: Any = pa.array(np.arange(captures.num_rows), mask=light)
    columns = {name: captures.column(name) for name in FACTS_SCHEMA.names}
    columns |= {name: values.take(kept) for name, values in columns.items() if name not in LIGHT}
    return pa.table(columns, schema=FACTS_SCHEMA)


class CaptureCollector:
    """The captures of a part as they come, from many files. However many pages a domain has, few are in memory."""

    def __init__(self, priority: Priority, max_bytes: int = MAX_HELD_BYTES) -> None:
        self._priority = priority
        self._max_bytes = max_bytes
        self._held: list[pa.Table] = [FACTS_SCHEMA.empty_table()]
        self._bytes, self._most = 0, max_bytes

    def add(self, captures: pa.Table) -> None:
        """Take some more."""
        self._held.append(captures)
        self._bytes += captures.nbytes
        if len(self._held) > MAX_HELD_TABLES:
            self._held = [self.captures()]  # many small ones take more room than their content
        if self._bytes > self._most:
            self._held = [lightened(self.captures(), self._priority)]
            self._bytes = self._held[0].nbytes
            # If everything left must stay in memory, it is not scanned again for each block.
            self._most = max(self._max_bytes, 2 * self._bytes)

    def captures(self) -> pa.Table:
        """All that came, in one piece."""
        return pa.concat_tables(self._held).combine_chunks()
