"""The page on files of leads: every field of the stored record, read from its definition."""

from __future__ import annotations

import ast
import inspect

import msgspec

from reference.markdown import code, paragraph, plain, table
from siteglass.corpus.lead import SOCIAL_NETWORKS, ContactDetail, Lead, Mark, TechnologyDetail


def leads_page() -> str:
    """Every field that a record may have."""
    notes = _notes(Lead)
    rows = [
        [
            code(field.name),
            _type(msgspec.inspect.type_info(field.type)),
            "yes" if field.required else "",
            notes.get(field.name, ""),
        ]
        for field in msgspec.structs.fields(Lead)
    ]
    return (
        "# Files of leads\n\n"
        + paragraph(
            "`siteglass index load` reads one record per website: a line of JSON in a file that ends in `.ndjson`, or "
            "a row of a `.parquet` file. A missing field counts as not known. A line that is not a lead, and a value "
            "that no search could find, are left out and listed in a file of "
            "[rejects](../guides/load-your-data.md#what-the-loader-checks)."
        )
        + table(["field", "type", "needed", "note"], rows)
        + f"\nNetworks of `social_links`: {', '.join(code(network) for network in SOCIAL_NETWORKS)}.\n"
        + "\nObjects of `emails_detail` and `phones_detail`:\n\n"
        + _objects(ContactDetail)
        + "\nObjects of `technologies_detail`:\n\n"
        + _objects(TechnologyDetail)
        + "\nObjects of its `marks`:\n\n"
        + _objects(Mark)
    )


def _objects(kind: type) -> str:
    """The fields of an object."""
    notes, inspected = _notes(kind), msgspec.inspect.type_info(kind)
    assert isinstance(inspected, msgspec.inspect.TypedDictType)  # noqa: S101 - it is one
    fields = {field.name: field for field in inspected.fields}
    rows = [
        [code(name), _type(fields[name].type), "yes" if fields[name].required else "", notes.get(name, "")]
        for name in kind.__annotations__
    ]
    return table(["field", "type", "needed", "note"], rows)


def _type(kind: msgspec.inspect.Type) -> str:
    match kind:
        case msgspec.inspect.UnionType(types=types):
            (known,) = (one for one in types if not isinstance(one, msgspec.inspect.NoneType))
            return f"{_type(known)}; or null"
        case msgspec.inspect.StrType(max_length=longest):
            return f"text, at most {longest:,} characters"
        case msgspec.inspect.IntType(ge=least, le=most, lt=below):
            return f"whole number, {least} to {most if most is not None else (below or 0) - 1}"
        case msgspec.inspect.BoolType():
            return "boolean"
        case msgspec.inspect.VarTupleType(item_type=item, max_length=most):
            return f"array, at most {most} of: {_type(item)}"
        case msgspec.inspect.LiteralType(values=values):
            return f"one of {', '.join(code(str(value)) for value in values)}"
        case msgspec.inspect.TypedDictType():
            return "details, see below"
        case msgspec.inspect.DictType(value_type=value):
            return f"object of: {_type(value)}"
        case _:
            raise TypeError(f"no word for {kind}")


def _notes(kind: type) -> dict[str, str]:
    """The texts below the fields in the code."""
    (record,) = ast.parse(inspect.getsource(kind)).body
    assert isinstance(record, ast.ClassDef)  # noqa: S101 - it is the source of a class
    found = {}
    for field, below in zip(record.body, record.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            found[field.target.id] = plain(str(ast.literal_eval(below.value)))
    return {name: _as_json(note) for name, note in found.items()}


def _as_json(note: str) -> str:
    """The code's own names, as a writer of files knows them."""
    return note.replace("SOCIAL_NETWORKS", "those below").replace("None:", "null:")
