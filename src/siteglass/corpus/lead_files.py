"""Files of leads: Parquet, the truth they are kept in, and NDJSON, the way in. Columns follow Lead."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from siteglass.corpus.lead import Lead
from siteglass.corpus.technology_details import pack_column, unpack_details
from siteglass.platform.disk import sync_to_disk

ROW_GROUP_SIZE = 10_000
# The largest record Lead allows is far smaller; a file without line ends must not be read into memory whole.
MAX_LINE_BYTES = 8_000_000

_FIELDS = msgspec.structs.fields(Lead)
_SEPARATOR = "\x1f"
_Value = TypeVar("_Value")
_SHORT_BYTES = 100
# Columns whose values recur: decoded once each, and shared by the leads that have them.
_REPEATED = {"language", "country", "state", "city", "service_type"} | {
    f"{name}.list.element" for name in ("technologies", "categories_uses", "offers", "trades", "pages", "keywords")
}
_AT_FIELD = re.compile(r"^(?P<reason>.*) - at `\$\.(?P<field>[^`]+)`$", re.DOTALL)


class LeadFileError(ValueError):
    """A file of leads that cannot be read; the message names the file, and the line and field where known."""


def _column(name: str, kind: msgspec.inspect.Type) -> pa.Field[Any]:
    """The column of a field of Lead. Only Lead's own kinds of types are known here."""
    nullable = False
    if isinstance(kind, msgspec.inspect.UnionType):
        nullable = True
        (kind,) = (one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))
    columns: dict[type, pa.DataType] = {
        msgspec.inspect.StrType: pa.string(),
        msgspec.inspect.LiteralType: pa.string(),
        msgspec.inspect.IntType: pa.int64(),
        msgspec.inspect.BoolType: pa.bool_(),
        msgspec.inspect.DictType: pa.map_(pa.string(), pa.string()),
    }
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return pa.field(name, pa.list_(_column("element", kind.item_type)), nullable=nullable)
    if isinstance(kind, msgspec.inspect.TypedDictType):
        return pa.field(name, pa.struct([_column(one.name, one.type) for one in kind.fields]), nullable=nullable)
    return pa.field(name, columns[type(kind)], nullable=nullable)


# Details of technologies are entries of another column, see `technology_details`.
_PACKED, _PACKED_IN = "technologies_detail", "hidden_contacts"
LEAD_SCHEMA: pa.Schema = pa.schema(
    [_column(field.name, msgspec.inspect.type_info(field.type)) for field in _FIELDS if field.name != _PACKED]
)
_DETAILS: Any = LEAD_SCHEMA.field("emails_detail").type


def unknown_column(field: pa.Field[Any], rows: int) -> pa.Array[Any]:
    """A column of LEAD_SCHEMA for leads of which it isn't known: null where it may be, otherwise empty."""
    empty: list[Any] | str = [] if pa.types.is_nested(field.type) else ""
    column: pa.Array[Any] = pa.array([None if field.nullable else empty] * rows, field.type)
    return column


def column_values(table: pa.Table, name: str) -> list[Any]:
    """A column as Python's values."""
    return table.column(name).to_pylist()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends well, else leaves no trace."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(aside, "wb") as sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    sync_to_disk(path.parent)


def write_parquet(path: Path, leads: Iterable[Lead], row_group_size: int = ROW_GROUP_SIZE) -> int:
    """Write leads, each row group as large as asked; the number written."""
    rest = iter(leads)
    count = 0
    with replacing(path) as sink, pq.ParquetWriter(sink, LEAD_SCHEMA, compression="zstd") as writer:
        while group := list(islice(rest, row_group_size)):
            writer.write_batch(batch_of(group), row_group_size=row_group_size)
            count += len(group)
    return count


def batch_of(leads: Sequence[Lead]) -> pa.RecordBatch:
    """Leads as a batch of Arrow, their columns as LEAD_SCHEMA names them."""
    columns: dict[str, list[Any]] = {name: [getattr(lead, name) for lead in leads] for name in LEAD_SCHEMA.names}
    columns[_PACKED_IN] = [pack_column(lead.hidden_contacts, lead.technologies_detail) for lead in leads]
    arrays = [pa.array(columns[f.name], type=f.type) for f in LEAD_SCHEMA]
    return pa.record_batch(arrays, schema=LEAD_SCHEMA)


def _texts(column: pa.Array[Any]) -> list[str]:
    """The strings of a column without nulls; `to_pylist` takes five times as long, it makes scalars first.

    Long ones are cut out of the buffer one by one. Short ones are joined and split in one step each, unless
    one of them holds the separator, which shows in the number of pieces.
    """
    if isinstance(column, pa.DictionaryArray):
        words = _texts(column.dictionary)
        return [words[index] for index in _buffer(column.indices, 1, "i", len(column))]
    ends = _buffer(column, 1, "i", len(column) + 1)
    if not ends or ends[-1] == ends[0]:
        return [""] * len(column)
    if ends[-1] - ends[0] < _SHORT_BYTES * len(column):
        whole = pa.ListArray.from_arrays(pa.array([0, len(column)], pa.int32()), column)
        joined: Any = pc.binary_join(whole, _SEPARATOR)
        texts: list[str] = joined[0].as_py().split(_SEPARATOR)
        if len(texts) == len(column):
            return texts
    octets = memoryview(column.buffers()[2] or b"").tobytes()
    return [octets[start:end].decode() for start, end in pairwise(ends)]


def _numbers(column: pa.Array[Any]) -> list[int | None]:
    """The integers of a column; Lead has no negative ones, so -1 can stand for null on the way."""
    values = _buffer(column.fill_null(-1), 1, "q", len(column))
    return [None if value < 0 else value for value in values] if column.null_count else [*values]


def _flags(column: pa.Array[Any]) -> list[bool | None]:
    meaning = (False, True, None)
    return [meaning[value] for value in _buffer(column.cast(pa.int8()).fill_null(2), 1, "b", len(column))]


def _buffer(column: pa.Array[Any], number: int, code: str, length: int) -> list[int]:
    """Numbers of an Arrow buffer, without numpy, which nothing else here needs."""
    if not len(column):
        return []
    view: memoryview[int] = memoryview(column.buffers()[number] or b"").cast(code)  # type: ignore[call-overload]  # code varies
    return view[column.offset : column.offset + length].tolist()


def _lists(column: pa.ListArray[Any]) -> list[tuple[str, ...] | None]:
    return _parts(column, tuple(_texts(column.values)))


def _number_lists(column: pa.ListArray[Any]) -> list[tuple[int | None, ...] | None]:
    return _parts(column, tuple(_numbers(column.values)))


def _details(column: pa.ListArray[Any]) -> list[tuple[dict[str, Any], ...] | None]:
    """Lists of structs, whose fields are texts and numbers; those that a file lacks are null."""
    whole: Any = column.cast(_DETAILS)
    names = [field.name for field in _DETAILS.value_type]
    fields = map(_nullable_texts_or_numbers, whole.values.flatten())
    return _parts(whole, tuple(dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)))


def _nullable_texts_or_numbers(column: pa.Array[Any]) -> Sequence[Any]:
    if not pa.types.is_string(column.type):
        return _numbers(column)
    texts = _texts(column.fill_null(""))
    if not column.null_count:
        return texts
    return [text if there else None for text, there in zip(texts, column.is_valid().to_pylist(), strict=True)]


def _parts(column: pa.ListArray[Any], values: tuple[_Value, ...]) -> list[tuple[_Value, ...] | None]:
    """The values of all rows, cut into rows."""
    ends = _buffer(column, 1, "i", len(column) + 1)
    found: list[tuple[_Value, ...] | None] = [values[start:end] for start, end in pairwise(ends)]
    if column.null_count:
        missing = column.is_null().cast(pa.int8())
        for row, is_missing in enumerate(_buffer(missing, 1, "b", len(column))):
            if is_missing:
                found[row] = None
    return found


def _maps(column: pa.MapArray[Any, Any]) -> list[dict[str, str]]:
    ends = _buffer(column, 1, "i", len(column) + 1)
    keys, items = _texts(column.keys), _texts(column.items)
    # `keys` and `items` start where the first row starts; the ends count from the start of the buffer.
    first = ends[0] if ends else 0
    return [
        dict(zip(keys[start - first : end - first], items[start - first : end - first], strict=True))
        for start, end in pairwise(ends)
    ]


_READERS: dict[pa.DataType, Callable[[Any], Sequence[Any]]] = {
    pa.string(): _texts,
    pa.int64(): _numbers,
    pa.bool_(): _flags,
    LEAD_SCHEMA.field("emails").type: _lists,
    LEAD_SCHEMA.field("added").type: _number_lists,
    LEAD_SCHEMA.field("social_links").type: _maps,
    _DETAILS: _details,
}


def _is_readable(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether a column of a type has values of another: of the same, or of details without fields that may be null."""
    if found == expected or expected != _DETAILS:
        return found == expected
    if not pa.types.is_list(found) or not pa.types.is_struct(found.value_type):
        return False
    names = {field.name for field in found.value_type}
    fields = [field for field in _DETAILS.value_type if field.name in names or not field.nullable]
    return bool(found == pa.list_(_DETAILS.value_field.with_type(pa.struct(fields))))


def _check_schema(path: Path, found: pa.Schema) -> None:
    """A file may lack optional fields that came later, also of details; it may not have others, or other types."""
    for field in found:
        if field.name not in LEAD_SCHEMA.names:
            raise LeadFileError(f"{path}: field {field.name}: not a field of a lead")
        expected = LEAD_SCHEMA.field(field.name)
        if not _is_readable(field.type, expected.type) or (field.nullable and not expected.nullable):
            raise LeadFileError(f"{path}: field {field.name}: expected {expected}, found {field}")
    for required in _FIELDS:
        if required.required and required.name not in found.names:
            raise LeadFileError(f"{path}: field {required.name}: missing")


def open_parquet(path: Path) -> pq.ParquetFile:
    """A file of leads whose columns have been checked, for `read_row_group`."""
    try:
        found = pq.read_schema(path)
        _check_schema(path, found)
        repeated = [column for column in _REPEATED if column.split(".")[0] in found.names]
        return pq.ParquetFile(path, read_dictionary=repeated)
    except pa.ArrowInvalid as error:
        raise LeadFileError(f"{path}: not a Parquet file: {error}") from None


def read_row_group(file: pq.ParquetFile, number: int, domains: Collection[str] | None = None) -> list[Lead]:
    """The leads of one row group, or those of some domains. Columns have types: single values are not checked again."""
    table = file.read_row_group(number, use_threads=False)
    if domains is not None:
        table = table.filter(pc.is_in(table.column("domain"), pa.array(sorted(domains), pa.string())))
    return leads_of(table)


def leads_of(table: pa.Table) -> list[Lead]:
    """The leads of a table of their columns, which need not be all."""
    # The names of Lead itself, not the file's: a Struct finds its own string objects four times as fast.
    names = [field.name for field in _FIELDS if field.name in table.schema.names]
    # Of the many small objects made here none can be garbage yet; looking for some costs a third of the time.
    collecting = gc.isenabled()
    gc.disable()
    try:
        columns: list[Sequence[Any]] = [
            _READERS[LEAD_SCHEMA.field(name).type](table.column(name).combine_chunks()) for name in names
        ]
        if _PACKED_IN in names:
            place = names.index(_PACKED_IN)
            columns[place], details = zip(*map(unpack_details, columns[place]), strict=True) if len(table) else ((), ())
            names, columns = [*names, _PACKED], [*columns, details]
        return [Lead(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]
    finally:
        if collecting:
            gc.enable()


def read_parquet(path: Path) -> Iterator[tuple[int, list[Lead]]]:
    """Row groups with their numbers, in order."""
    with open_parquet(path) as file:
        for number in range(file.num_row_groups):
            yield number, read_row_group(file, number)


def record_place(path: Path, row_group: int) -> str:
    """The position of a record, as stored in its document: file and row group."""
    return f"{path.name}#{row_group}"


def place_parts(place: str) -> tuple[str, int]:
    """The inverse of record_place: the name of the file, and the row group; raises LeadFileError."""
    name, _, row_group = place.rpartition("#")
    if not row_group.isdigit() or not name or Path(name).name != name:
        raise LeadFileError(f"{place!r} is not the position of a record")
    return name, int(row_group)


def read_records(store: Path, place: str, domains: Collection[str]) -> list[Lead]:
    """The records of these domains at a place; raises FileNotFoundError or LeadFileError."""
    name, row_group = place_parts(place)
    with open_parquet(store / name) as file:
        if row_group >= file.num_row_groups:
            raise LeadFileError(f"{name} has no row group {row_group}")
        return read_row_group(file, row_group, domains)


def read_lines(path: Path) -> Iterator[tuple[int, Lead | str]]:
    """The number of each line, and its lead, or why it is not one; blank lines are passed over."""
    decoder = msgspec.json.Decoder(Lead)
    with open(path, "rb") as source:
        for number in range(1, 2**62):
            line = source.readline(MAX_LINE_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_LINE_BYTES:
                raise LeadFileError(f"{path}, line {number}: longer than {MAX_LINE_BYTES} bytes")
            if not line.strip():
                continue
            try:
                yield number, decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                yield number, _reason(error)


def _reason(error: Exception) -> str:
    """msgspec's words, the field first where it names one."""
    if at := _AT_FIELD.match(str(error)):
        return f"field {at['field']}: {at['reason']}"
    return str(error)


def count_leads(path: Path) -> int:
    """How many leads a file holds, by its name Parquet or NDJSON."""
    if path.suffix != ".parquet":
        with open(path, "rb") as source:
            return sum(1 for line in source if line.strip())
    with open_parquet(path) as file:
        return int(file.metadata.num_rows)
