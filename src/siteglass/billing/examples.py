"""Examples of account, usage and ledger, made by the code that returns them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import orjson
from starlette.datastructures import QueryParams

from siteglass.access.accounts import Plan
from siteglass.access.keys import SCOPES
from siteglass.billing.account_status import Credits, Overview, OwnKey
from siteglass.billing.credits import Mark
from siteglass.billing.receipts import Entry, UsageRow
from siteglass.billing.requests import EXAMPLE_REQUEST_ID, read_ledger, read_usage
from siteglass.billing.responses import account_response, ledger_response, receipt_response, usage_response
from siteglass.settings import Settings
from siteglass.web.operations import Examples, one_example

_MADE = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
_PAID = datetime(2026, 11, 15, 12, 30, 0, 250_000, tzinfo=UTC)
_ENDS = datetime(2027, 11, 1, tzinfo=UTC)


def _entries() -> list[Entry]:
    """A grant, a charge, and its refund, the newest first."""
    by_key = ("key", 7, "website")
    by_operator = ("operator", None, None)
    return [
        Entry(3, _PAID, "refund", "enrich", 0, 1, "ticket 512", *by_operator, None, 2, bytes.fromhex("c3" * 32)),
        Entry(2, _PAID, "charge", "enrich", -1, -1, EXAMPLE_REQUEST_ID, *by_key, None, None, bytes.fromhex("b2" * 32)),
        Entry(1, _MADE, "grant", "none", 100, 5_000, "INV-1", *by_operator, _ENDS, None, bytes.fromhex("a1" * 32)),
    ]


def account() -> Examples:
    """The response of the account."""
    plan = Plan("standard", 10.0, 20, None, 2_000, 10_000, 4_000)
    key = OwnKey(7, "website", "sg_live_a1B2...x9Yz", list(SCOPES), _MADE, None, None, 500, None, None, Credits(1, 1))
    overview = Overview(3, "Example Ltd", _MADE, plan, Credits(99, 5_000), [(_ENDS, Credits(99, 4_999))], key)
    return one_example("The account.", account_response(overview, Settings().max_enrich_domains))


def usage() -> Examples:
    """The response of usage."""
    row = UsageRow(date(2026, 11, 15), "enrich", 7, "website", 1, 1, 1)
    days = read_usage(QueryParams("from=2026-11-01&to=2026-11-15"), date(2026, 11, 15))
    return one_example("The rows and their totals.", usage_response(days, [row]))


def ledger() -> Examples:
    """A page of the ledger."""
    body = ledger_response(read_ledger(QueryParams("limit=2")), _entries()).body
    return one_example("A page of entries, newest first.", orjson.loads(body))


def ledger_csv() -> str:
    """The same page as a table."""
    return bytes(ledger_response(read_ledger(QueryParams("limit=2"), "text/csv"), _entries()).body).decode()


def receipt() -> Examples:
    """The receipt of a request that was refunded in part."""
    refund, charge, _ = _entries()
    domains = [("example.com", Mark.CHARGED), ("nobody.example.org", Mark.NOT_FOUND)]
    return one_example(
        "The entries with their domains.", receipt_response(EXAMPLE_REQUEST_ID, [(charge, domains), (refund, [])])
    )
