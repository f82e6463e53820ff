"""A schema as PostgreSQL's catalogues describe it, to compare two schemas."""

from __future__ import annotations

from typing import TypeAlias

import asyncpg

# By kind of object: each object's name, and all about it as text.
Description: TypeAlias = dict[str, dict[str, str]]

# An array of rights is sorted: its order is that of the statements that gave them.
_RIGHTS = "(SELECT array_agg(a::text ORDER BY a::text) FROM unnest({}) a)"

_QUERIES = {
    "schema": f"SELECT nspname, {_RIGHTS.format('nspacl')} FROM pg_namespace WHERE oid = $1",
    "tables": f"""
        SELECT relname, relkind, relpersistence, relispartition, pg_get_expr(relpartbound, oid), reloptions,
            pg_get_userbyid(relowner), {_RIGHTS.format("relacl")}
        FROM pg_class WHERE relnamespace = $1 AND relkind IN ('r', 'p', 'v', 'm', 'S')
    """,
    "columns": f"""
        SELECT c.relname || '.' || a.attname, a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull,
            a.attidentity, a.attgenerated, a.attstorage, a.attcollation::regcollation, a.attisdropped,
            pg_get_expr(d.adbin, d.adrelid), {_RIGHTS.format("a.attacl")}
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
            LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relnamespace = $1 AND c.relkind IN ('r', 'p')
    """,
    "constraints": """
        SELECT conrelid::regclass || '.' || conname, contype, condeferrable, convalidated, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = $1
    """,
    "indexes": """
        SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisunique, indisprimary, indisvalid
        FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE c.relnamespace = $1
    """,
    "triggers": """
        SELECT tgrelid::regclass || '.' || tgname, pg_get_triggerdef(t.oid), tgenabled
        FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE c.relnamespace = $1 AND NOT tgisinternal
    """,
    "functions": f"""
        SELECT oid::regprocedure::text, pg_get_functiondef(oid), pg_get_userbyid(proowner), {_RIGHTS.format("proacl")}
        FROM pg_proc WHERE pronamespace = $1
    """,
    "types": f"""
        SELECT typname, typtype, {_RIGHTS.format("typacl")}, ARRAY(
            SELECT enumlabel FROM pg_enum WHERE enumtypid = t.oid ORDER BY enumsortorder
        )
        FROM pg_type t WHERE typnamespace = $1 AND typtype IN ('e', 'd', 'r')
    """,
}


async def describe(connection: asyncpg.Connection[asyncpg.Record], schema: str) -> Description:
    """All about tables, types, indexes, functions and rights, with `{schema}` for the schema's name."""
    number = await connection.fetchval("SELECT $1::text::regnamespace::oid", schema)
    described: Description = {}
    for kind, query in _QUERIES.items():
        rows = await connection.fetch(query, number)
        texts = [(row[0], repr(tuple(row.values())[1:])) for row in rows]
        described[kind] = {name.replace(schema, "{schema}"): text.replace(schema, "{schema}") for name, text in texts}
    return described
