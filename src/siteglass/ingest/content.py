"""What a lead says, as a hash: equal when nothing but times changed since the last crawl."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from siteglass.corpus.lead_files import LEAD_SCHEMA, unknown_column

# Times, details with the times of pages, what is not shown, and what the loader assigns: whatever they are, the lead
# says the same. How long a page took differs each time.
NOT_CONTENT = (
    "crawled_at_ms",
    "updated_at_ms",
    "first_seen_ms",
    "newest_fact_ms",
    "load_time_ms",
    "lead_no",
    "emails_detail",
    "phones_detail",
    "hidden_contacts",
    "aliases",
)
HASH_BYTES = 16

_PREVIOUS: dict[str, pa.DataType] = {
    "domain": pa.string(),
    "previous_hash": pa.binary(),
    "previous_updated_at_ms": pa.int64(),
}
PREVIOUS_SCHEMA: pa.Schema = pa.schema(_PREVIOUS)
_NONE, _BETWEEN_VALUES, _BETWEEN_FIELDS = "\x00", "\x1f", "\x1e"


def content_hashes(leads: pa.RecordBatch | pa.Table) -> list[bytes]:
    """A hash of each row over all fields but NOT_CONTENT; a column that is missing counts as unknown."""
    columns: list[Any] = []
    for field in LEAD_SCHEMA:
        if field.name in NOT_CONTENT:
            continue
        is_known = field.name in leads.schema.names
        columns += _as_texts(leads.column(field.name) if is_known else unknown_column(field, leads.num_rows))
    joined: Any = pc.binary_join_element_wise(*columns, _BETWEEN_FIELDS)
    return [hashlib.blake2b(text.encode(), digest_size=HASH_BYTES).digest() for text in joined.to_pylist()]


def _as_texts(column: Any) -> list[Any]:
    """A column as one of texts, or, of a map, as two."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_map(column.type):
        lists = [pa.ListArray.from_arrays(column.offsets, part) for part in (column.keys, column.items)]
        return [pc.binary_join(one, _BETWEEN_VALUES) for one in lists]
    if pa.types.is_list(column.type):
        column = pc.binary_join(column.cast(pa.list_(pa.string())), _BETWEEN_VALUES)
    return [column.cast(pa.string()).fill_null(_NONE)]


def hashes_of_file(path: Path) -> pa.Table:
    """Domain, hash and time of the last change of the leads of a file, which may hold just these."""
    if pq.read_schema(path).names == PREVIOUS_SCHEMA.names:
        return pq.read_table(path)
    return pa.Table.from_batches(_hashes_of_groups(path), PREVIOUS_SCHEMA)


def _hashes_of_groups(path: Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            table = file.read_row_group(number)
            updated = table.column("updated_at_ms").combine_chunks()
            yield pa.record_batch(
                [table.column("domain").combine_chunks(), pa.array(content_hashes(table), pa.binary()), updated],
                schema=PREVIOUS_SCHEMA,
            )
