"""Database functions: one file each in the `sql/` folder of a package, applied by `siteglass migrate` after the tables.

The rules for writing them are in billing/sql/README.md.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg

if TYPE_CHECKING:
    from asyncpg import Connection, Record

PACKAGES = Path(__file__).parent.parent

_CREATED = re.compile(r"^CREATE OR REPLACE FUNCTION {schema}\.([a-z][a-z0-9_]{0,62})\(", re.MULTILINE)


class SchemaError(ValueError):
    """The tables or functions cannot be brought up to date; the message says why and what to do."""


@cache
def function_files() -> dict[str, str]:
    """The text of every function's file by the name of its function, in the order in which they are applied."""
    files: dict[str, str] = {}
    for path in sorted(PACKAGES.glob("*/sql/*.sql"), key=lambda path: path.stem):
        text = path.read_text(encoding="utf-8")
        if path.stem in files or _CREATED.findall(text) != [path.stem]:
            raise SchemaError(
                f"{path}: each file must create exactly one function, named like the file, and no other file may "
                "create it."
            )
        files[path.stem] = text
    return files


def file_hash(text: str) -> bytes:
    """The hash of a function's file."""
    return hashlib.sha256(text.encode()).digest()


@cache
def functions_hash() -> bytes:
    """One hash over all files, which stands for the functions of this build."""
    lines = [f"{name} {file_hash(text).hex()}\n" for name, text in function_files().items()]
    return hashlib.sha256("".join(lines).encode()).digest()


async def apply_functions(connection: Connection[Record], schema: str) -> None:
    """Apply every file that changed since it was last applied, and drop functions whose file is gone.

    Runs in the caller's transaction. Raises SchemaError if a file changes the signature of its function.
    """
    files = function_files()
    applied = await _applied(connection, schema)
    for name in sorted(applied.keys() - files.keys()):
        await connection.execute(f"DROP FUNCTION {schema}.{name}")
        await connection.execute(f"DELETE FROM {schema}.sql_functions WHERE name = $1", name)  # noqa: S608 - our own schema name
    for name, text in files.items():
        if applied.get(name) != file_hash(text):
            await _apply(connection, schema, name, text)


async def changed_functions(connection: Connection[Record], schema: str) -> list[str]:
    """The functions that `apply_functions` would change, create or drop."""
    applied = await _applied(connection, schema)
    wanted = {name: file_hash(text) for name, text in function_files().items()}
    return sorted(name for name in applied.keys() | wanted.keys() if applied.get(name) != wanted.get(name))


async def _applied(connection: Connection[Record], schema: str) -> dict[str, bytes]:
    rows = await connection.fetch(f"SELECT name, hash FROM {schema}.sql_functions")  # noqa: S608 - a checked name
    return {row["name"]: row["hash"] for row in rows}


async def _apply(connection: Connection[Record], schema: str, name: str, text: str) -> None:
    try:
        await connection.execute(text.replace("{schema}", schema))
    except asyncpg.InvalidFunctionDefinitionError as error:  # a parameter with another name, another type of result
        raise _other_signature(name, str(error)) from error
    after = await _signatures(connection, schema, name)
    if len(after) != 1:
        raise _other_signature(name, f"{name} would be {' and '.join(sorted(after))}")
    await connection.execute(
        f"INSERT INTO {schema}.sql_functions VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET hash = excluded.hash",  # noqa: S608 - our own schema name
        name,
        file_hash(text),
    )


async def _signatures(connection: Connection[Record], schema: str, name: str) -> set[str]:
    """Parameters and result of every function of this name: with other parameters it would be a second one."""
    rows = await connection.fetch(
        "SELECT format('(%s) returning %s', pg_get_function_identity_arguments(oid), pg_get_function_result(oid))"
        " AS signature FROM pg_proc WHERE pronamespace = $1::text::regnamespace AND proname = $2",
        schema,
        name,
    )
    return {row["signature"] for row in rows}


def _other_signature(name: str, what: str) -> SchemaError:
    return SchemaError(
        f"sql/{name}.sql changes the signature of {name} ({what}). The previous release still calls the old one: "
        f"write a function with a new name, and remove {name} one release later. No function was changed."
    )
