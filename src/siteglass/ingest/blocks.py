"""Blocks: rows of Arrow in one piece of bytes, for all rows of a file that go to the same part of the merge.

Spark moves them as they are. Splitting forty columns into Spark's own rows and joining them again takes longer than the
rest of the merge.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from siteglass.ingest.grouped import column

# What Java holds of a block at once, several times over.
BLOCK_BYTES = 8 * 2**20
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)


def parts_of(domains: Any, parts: int) -> Any:
    """The part of each domain: by its name alone, the same in every run and on every machine."""
    names = domains.dictionary_encode()
    each = [zlib.crc32(name.encode()) % parts for name in names.dictionary.to_pylist()]
    return np.array(each, dtype=np.int32)[names.indices.to_numpy()]


def dealt(table: pa.Table, parts: int) -> Iterator[tuple[int, bytes]]:
    """The rows of a table as blocks, each with its part; `domain` is a column."""
    if not table.num_rows:
        return
    part = parts_of(column(table, "domain"), parts)
    order = np.argsort(part, kind="stable")
    table = table.combine_chunks().take(order)
    part = part[order]
    rows = max(1, BLOCK_BYTES * table.num_rows // max(1, table.nbytes))
    bounds = [*np.flatnonzero(np.diff(part, prepend=-1)).tolist(), len(part)]
    for start, end in pairwise(bounds):
        for first in range(start, end, rows):
            yield int(part[start]), packed(table.slice(first, min(rows, end - first)))


def packed(rows: pa.Table) -> bytes:
    """A block: a stream of Arrow's, with its columns' names and types."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()


def unpacked(block: Any) -> pa.Table:
    """The rows of a block."""
    with pa.ipc.open_stream(block) as reader:
        return reader.read_all()
