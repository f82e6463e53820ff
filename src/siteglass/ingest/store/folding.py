"""Captures of many crawls to one row for each page: its newest capture, and when it and its values were seen.

Only times decide, never the order of runs: folding rows in any order, or folding folded rows again, gives the same.

- The newest capture of an address counts. An older one says nothing any more, but when its values were seen.
- A page with status 404 or 410 is gone. That is its newest capture, and it has no content.
- Other failures, empty pages and error pages with status 200 are misses. The capture before them counts until there
  are MAX_MISSES of them in a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from siteglass.ingest.facts import FACTS_SCHEMA, SEEN
from siteglass.ingest.grouped import ASCENDING, DESCENDING, Order, column, exploded, few, lists, mask, numbers, pc

MAX_MISSES = 3
MAX_SEEN = 1_000
"""Values of a page whose times are kept, those that were seen last. A page may show others in every crawl."""
GONE_STATUSES = pa.array([404, 410], pa.int64())
_MISSES = pa.array(["soft_404", "empty"])
_NEWEST_FIRST: list[Order] = [
    ("domain", ASCENDING),
    ("url", ASCENDING),
    ("is_miss", ASCENDING),
    *((name, DESCENDING) for name in ("captured_at_ms", "digest", "archive", "offset")),
    ("age", ASCENDING),
]
_VALUES = {"email": "emails", "phone": "phones", "technology": "technologies"}


def fold(captures: pa.Table) -> pa.Table:
    """One row for each page, in the order of domains and addresses. Rows that say the same of the same capture may come
    from two extractions of it: the one that is later in the table counts."""
    if not captures.num_rows:
        return captures
    captures = with_seen(captures).combine_chunks()
    is_miss = _is_miss(captures)
    keys = captures.select(["domain", "url", "captured_at_ms", "digest", "archive", "offset"])
    keys = keys.append_column("is_miss", is_miss)
    keys = keys.append_column("age", pa.array(np.arange(captures.num_rows)[::-1]))
    order = pc.sort_indices(keys, sort_keys=_NEWEST_FIRST)
    captures, misses = captures.take(order), mask(is_miss)[order.to_numpy()]
    starts = _starts(captures)
    pages = np.cumsum(starts) - 1
    folded = captures.filter(pa.array(starts))
    times = _times(captures, pages)
    columns = {
        "missed_at_ms": _missed(captures, pages, misses, folded, is_missed=misses[starts]),
        "first_captured_ms": times.column("first_captured_ms_min"),
        "last_captured_ms": times.column("last_captured_ms_max"),
        "seen": _seen(captures, pages, folded.num_rows),
    }
    for name, values in columns.items():
        folded = folded.set_column(FACTS_SCHEMA.get_field_index(name), FACTS_SCHEMA.field(name), values)
    return folded.combine_chunks()


def current(pages: pa.Table) -> pa.Table:
    """Folded rows as the merge reads them: a page that was missed too often does not speak."""
    is_gone = pc.greater_equal(pc.list_value_length(pages.column("missed_at_ms")), MAX_MISSES)
    place = FACTS_SCHEMA.get_field_index("kind")
    return pages.set_column(
        place, FACTS_SCHEMA.field(place), pc.if_else(is_gone, pa.scalar("failed"), pages.column("kind"))
    )


def with_seen(captures: pa.Table) -> pa.Table:
    """Captures as extraction writes them, each with the history that it is itself: the values it shows, at its time."""
    is_new = pc.is_null(captures.column("last_captured_ms"))
    shows = pc.and_(is_new, pc.invert(pc.or_(_is_miss(captures), pc.equal(captures.column("kind"), "failed"))))
    if not pc.any(shows).as_py():
        return captures
    rows, own = captures.append_column("lead", _rows(captures)), mask(shows)
    at_ms = pc.if_else(shows, captures.column("captured_at_ms"), pa.scalar(None, pa.int64()))
    told: list[pa.Table] = [_exploded_seen(rows)]
    for kind, name in _VALUES.items():
        values = exploded(rows.select(["lead", name]), name)
        values = values.filter(pa.array(own[numbers(values, "place")]))
        times = column(captures, "captured_at_ms").take(column(values, "place"))
        told.append(
            pa.table(
                {
                    "lead": values.column("lead"),
                    "kind": pa.array([kind] * values.num_rows, pa.string()),
                    "value": values.column("value"),
                    "first_ms": times,
                    "last_ms": times,
                }
            )
        )
    columns = {
        "first_captured_ms": pc.coalesce(captures.column("first_captured_ms"), at_ms),
        "last_captured_ms": pc.coalesce(captures.column("last_captured_ms"), at_ms),
        "seen": _joined(pa.concat_tables(told), captures.num_rows),
    }
    for name, values in columns.items():
        captures = captures.set_column(FACTS_SCHEMA.get_field_index(name), FACTS_SCHEMA.field(name), values)
    return captures


def _rows(captures: pa.Table) -> Any:
    return pa.array(np.arange(captures.num_rows))


def _is_miss(captures: pa.Table) -> Any:
    kind = column(captures, "kind")
    failed = pc.and_(pc.equal(kind, "failed"), pc.invert(pc.is_in(column(captures, "status"), value_set=GONE_STATUSES)))
    return pc.or_(failed, pc.is_in(kind, value_set=_MISSES))


def _starts(captures: pa.Table) -> Any:
    """Where the rows of another page begin."""
    starts = np.ones(captures.num_rows, dtype=bool)
    differs = [
        pc.not_equal(values.slice(1), values.slice(0, len(values) - 1)).to_numpy(zero_copy_only=False)
        for values in (column(captures, name) for name in ("domain", "url"))
    ]
    starts[1:] = differs[0] | differs[1]
    return starts


def _times(captures: pa.Table, pages: Any) -> pa.Table:
    """When each page was captured first and last, null where it never was."""
    rows = captures.select(["first_captured_ms", "last_captured_ms"]).append_column("lead", pa.array(pages))
    return (
        rows.group_by("lead", use_threads=False)
        .aggregate([("first_captured_ms", "min"), ("last_captured_ms", "max")])
        .sort_by("lead")
    )


def _missed(captures: pa.Table, pages: Any, misses: Any, folded: pa.Table, is_missed: Any) -> Any:
    """The newest attempts that failed since the capture that counts. One that is a miss itself is among them."""
    rows = captures.select(["missed_at_ms"]).append_column("lead", pa.array(pages))
    earlier = exploded(rows, "missed_at_ms")
    leads = np.concatenate([numbers(earlier, "lead"), pages[misses]])
    times = np.concatenate([numbers(earlier, "value"), numbers(captures, "captured_at_ms")[misses]])
    since = np.where(is_missed, -1, numbers(folded, "captured_at_ms"))
    newer = times > since[leads]
    table = pa.table({"lead": leads[newer], "value": times[newer]}).group_by(["lead", "value"]).aggregate([])
    table = table.sort_by([("lead", ASCENDING), ("value", DESCENDING)])
    return lists(table, "value", folded.num_rows, MAX_MISSES)


def _seen(captures: pa.Table, pages: Any, count: int) -> Any:
    return _joined(_exploded_seen(captures.select(["seen"]).append_column("lead", pa.array(pages))), count)


def _exploded_seen(rows: pa.Table) -> pa.Table:
    return exploded(rows.select(["lead", "seen"]), "seen").drop_columns(["place"])


def _joined(told: pa.Table, count: int) -> Any:
    """Values with the first and the last time of each, as lists of so many rows."""
    values = told.group_by(["lead", "kind", "value"], use_threads=False).aggregate(
        [("first_ms", "min"), ("last_ms", "max")]
    )
    values = values.rename_columns({"first_ms_min": "first_ms", "last_ms_max": "last_ms"})
    by_value: list[Order] = [("kind", ASCENDING), ("value", ASCENDING)]
    values = few(values.sort_by([("lead", ASCENDING), ("last_ms", DESCENDING), *by_value]), MAX_SEEN)
    values = values.sort_by([("lead", ASCENDING), *by_value])
    fields = [field.name for field in SEEN.value_type]
    structs = pa.StructArray.from_arrays(
        [column(values, name) for name in fields], fields=[SEEN.value_type.field(name) for name in fields]
    )
    ends: Any = np.searchsorted(numbers(values, "lead"), np.arange(count + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(ends, structs, type=SEEN)
