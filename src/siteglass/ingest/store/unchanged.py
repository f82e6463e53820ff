"""Visits that found a page as it was before: rows without content, which take that of the page from the store.

Extraction writes such a row with status 304 and the digest of the page. The page is the one at the same address with
the same digest. The result is an ordinary row, as if the page had been fetched again, so the store has no rows of a
special kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.facts import FACTS_SCHEMA, page_digest
from siteglass.ingest.grouped import column, pc
from siteglass.ingest.store.sorting import NOT_MODIFIED

_COLUMNS = ["domain", "url", "captured_at_ms", "archive", "offset", "digest", "status", "noindex", "load_time_ms"]
_EMPTY = page_digest(b"")


class Visits(NamedTuple):
    """Visits that found a page as it was, and those of them whose page is not known."""

    rows: pa.Table

    @property
    def domains(self) -> list[str]:
        """Of these visits, in order."""
        names: list[str] = sorted(pc.unique(self.rows.column("domain")).to_pylist())
        return names

    def with_pages(self, pages: Iterable[pa.Table]) -> tuple[list[pa.Table], Visits]:
        """Rows of the visits whose page is among these, and the other visits."""
        found, left = list[pa.Table](), self.rows
        for some in pages:
            places = pc.index_in(_keys(left), value_set=_keys(some))
            is_known = pc.is_valid(places)
            if pc.any(is_known).as_py():
                found.append(_again(some.take(places.drop_null()), left.filter(is_known)))
                left = left.filter(pc.invert(is_known))
        return found, Visits(left)


def visits_in(paths: Sequence[Path]) -> Visits:
    """The visits in files of facts. An answer 304 that nobody asked for has the digest of nothing, and says nothing."""
    filters = (pc.field("status") == NOT_MODIFIED) & (pc.field("digest") != _EMPTY)
    tables = [pq.read_table(path, columns=_COLUMNS, filters=filters) for path in paths]
    schema = pa.schema([FACTS_SCHEMA.field(name) for name in _COLUMNS])
    return Visits(pa.concat_tables([schema.empty_table(), *(table.cast(schema) for table in tables)]))


def _keys(rows: pa.Table) -> Any:
    return pc.binary_join_element_wise(column(rows, "url"), column(rows, "digest"), " ")


def _again(pages: pa.Table, visits: pa.Table) -> pa.Table:
    """Pages with the time and place of the visits, and without the history that the store knows already."""
    count = pages.num_rows
    nothing: Any = pa.nulls(count, pa.int64())
    columns = {
        **{name: visits.column(name) for name in ("captured_at_ms", "archive", "offset")},
        "noindex": pc.or_(pages.column("noindex"), visits.column("noindex")),
        "load_time_ms": pc.coalesce(visits.column("load_time_ms"), pages.column("load_time_ms")),
        "first_captured_ms": nothing,
        "last_captured_ms": nothing,
        **{name: _no_values(name, count) for name in ("missed_at_ms", "seen")},
    }
    for name, values in columns.items():
        pages = pages.set_column(FACTS_SCHEMA.get_field_index(name), FACTS_SCHEMA.field(name), values)
    return pages


def _no_values(name: str, count: int) -> Any:
    kind: Any = FACTS_SCHEMA.field(name).type
    offsets: Any = np.zeros(count + 1, dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array([], kind.value_type), type=kind)
