"""The operations on an account and what it paid."""

from __future__ import annotations

from datetime import date

from starlette.datastructures import QueryParams

from siteglass.billing import examples
from siteglass.billing.requests import (
    CSV,
    LedgerParameters,
    ReceiptParameters,
    UsageParameters,
    read_ledger,
    read_usage,
)
from siteglass.billing.responses import (
    HEAD_HEADER,
    LEDGER_PATH,
    AccountResponse,
    LedgerResponse,
    ReceiptResponse,
    UsageResponse,
)
from siteglass.errors import NotFound
from siteglass.web.operations import READING, Operation, Success
from siteglass.web.parameters import read_no_parameters

ACCOUNT = Operation(
    "account",
    "GET",
    "/v1/account",
    READING,
    "Account",
    "Get the account",
    "Returns the balances, prices and limits of the account, and the scopes and caps of the key that sent the request.",
    Success("The account.", (AccountResponse,), examples.account),
    scope="account",
    mistake=lambda: read_no_parameters(QueryParams("verbose=1")),
)
USAGE = Operation(
    "usage",
    "GET",
    "/v1/usage",
    READING,
    "Account",
    "Get usage by day, operation and key",
    "Counts every answered request, including free ones. Days are in UTC. Refunds are not subtracted: the ledger "
    "lists them.",
    Success("The rows and their totals.", (UsageResponse,), examples.usage),
    scope="account",
    parameters=UsageParameters,
    mistake=lambda: read_usage(QueryParams("form=2026-11-01&key=mine"), date(2026, 11, 15)),
)
LEDGER = Operation(
    "ledger",
    "GET",
    LEDGER_PATH,
    READING,
    "Account",
    "List ledger entries",
    "Newest first, in pages: GET the path in `next` exactly as it was returned. No entry is repeated or skipped, even "
    "if new ones are written meanwhile. With `Accept: text/csv`, returns the same page as a table.",
    Success(
        "A page of entries, newest first.",
        (LedgerResponse,),
        examples.ledger,
        headers=("Link", HEAD_HEADER),
        other_media={CSV: examples.ledger_csv},
    ),
    scope="account",
    parameters=LedgerParameters,
    mistake=lambda: read_ledger(QueryParams("from=yesterday&limit=0")),
)
RECEIPT = Operation(
    "receipt",
    "GET",
    LEDGER_PATH + "/{request_id}",
    (*READING, NotFound),
    "Account",
    "Get the receipt of a request",
    "Returns the entries of a request and those that refer to them, such as refunds, oldest first. Shows for each "
    "domain whether it was charged, or why it was free.",
    Success("The entries with their domains.", (ReceiptResponse,), examples.receipt),
    scope="account",
    parameters=ReceiptParameters,
    mistake=lambda: read_no_parameters(QueryParams("domains=1")),
)

OPERATIONS = (ACCOUNT, USAGE, LEDGER, RECEIPT)
