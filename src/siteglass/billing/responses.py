"""Account, usage and ledger: the responses, declared and made, and the headers that say what a response cost."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta
from starlette.responses import Response

from siteglass.access.keys import SCOPES
from siteglass.billing.account_status import MAX_EXPIRIES, Credits, Overview
from siteglass.billing.credits import ChargedOperation, Mark, Receipt
from siteglass.billing.ledger_csv import format_time, written
from siteglass.billing.receipts import MAX_REQUEST_ENTRIES, MAX_USAGE_ROWS, Entry, UsageRow
from siteglass.billing.requests import CSV, MAX_ENTRIES, LedgerRequest, UsageRequest
from siteglass.web.messages import Count, Day, Id, ResponseBody, Time
from siteglass.web.operations import MAX_LIMIT
from siteglass.web.responses import SAFE_HEADERS, json_response

HEAD_HEADER = "X-Ledger-Head"
LEDGER_PATH = "/v1/ledger"
REASONS = {
    Mark.CHARGED: "charged",
    Mark.NO_ADDRESS: "no_address",
    Mark.NOT_FOUND: "not_found",
    Mark.PAID_BEFORE: "already_paid",
}
CREDIT_HEADERS = (
    "X-Credits-Api-Used",
    "X-Credits-Lead-Used",
    "X-Credits-Api-Remaining",
    "X-Credits-Lead-Remaining",
)

Rate = Annotated[float, Meta(gt=0)]
Price = Annotated[str, Meta(pattern=r"^\d+\.\d{6}$")]
LedgerKind = Literal["grant", "charge", "refund", "expire", "adjust"]
Actor = Literal["key", "person", "export", "operator"]
DailyCap = Annotated[int, Meta(ge=0, description="Maximum credits per day, UTC; null if there is no cap.")]


def credit_headers(receipt: Receipt) -> dict[str, str]:
    """What a response cost, and what is left."""
    counts = (receipt.api, receipt.lead, receipt.balances.api, receipt.balances.lead)
    return dict(zip(CREDIT_HEADERS, map(str, counts), strict=True))


def price(micros: int) -> str:
    """Millionths of the currency as a decimal number, exact."""
    return format(Decimal(micros).scaleb(-6), ".6f")


# --- the account --------------------------------------------------------------------------------


class AccountIdentity(ResponseBody):
    """Who pays."""

    id: Id
    name: str
    plan: str
    created_at: Time


class ExpiringCredits(ResponseBody):
    """Credits that expire together."""

    expires_at: Time
    api_credits: Count
    lead_credits: Count


class AccountBalances(ResponseBody):
    """Credits that can be spent now."""

    api_credits: Count
    lead_credits: Count
    expiring: Annotated[
        list[ExpiringCredits],
        Meta(
            max_length=MAX_EXPIRIES,
            description="Credits that expire unless they are spent, soonest first. They are spent first.",
        ),
    ]


class CreditPrices(ResponseBody):
    """Of one credit, as decimal numbers."""

    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$")]
    api_credit: Price
    lead_credit: Price


class PlanLimits(ResponseBody):
    """Of the plan."""

    requests_per_second: Annotated[Rate, Meta(description="Rate limit units restored per second.")]
    burst: Annotated[Id, Meta(description="Units at most at once.")]
    max_limit: Annotated[Id, Meta(description="Maximum number of leads per page.")]
    max_domains: Annotated[Id, Meta(description="Maximum number of domains per enrichment.")]
    daily_api_credits: (
        Annotated[
            Count,
            Meta(description="Maximum API credits that each key may spend per day, UTC; null if there is no cap."),
        ]
        | None
    )
    daily_lead_credits: (
        Annotated[
            Count,
            Meta(description="Maximum lead credits that each key may spend per day, UTC; null if there is no cap."),
        ]
        | None
    )
    rebill_after_hours: (
        Annotated[
            Id,
            Meta(
                description="A lead that was paid for within this many hours is free; null if it is charged each time."
            ),
        ]
        | None
    )


class CreditsUsed(ResponseBody):
    """What counts against the caps today, with the keys that this one replaced."""

    api_credits: Count
    lead_credits: Count


class CallingKey(ResponseBody):
    """The key of the request. Its own limits hold beside those of the plan: the lower one counts."""

    id: Id
    name: str
    shown: Annotated[str, Meta(description="First and last characters of the key.")]
    scopes: list[Annotated[str, Meta(extra_json_schema={"enum": list(SCOPES)})]]
    created_at: Time
    expires_at: Time | None
    requests_per_second: Rate | None
    burst: Id | None
    daily_api_credits: DailyCap | None
    daily_lead_credits: DailyCap | None
    used_today: CreditsUsed


class AccountResponse(ResponseBody):
    """The account as the key of the request sees it."""

    account: AccountIdentity
    balances: AccountBalances
    prices: CreditPrices
    limits: PlanLimits
    key: CallingKey


def account_response(overview: Overview, max_domains: int) -> AccountResponse:
    """An account as its key sees it."""
    plan, key = overview.plan, overview.key
    return AccountResponse(
        account=AccountIdentity(
            id=overview.id, name=overview.name, plan=plan.name, created_at=format_time(overview.created_at)
        ),
        balances=AccountBalances(
            api_credits=overview.balance.api,
            lead_credits=overview.balance.lead,
            expiring=[
                ExpiringCredits(expires_at=format_time(time), api_credits=left.api, lead_credits=left.lead)
                for time, left in overview.expiring
            ],
        ),
        prices=CreditPrices(
            currency=plan.currency,
            api_credit=price(plan.api_price_micros),
            lead_credit=price(plan.lead_price_micros),
        ),
        limits=PlanLimits(
            requests_per_second=plan.rate_per_s,
            burst=plan.burst,
            max_limit=MAX_LIMIT,
            max_domains=max_domains,
            daily_api_credits=plan.daily_api_cap,
            daily_lead_credits=plan.daily_lead_cap,
            rebill_after_hours=plan.rebill_after_hours,
        ),
        key=CallingKey(
            id=key.id,
            name=key.name,
            shown=key.shown,
            scopes=list(key.scopes),
            created_at=format_time(key.created_at),
            expires_at=format_time(key.expires_at),
            requests_per_second=key.rate_per_s,
            burst=key.burst,
            daily_api_credits=key.daily_api_cap,
            daily_lead_credits=key.daily_lead_cap,
            used_today=_used(key.used_today),
        ),
    )


def _used(credits: Credits) -> CreditsUsed:
    return CreditsUsed(api_credits=credits.api, lead_credits=credits.lead)


# --- usage --------------------------------------------------------------------------------------


class KeyName(ResponseBody):
    """A key."""

    id: Id
    name: str


class DailyUsage(ResponseBody):
    """What one key did of one operation on one day."""

    day: Day
    operation: ChargedOperation
    key: KeyName
    requests: Count
    api_credits: Count
    lead_credits: Count


class UsageTotals(ResponseBody):
    """Sums of all rows."""

    requests: Count
    api_credits: Count
    lead_credits: Count


class UsageResponse(ResponseBody):
    """What was charged."""

    from_: Annotated[Day, Meta(description="First day.")] = msgspec.field(name="from")
    to: Annotated[Day, Meta(description="Last day.")]
    rows: Annotated[
        list[DailyUsage],
        Meta(
            max_length=MAX_USAGE_ROWS,
            description="By day, operation and key; days without requests are left out.",
        ),
    ]
    totals: UsageTotals


def usage_response(request: UsageRequest, rows: Sequence[UsageRow]) -> UsageResponse:
    """Rows and their sums."""
    return UsageResponse(
        from_=str(request.first),
        to=str(request.last),
        rows=[
            DailyUsage(
                day=str(row.day),
                operation=row.operation,
                key=KeyName(id=row.key_id, name=row.key_name),
                requests=row.requests,
                api_credits=row.api,
                lead_credits=row.lead,
            )
            for row in rows
        ],
        totals=UsageTotals(
            requests=sum(row.requests for row in rows),
            api_credits=sum(row.api for row in rows),
            lead_credits=sum(row.lead for row in rows),
        ),
    )


# --- the ledger ---------------------------------------------------------------------------------


class LedgerEntry(ResponseBody):
    """An entry of the ledger, which is never changed: later ones correct it."""

    seq: Annotated[Id, Meta(description="Number of the entry within the account, without gaps.")]
    at: Time
    kind: LedgerKind
    operation: (
        Annotated[ChargedOperation, Meta(description="The operation; null if the entry is not a charge for one.")]
        | None
    )
    api_credits: Annotated[int, Meta(description="Negative if credits were taken.")]
    lead_credits: Annotated[int, Meta(description="Negative if credits were taken.")]
    request_id: Annotated[str, Meta(description="`X-Request-Id` of the response, or the reference of a grant.")]
    key: Annotated[KeyName | None, Meta(description="The key that paid; null if the entry was not paid with a key.")]
    by: Actor
    expires_at: Annotated[Time, Meta(description="When a grant expires; null if it never does.")] | None
    refers_to: Annotated[Id, Meta(description="`seq` of the entry that this one refunds or expires.")] | None
    hash: Annotated[
        str, Meta(pattern="^[0-9a-f]{64}$", description="Hash of the entry, chained to the previous entry's hash.")
    ]


class LedgerResponse(ResponseBody):
    """A page of the ledger."""

    entries: Annotated[list[LedgerEntry], Meta(max_length=MAX_ENTRIES)]
    next: Annotated[str, Meta(description="Path of the next page; null on the last page.")] | None


class ReceiptDomain(ResponseBody):
    """A domain of the response."""

    domain: str
    charged: bool
    reason: Annotated[str, Meta(extra_json_schema={"enum": list(REASONS.values())})]


class ReceiptEntry(LedgerEntry):
    """An entry of the ledger with its domains."""

    domains: list[ReceiptDomain]


class ReceiptResponse(ResponseBody):
    """What a request cost."""

    request_id: str
    entries: Annotated[list[ReceiptEntry], Meta(min_length=1, max_length=MAX_REQUEST_ENTRIES)]


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "seq": entry.seq,
        "at": format_time(entry.at),
        "kind": entry.kind,
        "operation": None if entry.operation == "none" else entry.operation,
        "api_credits": entry.api,
        "lead_credits": entry.lead,
        "request_id": entry.request_id,
        "key": None if entry.key_id is None else KeyName(id=entry.key_id, name=entry.key_name or ""),
        "by": entry.by,
        "expires_at": format_time(entry.expires_at),
        "refers_to": entry.refers_to,
        "hash": entry.hash.hex(),
    }


def ledger_response(request: LedgerRequest, entries: Sequence[Entry], signed_head: str | None = None) -> Response:
    """A page of entries, and the way to older ones."""
    limit = request.wanted.limit
    shown = entries[:limit]
    following = None
    if len(entries) > limit:
        following = f"{LEDGER_PATH}?{urlencode({**request.given, 'before': shown[-1].seq})}"
    headers = {"Vary": "Accept"}
    if signed_head is not None:
        headers[HEAD_HEADER] = signed_head
    if following is not None:
        headers["Link"] = f'<{following}>; rel="next"'
    if request.as_csv:
        # Of a key its number only: names are for people.
        return Response(written(shown), 200, {**SAFE_HEADERS, **headers}, f"{CSV}; charset=utf-8")
    body = LedgerResponse(entries=[LedgerEntry(**_entry(entry)) for entry in shown], next=following)
    return json_response(body, headers=headers)


def receipt_response(request_id: str, entries: Sequence[tuple[Entry, Sequence[tuple[str, Mark]]]]) -> ReceiptResponse:
    """All entries of a request, each domain with what it cost or why it was free."""
    return ReceiptResponse(
        request_id=request_id,
        entries=[
            ReceiptEntry(
                **_entry(entry),
                domains=[
                    ReceiptDomain(domain=domain, charged=mark is Mark.CHARGED, reason=REASONS[mark])
                    for domain, mark in marks
                ],
            )
            for entry, marks in entries
        ],
    )
