"""Account, usage and ledger over HTTP: query parameters read strictly, and the answers spelled as JSON or CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.responses import Response

from siteglass.accounts.credits import Mark
from siteglass.accounts.receipts import MAX_USAGE_ROWS, Entry, UsageRow, Wanted
from siteglass.accounts.standing import Overview
from siteglass.api.parameters import MAX_NUMBER, Given, read_given, read_number
from siteglass.api.requests import MAX_LIMIT
from siteglass.api.responses import JSON, LEDGER_PATH, SAFE_HEADERS, answer
from siteglass.errors import BadRequest, Problem, Problems
from siteglass.ledger_csv import spelled_time, written

CSV = "text/csv"

USAGE_PARAMETERS = ("from", "to", "key")
LEDGER_PARAMETERS = ("from", "to", "key", "request_id", "limit", "before")
DEFAULT_DAYS = 30
MAX_DAYS = 366
DEFAULT_ENTRIES = 100
MAX_ENTRIES = 1_000
MAX_REQUEST_ID_CHARS = 100

REASONS = {
    Mark.CHARGED: "charged",
    Mark.NO_ADDRESS: "no_address",
    Mark.NOT_FOUND: "not_found",
    Mark.PAID_BEFORE: "already_paid",
}

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)

# --- what is asked ------------------------------------------------------------------------------


def _day(given: Given, name: str, problems: Problems) -> date | None:
    text = given.get(name)
    if text is None:
        return None
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # no such day; told like any other text
    problems.append(Problem(name, f"expected a day such as 2026-11-15, found {text[:64]!r}"))
    return None


def _time(given: Given, name: str, problems: Problems, *, end_of_day: bool = False) -> datetime | None:
    """A time in UTC; of a day its start, or its end."""
    text = given.get(name)
    if text is None:
        return None
    try:
        if _TIME.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC)
        if _DAY.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(days=end_of_day)
    except (ValueError, OverflowError):
        pass  # no such time; told like any other text
    plus = "; write the + of an offset as %2B" if " " in text and _TIME.fullmatch(text.replace(" ", "+")) else ""
    expected = "expected an RFC 3339 time such as 2026-11-15T12:30:00Z or a day such as 2026-11-15"
    problems.append(Problem(name, f"{expected}, found {text[:64]!r}{plus}"))
    return None


def _request_id(given: Given, problems: Problems) -> str | None:
    text = given.get("request_id")
    if text is not None and not is_request_id(text):
        expected = f"expected 1 to {MAX_REQUEST_ID_CHARS} characters, as in the header X-Request-Id"
        problems.append(Problem("request_id", f"{expected}, found {text[:64]!r}"))
        return None
    return text


def is_request_id(text: str) -> bool:
    """Whether an entry can carry this; what cannot be stored is not looked up."""
    return 1 <= len(text) <= MAX_REQUEST_ID_CHARS and text.isprintable()


@dataclass(frozen=True, slots=True)
class UsageRequest:
    """Days, both included, and perhaps one key."""

    first: date
    last: date
    key_id: int | None


def read_usage(parameters: QueryParams, today: date) -> UsageRequest:
    """The parameters of GET /v1/usage."""
    problems = Problems()
    given = read_given(parameters, USAGE_PARAMETERS, problems)
    first, last = _day(given, "from", problems), _day(given, "to", problems)
    key_id = read_number(given, "key", MAX_NUMBER, problems)
    if problems:
        raise BadRequest(problems)
    if last is None:
        last = today
    if first is None:
        # The first days of all have none before them.
        first = date.fromordinal(max(1, last.toordinal() - DEFAULT_DAYS + 1))
    days = (last - first).days + 1
    if days < 1:
        raise BadRequest([Problem("from", f"expected a day not after {last}, found {first}")])
    if days > MAX_DAYS:
        raise BadRequest([Problem("from", f"expected at most {MAX_DAYS} days, found {days} up to {last}")])
    return UsageRequest(first, last, key_id)


def too_many_rows() -> BadRequest:
    """The answer to a usage of more rows than one answer has."""
    return BadRequest([Problem("from", f"more than {MAX_USAGE_ROWS:,} rows; ask for a shorter range, or for one key")])


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    """Entries that are wanted, and how they were asked for: the next page is asked for alike."""

    wanted: Wanted
    given: Given
    as_csv: bool


def read_ledger(parameters: QueryParams, accepted: str = "") -> LedgerRequest:
    """The parameters of GET /v1/ledger; `accepted` is the header that says in which form."""
    problems = Problems()
    given = read_given(parameters, LEDGER_PARAMETERS, problems)
    since, until = _time(given, "from", problems), _time(given, "to", problems, end_of_day=True)
    if since and until and since > until:
        problems.append(Problem("from", f"expected a time not after `to`, found {given['from']}"))
    key_id = read_number(given, "key", MAX_NUMBER, problems)
    request_id = _request_id(given, problems)
    limit = read_number(given, "limit", MAX_ENTRIES, problems) or DEFAULT_ENTRIES
    before = read_number(given, "before", MAX_NUMBER, problems)
    if problems:
        raise BadRequest(problems)
    wanted = Wanted(limit, since, until, key_id, request_id, before)
    return LedgerRequest(wanted, given, prefers_csv(accepted))


def prefers_csv(accepted: str) -> bool:
    """Whether a list such as `text/csv, */*;q=0.5` puts CSV above JSON: by weight, then by what is named first."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, *parameters = (word.strip() for word in part.split(";"))
        weight = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        weights.setdefault(name, float(weight) if re.fullmatch(r"[01](\.\d{0,3})?", weight, re.ASCII) else 0)
    of_csv = next((weights[name] for name in (CSV, "text/*", "*/*") if name in weights), 0.0)
    of_json = next((weights[name] for name in (JSON, "application/*", "*/*") if name in weights), 0.0)
    if of_csv == of_json:
        names = list(weights)
        return of_csv > 0 and CSV in names and (JSON not in names or names.index(CSV) < names.index(JSON))
    return of_csv > of_json


# --- what is answered ---------------------------------------------------------------------------


def price(micros: int) -> str:
    """Millionths of the currency as a decimal number, exact."""
    return format(Decimal(micros).scaleb(-6), ".6f")


def account_answer(seen: Overview, max_domains: int) -> Response:
    """An account as its key sees it."""
    plan, key = seen.plan, seen.key
    return answer(
        {
            "account": {
                "id": seen.id,
                "name": seen.name,
                "plan": plan.name,
                "created_at": spelled_time(seen.created_at),
            },
            "balances": {
                "api_credits": seen.balance.api,
                "lead_credits": seen.balance.lead,
                "expiring": [
                    {"expires_at": spelled_time(time), "api_credits": left.api, "lead_credits": left.lead}
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
                "created_at": spelled_time(key.created_at),
                "expires_at": spelled_time(key.expires_at),
                "requests_per_second": key.rate_per_s,
                "burst": key.burst,
                "daily_api_credits": key.daily_api_cap,
                "daily_lead_credits": key.daily_lead_cap,
                "used_today": {"api_credits": key.used_today.api, "lead_credits": key.used_today.lead},
            },
        }
    )


def usage_answer(asked: UsageRequest, rows: Sequence[UsageRow]) -> Response:
    """Rows and their sums."""
    return answer(
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
        "at": spelled_time(entry.at),
        "kind": entry.kind,
        "operation": None if entry.operation == "none" else entry.operation,
        "api_credits": entry.api,
        "lead_credits": entry.lead,
        "request_id": entry.request_id,
        "key": None if entry.key_id is None else {"id": entry.key_id, "name": entry.key_name},
        "by": entry.by,
        "expires_at": spelled_time(entry.expires_at),
        "refers_to": entry.refers_to,
        "hash": entry.hash.hex(),
    }


def ledger_answer(asked: LedgerRequest, found: Sequence[Entry]) -> Response:
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
    return answer({"entries": [_entry(entry) for entry in shown], "next": following}, headers=headers)


def receipt_answer(request_id: str, found: Sequence[tuple[Entry, Sequence[tuple[str, Mark]]]]) -> Response:
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
    return answer({"request_id": request_id, "entries": entries})
