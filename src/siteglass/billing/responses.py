"""Account, usage and ledger as JSON or CSV, and the headers that say what a response cost."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from siteglass.billing.account_status import Overview
from siteglass.billing.credits import Mark, Receipt
from siteglass.billing.ledger_csv import format_time, written
from siteglass.billing.receipts import Entry, UsageRow
from siteglass.billing.requests import CSV, LedgerRequest, UsageRequest
from siteglass.web.operations import LEDGER_PATH, MAX_LIMIT
from siteglass.web.responses import SAFE_HEADERS, json_response

REASONS = {
    Mark.CHARGED: "charged",
    Mark.NO_ADDRESS: "no_address",
    Mark.NOT_FOUND: "not_found",
    Mark.PAID_BEFORE: "already_paid",
}


def credit_headers(receipt: Receipt) -> dict[str, str]:
    """What an answer cost, and what is left."""
    return {
        "X-Credits-Api-Used": str(receipt.api),
        "X-Credits-Lead-Used": str(receipt.lead),
        "X-Credits-Api-Remaining": str(receipt.balances.api),
        "X-Credits-Lead-Remaining": str(receipt.balances.lead),
    }


def price(micros: int) -> str:
    """Millionths of the currency as a decimal number, exact."""
    return format(Decimal(micros).scaleb(-6), ".6f")


def account_response(seen: Overview, max_domains: int) -> Response:
    """An account as its key sees it."""
    plan, key = seen.plan, seen.key
    return json_response(
        {
            "account": {
                "id": seen.id,
                "name": seen.name,
                "plan": plan.name,
                "created_at": format_time(seen.created_at),
            },
            "balances": {
                "api_credits": seen.balance.api,
                "lead_credits": seen.balance.lead,
                "expiring": [
                    {"expires_at": format_time(time), "api_credits": left.api, "lead_credits": left.lead}
                    for time, left in seen.expiring
                ],
            },
            "prices": {
                "currency": plan.currency,
                "api_credit": price(plan.api_price_micros),
                "lead_credit": price(plan.lead_price_micros),
            },
            "limits": {
                "requests_per_second": plan.rate_per_s,
                "burst": plan.burst,
                "max_limit": MAX_LIMIT,
                "max_domains": max_domains,
                "daily_api_credits": plan.daily_api_cap,
                "daily_lead_credits": plan.daily_lead_cap,
                "rebill_after_hours": plan.rebill_after_hours,
            },
            "key": {
                "id": key.id,
                "name": key.name,
                "shown": key.shown,
                "scopes": list(key.scopes),
                "created_at": format_time(key.created_at),
                "expires_at": format_time(key.expires_at),
                "requests_per_second": key.rate_per_s,
                "burst": key.burst,
                "daily_api_credits": key.daily_api_cap,
                "daily_lead_credits": key.daily_lead_cap,
                "used_today": {"api_credits": key.used_today.api, "lead_credits": key.used_today.lead},
            },
        }
    )


def usage_response(asked: UsageRequest, rows: Sequence[UsageRow]) -> Response:
    """Rows and their sums."""
    return json_response(
        {
            "from": str(asked.first),
            "to": str(asked.last),
            "rows": [
                {
                    "day": str(row.day),
                    "operation": row.operation,
                    "key": {"id": row.key_id, "name": row.key_name},
                    "requests": row.requests,
                    "api_credits": row.api,
                    "lead_credits": row.lead,
                }
                for row in rows
            ],
            "totals": {
                "requests": sum(row.requests for row in rows),
                "api_credits": sum(row.api for row in rows),
                "lead_credits": sum(row.lead for row in rows),
            },
        }
    )


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "seq": entry.seq,
        "at": format_time(entry.at),
        "kind": entry.kind,
        "operation": None if entry.operation == "none" else entry.operation,
        "api_credits": entry.api,
        "lead_credits": entry.lead,
        "request_id": entry.request_id,
        "key": None if entry.key_id is None else {"id": entry.key_id, "name": entry.key_name},
        "by": entry.by,
        "expires_at": format_time(entry.expires_at),
        "refers_to": entry.refers_to,
        "hash": entry.hash.hex(),
    }


def ledger_response(asked: LedgerRequest, found: Sequence[Entry]) -> Response:
    """A page of entries, and the way to older ones."""
    limit = asked.wanted.limit
    shown = found[:limit]
    following = None
    if len(found) > limit:
        following = f"{LEDGER_PATH}?{urlencode({**asked.given, 'before': shown[-1].seq})}"
    headers = {"Vary": "Accept"}
    if following is not None:
        headers["Link"] = f'<{following}>; rel="next"'
    if asked.as_csv:
        # Of a key its number only: names are for people.
        return Response(written(shown), 200, {**SAFE_HEADERS, **headers}, f"{CSV}; charset=utf-8")
    return json_response({"entries": [_entry(entry) for entry in shown], "next": following}, headers=headers)


def receipt_response(request_id: str, found: Sequence[tuple[Entry, Sequence[tuple[str, Mark]]]]) -> Response:
    """All entries of a request, each domain with what it cost or why it was free."""
    entries = [
        {
            **_entry(entry),
            "domains": [
                {"domain": domain, "charged": mark is Mark.CHARGED, "reason": REASONS[mark]} for domain, mark in marks
            ],
        }
        for entry, marks in found
    ]
    return json_response({"request_id": request_id, "entries": entries})
