"""The page on what can be read about credits: parameters and fields of account, usage and ledger."""

from __future__ import annotations

from typing import Any

from reference.markdown import code, json_code, paragraph, plain, table
from siteglass.billing.ledger_csv import COLUMNS as CSV_COLUMNS
from siteglass.billing.receipts import MAX_REQUEST_ENTRIES, MAX_USAGE_ROWS
from siteglass.openapi.receipts import ANSWERS, LEDGER_QUERY, USAGE_QUERY, receipt_schemas
from siteglass.web.operations import ACCOUNT, LEDGER, RECEIPT, USAGE, Operation


def receipts_page() -> str:
    """Everything that the scope `account` opens."""
    columns = ", ".join(map(code, CSV_COLUMNS))
    return (
        "# Account, usage, ledger\n\n"
        + paragraph(
            "These calls need a key with the scope `account`. Each takes one unit of the rate limit, costs no credits "
            "and shows only the account of the key. An unknown parameter is refused with the nearest one. Times are "
            "UTC with `Z`; missing values are `null`. The [guide](../guides/receipts.md) has examples."
        )
        + _section(ACCOUNT, "AccountAnswer", [])
        + _section(USAGE, "UsageAnswer", USAGE_QUERY)
        + paragraph(f"More than {MAX_USAGE_ROWS:,} rows are refused: ask for a shorter range, or for one key.")
        + _section(LEDGER, "LedgerAnswer", LEDGER_QUERY)
        + paragraph(f"With `Accept: text/csv` the columns are {columns}. Lines end with CR LF, as in RFC 4180.")
        + _section(RECEIPT, "ReceiptAnswer", [])
        + paragraph(
            f"At most {MAX_REQUEST_ENTRIES} entries, oldest first: those of the request and those that refer to them."
        ).rstrip("\n")
        + "\n"
    )


def _section(declared: Operation, schema: str, parameters: list[dict[str, Any]]) -> str:
    made = f"## {declared.method} {declared.path}\n\n"
    if parameters:
        rows = [[code(one["name"]), plain(one["description"]), code(str(one["example"]))] for one in parameters]
        made += table(["parameter", "meaning", "example"], rows) + "\n"
    fields = [
        [code(path), _type(one), _meaning(one), json_code(example)]
        for path, one, example in _leaves("", receipt_schemas()[schema], ANSWERS[schema])
    ]
    return made + table(["field", "type", "meaning", "example"], fields) + "\n"


def _leaves(path: str, schema: dict[str, Any], example: Any) -> list[tuple[str, dict[str, Any], Any]]:
    """Every field below, by its path, with the example of it."""
    if "$ref" in schema:
        schema = receipt_schemas()[schema["$ref"].rpartition("/")[2]]
    if "properties" in schema and example is not None:
        return [
            leaf
            for name, below in schema["properties"].items()
            for leaf in _leaves(f"{path}.{name}".lstrip("."), below, example[name])
        ]
    if isinstance(example, list) and example and not isinstance(example[0], str):
        return _leaves(f"{path}[]", schema["items"], example[0])
    return [(path, schema, example)]


def _meaning(schema: dict[str, Any]) -> str:
    values = [value for value in schema.get("enum", ()) if value is not None]
    listed = f"One of {', '.join(map(code, values))}." if values else ""
    return f"{plain(schema.get('description', ''))} {listed}".strip()


def _type(schema: dict[str, Any]) -> str:
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else " or ".join(kinds)
    formats = {"date-time": "time", "date": "day"}
    return kind.replace("string", formats.get(schema.get("format", ""), "string"))
