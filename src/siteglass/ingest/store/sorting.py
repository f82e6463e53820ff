"""Facts of any number of files to folded pages in the order of their keys, some thousand rows in memory at a time."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.captures import believable, checked
from siteglass.ingest.facts import FACTS_SCHEMA
from siteglass.ingest.grouped import pc
from siteglass.ingest.store.files import keys_of
from siteglass.ingest.store.folding import fold

ROWS_AT_ONCE = 20_000
NOT_MODIFIED = 304
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def folded_files(paths: Sequence[Path], rows_at_once: int = ROWS_AT_ONCE) -> Iterator[pa.Table]:
    """The pages of files of facts, each once, in the order of their keys.

    Rows are first dealt out to files of their own by their key, in a folder that is deleted afterwards.
    """
    rows = sum(pq.read_metadata(path).num_rows for path in paths)
    if rows <= rows_at_once:
        yield fold(_all(paths))
        return
    bounds = _bounds(paths, math.ceil(rows / rows_at_once))
    with tempfile.TemporaryDirectory(prefix=".sorting-", dir=paths[0].parent) as folder:
        buckets = [Path(folder) / f"{number:05}.arrow" for number in range(len(bounds) + 1)]
        with ExitStack() as stack:
            writers = [
                stack.enter_context(pa.ipc.new_file(str(path), FACTS_SCHEMA, options=_OPTIONS)) for path in buckets
            ]
            for path in paths:
                for table in _groups(path):
                    for number, some in _dealt(table, bounds):
                        writers[number].write_table(some)
        for path in buckets:
            with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
                table = reader.read_all()
                yield fold(table)
            path.unlink()


def _all(paths: Sequence[Path]) -> pa.Table:
    return pa.concat_tables([FACTS_SCHEMA.empty_table(), *(table for path in paths for table in _groups(path))])


def _groups(path: Path) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            table = believable(checked(file.read_row_group(number, use_threads=False), path.name)).cast(FACTS_SCHEMA)
            # An answer that the page is as it was has no content, and must not take the place of the page.
            yield table.filter(pc.not_equal(table.column("status"), NOT_MODIFIED))


def _bounds(paths: Sequence[Path], buckets: int) -> Any:
    """The first keys of all buckets but the first, so that each has about as many rows."""
    keys = np.concatenate([_keys(pq.read_table(path, columns=["domain", "url"])) for path in paths])
    keys.sort()
    return np.unique(keys[[number * len(keys) // buckets for number in range(1, buckets)]])


def _keys(table: pa.Table) -> Any:
    return np.array(keys_of(table).to_pylist(), dtype=object)


def _dealt(table: pa.Table, bounds: Any) -> Iterator[tuple[int, pa.Table]]:
    buckets = np.searchsorted(bounds, _keys(table), side="right")
    for number in np.unique(buckets).tolist():
        yield number, table.filter(pa.array(buckets == number))
