"""Rows as a Parquet file with typed columns; needs the extra `parquet`."""

from __future__ import annotations

import importlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from siteglass_client.errors import MissingExtra

ROWS_AT_ONCE = 5_000
TEXT_LISTS = frozenset(
    {
        "emails",
        "phones",
        "technologies",
        "links",
        "keywords",
        "pages",
        "categories_uses",
        "offers",
        "social_accounts",
    }
)
TIMES = frozenset({"crawled_at", "updated_at"})
NUMBERS = frozenset({"score", "load_time_ms"})
FLAGS = frozenset(
    {
        "not_secure",
        "not_responsive",
        "missing_sitemap",
        "missing_schema",
        "missing_robot",
        "missing_heading",
        "missing_description",
    }
)
MAPS = frozenset({"social_links"})


def load_package(name: str, extra: str) -> Any:
    """An optional package, or an error that says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra(name.partition(".")[0], extra) from None


def convert(lines: Path, path: Path, columns: Sequence[str], numbers: frozenset[str]) -> None:
    """JSON lines become a Parquet file, which is there whole or not at all. `numbers` are more columns of numbers."""
    with lines.open("rb") as file:
        write_table(map(json.loads, file), path, columns, numbers)


def write_table(
    rows: Iterable[Mapping[str, Any]],
    path: Path,
    columns: Sequence[str],
    numbers: frozenset[str],
    field_of: Callable[[str], str] = str,
) -> None:
    """Rows become a Parquet file, which is there whole or not at all.

    `field_of` says of which field a column is, and so of which type; an unknown one is text.
    """
    arrow, parquet = load_package("pyarrow", "parquet"), load_package("pyarrow.parquet", "parquet")
    groups = _groups(iter(rows))
    first = next(groups, [])
    names = list(dict.fromkeys([*columns, *(name for row in first for name in row)]))
    fields = {name: field_of(name) for name in names}
    schema = arrow.schema([(name, _type(arrow, fields[name], numbers)) for name in names])
    unfinished = path.with_name(path.name + ".unfinished")
    with parquet.ParquetWriter(unfinished, schema) as writer:
        for group in itertools.chain([first], groups):
            arrays = [
                arrow.array(
                    [_value(fields[name], row.get(name), numbers) for row in group], type=schema.field(name).type
                )
                for name in names
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
    os.replace(unfinished, path)


def _groups(rows: Iterator[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    while group := list(itertools.islice(rows, ROWS_AT_ONCE)):
        yield group


def _type(arrow: Any, name: str, numbers: frozenset[str]) -> Any:
    if name in TEXT_LISTS:
        return arrow.list_(arrow.string())
    if name in TIMES:
        return arrow.timestamp("ms", tz="UTC")
    if name in NUMBERS or name in numbers:
        return arrow.int64()
    if name in FLAGS:
        return arrow.bool_()
    if name in MAPS:
        return arrow.map_(arrow.string(), arrow.string())
    return arrow.string()


def _value(name: str, value: Any, numbers: frozenset[str]) -> Any:
    if value is None or name in TEXT_LISTS or name in NUMBERS or name in FLAGS or name in numbers:
        return value
    if name in TIMES:
        return datetime.fromisoformat(value.replace("Z", "+00:00")) if value else None
    if name in MAPS:
        return list(value.items())
    # A field that is newer than this client: as text, whatever it is.
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
