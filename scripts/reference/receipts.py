"""The page on what can be read about credits: parameters and fields of account, usage and ledger."""

from __future__ import annotations

from reference.markdown import code, paragraph
from reference.messages import parameter_table, response_table
from siteglass.billing.ledger_csv import COLUMNS as CSV_COLUMNS
from siteglass.billing.operations import ACCOUNT, LEDGER, RECEIPT, USAGE
from siteglass.billing.receipts import MAX_REQUEST_ENTRIES, MAX_USAGE_ROWS
from siteglass.web.operations import Operation


def receipts_page() -> str:
    """Everything that the scope `account` opens."""
    columns = ", ".join(map(code, CSV_COLUMNS))
    return (
        "# Account, usage, ledger\n\n"
        + paragraph(
            "These calls need a key with the scope `account`. Each takes one unit of the rate limit, costs no credits "
            "and shows only the account of the key. An unknown parameter is refused with the nearest one. Times are "
            "UTC with `Z`; missing values are `null`. The [guide](../guides/costs.md) has examples."
        )
        + _section(ACCOUNT, "AccountResponse")
        + _section(USAGE, "UsageResponse")
        + paragraph(f"More than {MAX_USAGE_ROWS:,} rows are refused: ask for a shorter range, or for one key.")
        + _section(LEDGER, "LedgerResponse")
        + paragraph(f"With `Accept: text/csv` the columns are {columns}. Lines end with CR LF, as in RFC 4180.")
        + _section(RECEIPT, "ReceiptResponse")
        + paragraph(
            f"At most {MAX_REQUEST_ENTRIES} entries, oldest first: those of the request and those that refer to them."
        ).rstrip("\n")
        + "\n"
    )


def _section(operation: Operation, schema: str) -> str:
    sent = parameter_table(operation) + "\n" if "{" not in operation.path and operation.parameters else ""
    return f"## {operation.method} {operation.path}\n\n{sent}{response_table(operation, schema)}\n"
