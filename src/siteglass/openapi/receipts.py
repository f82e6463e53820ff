"""Account, usage and ledger in the document: parameters, schemas, and examples made by the code that answers."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, get_args

import orjson
from starlette.datastructures import QueryParams
from starlette.responses import Response

from siteglass.access.accounts import Plan
from siteglass.access.keys import SCOPES
from siteglass.billing.account_status import MAX_EXPIRIES, Credits, Overview, OwnKey
from siteglass.billing.credits import ChargedOperation, Mark
from siteglass.billing.receipts import MAX_REQUEST_ENTRIES, MAX_USAGE_ROWS, Entry, UsageRow
from siteglass.billing.requests import (
    DEFAULT_DAYS,
    DEFAULT_ENTRIES,
    MAX_DAYS,
    MAX_ENTRIES,
    MAX_REQUEST_ID_CHARS,
    read_ledger,
    read_usage,
)
from siteglass.billing.responses import REASONS, account_response, ledger_response, receipt_response, usage_response
from siteglass.openapi.headers import EXAMPLE_REQUEST_ID
from siteglass.openapi.shapes import or_null, said, shape
from siteglass.settings import Settings
from siteglass.web.parameters import MAX_NUMBER

KINDS = ("grant", "charge", "refund", "expire", "adjust")
ACTORS = ("key", "person", "export", "operator")

# --- parameters ---------------------------------------------------------------------------------


def _parameter(name: str, description: str, schema: dict[str, Any], example: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": description, "schema": schema, "example": example}


_NUMBER = {"type": "integer", "minimum": 1, "maximum": MAX_NUMBER}
_REQUEST_ID = {"type": "string", "minLength": 1, "maxLength": MAX_REQUEST_ID_CHARS}
_KEY = _parameter("key", "Number of a key: only what this key did.", _NUMBER, 7)

USAGE_QUERY = [
    _parameter(
        "from",
        f"First day. Without it: so that there are {DEFAULT_DAYS} days; at most {MAX_DAYS} can be asked for.",
        {"type": "string", "format": "date"},
        "2026-11-01",
    ),
    _parameter("to", "Last day. Without it: today, UTC.", {"type": "string", "format": "date"}, "2026-11-15"),
    _KEY,
]
LEDGER_QUERY = [
    _parameter(
        "from",
        "Not earlier than this RFC 3339 time; or than the start of a day, UTC.",
        {"type": "string"},
        "2026-11-01T00:00:00Z",
    ),
    _parameter(
        "to", "Earlier than this RFC 3339 time; or up to the end of a day, UTC.", {"type": "string"}, "2026-11-15"
    ),
    _KEY,
    _parameter(
        "request_id",
        "Only entries of this request, or with this reference of a grant.",
        _REQUEST_ID,
        EXAMPLE_REQUEST_ID,
    ),
    _parameter(
        "limit",
        "Entries on a page.",
        {"type": "integer", "minimum": 1, "maximum": MAX_ENTRIES, "default": DEFAULT_ENTRIES},
        2,
    ),
    _parameter("before", "Only entries with a lower `seq`; `next` has it.", _NUMBER, 1_000),
]
RECEIPT_PATH = [
    {
        "name": "request_id",
        "in": "path",
        "required": True,
        "description": "The `X-Request-Id` of an answer that was charged.",
        "schema": _REQUEST_ID,
        "example": EXAMPLE_REQUEST_ID,
    }
]

# --- schemas ------------------------------------------------------------------------------------

_ID = {"type": "integer", "minimum": 1}
_TEXT = {"type": "string"}
_TIME = {"type": "string", "format": "date-time"}
_DATE = {"type": "string", "format": "date"}
_COUNT = {"type": "integer", "minimum": 0}
_RATE = {"type": "number", "exclusiveMinimum": 0}
_PRICE = {"type": "string", "pattern": r"^\d+\.\d{6}$"}
_OPERATION = {"type": "string", "enum": list(get_args(ChargedOperation))}
_WHO = shape("A key.", id=_ID, name=_TEXT)


def _account() -> dict[str, Any]:
    credits = {"api_credits": _COUNT, "lead_credits": _COUNT}
    expiry = shape("Credits that end together.", expires_at=_TIME, **credits)
    most = {"type": "array", "maxItems": MAX_EXPIRIES, "items": expiry}
    cap = said(or_null(_COUNT), "Most credits of a day, UTC; null: no such cap.")
    return shape(
        "The account as the key that asks sees it.",
        account=shape("Who pays.", id=_ID, name=_TEXT, plan=_TEXT, created_at=_TIME),
        balances=shape(
            "Credits that can be spent now.",
            **credits,
            expiring=said(most, "What of it expires if it is not spent, the soonest first; it is spent first."),
        ),
        prices=shape(
            "Of one credit, as decimal numbers.",
            currency={"type": "string", "pattern": "^[A-Z]{3}$"},
            api_credit=_PRICE,
            lead_credit=_PRICE,
        ),
        limits=shape(
            "Of the plan.",
            requests_per_second=said(_RATE, "Units of the rate limit that come back in a second."),
            burst=said(_ID, "Units at most at once."),
            max_limit=said(_ID, "Most leads of a page."),
            max_domains=said(_ID, "Most domains of an enrichment."),
            daily_api_credits=said(cap, "Most API credits that each key may spend in a day, UTC; null: no such cap."),
            daily_lead_credits=said(cap, "Most lead credits that each key may spend in a day; null: no such cap."),
            rebill_after_hours=said(
                or_null(_ID), "A lead paid for within these hours is free; null: it is charged each time."
            ),
        ),
        key=shape(
            "The key that asks. Its own limits hold beside those of the plan: the lower one counts.",
            id=_ID,
            name=_TEXT,
            shown=said(_TEXT, "Start and end of the key."),
            scopes={"type": "array", "items": {"type": "string", "enum": list(SCOPES)}},
            created_at=_TIME,
            expires_at=or_null(_TIME),
            requests_per_second=or_null(_RATE),
            burst=or_null(_ID),
            daily_api_credits=cap,
            daily_lead_credits=cap,
            used_today=shape("What counts against the caps today, with the keys that this one replaced.", **credits),
        ),
    )


def _usage() -> dict[str, Any]:
    counts = {"requests": _COUNT, "api_credits": _COUNT, "lead_credits": _COUNT}
    row = shape("What one key did of one operation on one day.", day=_DATE, operation=_OPERATION, key=_WHO, **counts)
    return shape(
        "What was charged.",
        **{"from": said(_DATE, "First day."), "to": said(_DATE, "Last day.")},
        rows={
            "type": "array",
            "maxItems": MAX_USAGE_ROWS,
            "items": row,
            "description": "By day, operation and key; without days on which nothing was asked.",
        },
        totals=shape("Sums of all rows.", **counts),
    )


def _entry(**more: dict[str, Any]) -> dict[str, Any]:
    signed = {"type": "integer"}
    return shape(
        "An entry of the ledger, which is never changed: later ones correct it.",
        seq=said(_ID, "Its number in the account, without gaps."),
        at=_TIME,
        kind={"type": "string", "enum": list(KINDS)},
        operation=said(
            {"type": ["string", "null"], "enum": [*get_args(ChargedOperation), None]},
            "What was asked for; null if nothing was.",
        ),
        api_credits=said(signed, "Below zero: taken."),
        lead_credits=said(signed, "Below zero: taken."),
        request_id=said(_TEXT, "`X-Request-Id` of the answer; of a grant its reference."),
        key=said(or_null(_WHO), "The key that paid; null if it was none."),
        by={"type": "string", "enum": list(ACTORS)},
        expires_at=said(or_null(_TIME), "When a grant expires; null: never."),
        refers_to=said(or_null(_ID), "`seq` of the entry that this one gives back or ends."),
        hash={"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "Chained to that of the entry before."},
        **more,
    )


def receipt_schemas() -> dict[str, Any]:
    """The answers by name."""
    domain = shape(
        "A domain of the answer.",
        domain=_TEXT,
        charged={"type": "boolean"},
        reason={"type": "string", "enum": list(REASONS.values())},
    )
    following = {"type": ["string", "null"], "description": "Path of the next page; null on the last."}
    return {
        "AccountAnswer": _account(),
        "UsageAnswer": _usage(),
        "LedgerEntry": _entry(),
        "LedgerAnswer": shape(
            "A page of the ledger.",
            entries={"type": "array", "maxItems": MAX_ENTRIES, "items": {"$ref": "#/components/schemas/LedgerEntry"}},
            next=following,
        ),
        "ReceiptEntry": _entry(domains={"type": "array", "items": domain}),
        "ReceiptAnswer": shape(
            "What a request cost.",
            request_id=_TEXT,
            entries={
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_REQUEST_ENTRIES,
                "items": {"$ref": "#/components/schemas/ReceiptEntry"},
            },
        ),
    }


# --- examples -----------------------------------------------------------------------------------

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


def _body(response: Response) -> Any:
    return orjson.loads(response.body)


def _examples() -> dict[str, Any]:
    refund, charge, _ = _entries()
    plan = Plan("standard", 10.0, 20, None, 2_000, 10_000, 4_000)
    key = OwnKey(7, "website", "sg_live_a1B2...x9Yz", list(SCOPES), _MADE, None, None, 500, None, None, Credits(1, 1))
    expiring = [(_ENDS, Credits(99, 4_999))]
    overview = Overview(3, "Example Ltd", _MADE, plan, Credits(99, 5_000), expiring, key)
    usage = UsageRow(date(2026, 11, 15), "enrich", 7, "website", 1, 1, 1)
    days = read_usage(QueryParams("from=2026-11-01&to=2026-11-15"), date(2026, 11, 15))
    domains = [("example.com", Mark.CHARGED), ("nobody.example.org", Mark.NOT_FOUND)]
    return {
        "AccountAnswer": _body(account_response(overview, Settings().max_enrich_domains)),
        "UsageAnswer": _body(usage_response(days, [usage])),
        "LedgerAnswer": _body(ledger_response(read_ledger(QueryParams("limit=2")), _entries())),
        "ReceiptAnswer": _body(receipt_response(EXAMPLE_REQUEST_ID, [(charge, domains), (refund, [])])),
    }


ANSWERS = _examples()
LEDGER_CSV = bytes(ledger_response(read_ledger(QueryParams("limit=2"), "text/csv"), _entries()).body).decode()
