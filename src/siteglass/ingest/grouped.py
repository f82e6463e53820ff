"""Columns of Arrow by group: rows have the number of their `lead`, and nothing here loops over rows in Python."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute

# Its functions take more than its stubs know of: columns in one or several pieces, plain values.
pc: Any = pyarrow.compute

Way = Literal["ascending", "descending"]
ASCENDING: Way = "ascending"
DESCENDING: Way = "descending"

Order = tuple[str, Way]
"""A column, and which way."""


def column(table: pa.Table, name: str) -> Any:
    """A column in one piece."""
    return table.column(name).combine_chunks()


def listed(rows: pa.RecordBatch | pa.Table, name: str) -> list[Any]:
    """A column as values of Python."""
    return rows.column(name).to_pylist()


def numbers(table: pa.Table, name: str) -> Any:
    """A column of numbers without nulls, as numpy has them."""
    return table.column(name).to_numpy()


def mask(values: Any) -> Any:
    """Flags without nulls, as numpy has them."""
    return (values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values).to_numpy(zero_copy_only=False)


def few(table: pa.Table, most: int) -> pa.Table:
    """The first rows of each lead, at most so many; the table is in the order of leads."""
    leads = numbers(table, "lead")
    return table.filter(pa.array(np.arange(len(leads)) - np.searchsorted(leads, leads) < most))


def firsts(table: pa.Table, *order: Order) -> pa.Table:
    """The first row of each lead that has one, in an order that leaves no two rows equal."""
    return few(table.sort_by([("lead", ASCENDING), *order]), 1)


def once(table: pa.Table, *by: str) -> pa.Table:
    """Of the rows of a lead that are equal in some columns the first; the order stays."""
    places = table.select(["lead", *by]).append_column("_place", pa.array(np.arange(table.num_rows)))
    found = places.group_by(["lead", *by], use_threads=False).aggregate([("_place", "min")])
    return table.take(np.sort(numbers(found, "_place_min"))) if found.num_rows < table.num_rows else table


def voted(table: pa.Table, *by: str, weight: str | None = None) -> pa.Table:
    """One row for each lead and values of the columns `by`: how many there are as `votes`, or the sum of a weight.
    In no order."""
    told: Any = (weight, "sum") if weight else ("lead", "count")
    votes = table.group_by(["lead", *by], use_threads=False).aggregate([told])
    return votes.rename_columns([*votes.column_names[:-1], "votes"])


def spread(table: pa.Table, name: str, count: int, default: Any) -> Any:
    """A column by the numbers of leads, of which each has one row at most; others have the default."""
    places = np.full(count, -1)
    places[numbers(table, "lead")] = np.arange(table.num_rows)
    values = column(table, name).take(pa.array(places, mask=places < 0))
    return values if default is None else values.fill_null(default)


def lists(table: pa.Table, name: str, count: int, most: int | None = None) -> Any:
    """A list of values for each lead, at most so many; the table is in the order of leads."""
    if most is not None:
        table = few(table.select(["lead", name]), most)
    offsets: Any = np.searchsorted(numbers(table, "lead"), np.arange(count + 1)).astype(np.int32)
    return pa.ListArray.from_arrays(offsets, column(table, name))


def exploded(table: pa.Table, name: str) -> pa.Table:
    """One row for each value of a column of lists or maps: its `lead`, its `place` among the rows, and the value, or
    the fields of it."""
    held = column(table, name)
    parents = np.repeat(np.arange(len(held)), np.diff(held.offsets.to_numpy()))
    first, last = held.offsets[0].as_py(), held.offsets[-1].as_py()
    if pa.types.is_map(held.type):
        values = {"key": held.keys[first:last], "value": held.items[first:last]}
    else:
        inner = held.values[first:last]
        names = [field.name for field in inner.type] if pa.types.is_struct(inner.type) else ["value"]
        columns = inner.flatten() if pa.types.is_struct(inner.type) else [inner]
        values = dict(zip(names, columns, strict=True))
    return pa.table({"lead": numbers(table, "lead")[parents], "place": parents, **values})


def fitting(table: pa.Table, name: str, chars: int) -> pa.Table:
    """The rows whose text is neither empty nor too long."""
    length = pc.utf8_length(table.column(name))
    return table.filter(pc.and_(pc.greater(length, 0), pc.less_equal(length, chars)))
