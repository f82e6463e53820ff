"""What the service tells about money: account, usage, ledger and receipts."""

from __future__ import annotations

from typing import Any

from siteglass_client.records import Record, field, part, parts


class Expiring(Record):
    """Credits that expire."""

    __slots__ = ()
    expires_at = field[str]()
    api_credits = field[int]()
    lead_credits = field[int]()


class Balances(Record):
    """The credits of an account."""

    __slots__ = ()
    api_credits = field[int]()
    lead_credits = field[int]()
    expiring = parts(Expiring)


class Prices(Record):
    """What a credit costs; decimal numbers as text."""

    __slots__ = ()
    currency = field[str]()
    api_credit = field[str]()
    lead_credit = field[str]()


class AccountName(Record):
    """Who calls."""

    __slots__ = ()
    id = field[int]()
    name = field[str]()
    plan = field[str]()
    created_at = field[str]()


class Limits(Record):
    """The limits of an account."""

    __slots__ = ()
    requests_per_second = field[float]()
    burst = field[int]()
    max_limit = field[int]()
    max_domains = field[int]()
    daily_api_credits = field["int | None"]()
    daily_lead_credits = field["int | None"]()
    rebill_after_hours = field["int | None"]()


class UsedToday(Record):
    """What a key has spent today, UTC."""

    __slots__ = ()
    api_credits = field[int]()
    lead_credits = field[int]()


class KeyInfo(Record):
    """The key that asks; `shown` is its start and end."""

    __slots__ = ()
    id = field[int]()
    name = field[str]()
    shown = field[str]()
    scopes = field[list[str]]()
    created_at = field[str]()
    expires_at = field["str | None"]()
    daily_api_credits = field["int | None"]()
    daily_lead_credits = field["int | None"]()
    used_today = part(UsedToday)


class Account(Record):
    """Balances, prices, limits, and the key that asks."""

    __slots__ = ()
    account = part(AccountName)
    balances = part(Balances)
    prices = part(Prices)
    limits = part(Limits)
    key = part(KeyInfo)


class UsageRow(Record):
    """What a key did with one operation on one day."""

    __slots__ = ()
    day = field[str]()
    operation = field[str]()
    key = field[dict[str, Any]]()
    requests = field[int]()
    api_credits = field[int]()
    lead_credits = field[int]()


class UsageTotals(Record):
    """The sum of all rows."""

    __slots__ = ()
    requests = field[int]()
    api_credits = field[int]()
    lead_credits = field[int]()


class Usage(Record):
    """Credits by day, operation and key; `usage["from"]` and `usage["to"]` are the first and the last day."""

    __slots__ = ()
    rows = parts(UsageRow)
    totals = part(UsageTotals)


class LedgerEntry(Record):
    """One change of the balance; below zero is taken."""

    __slots__ = ()
    seq = field[int]()
    at = field[str]()
    kind = field[str]()
    operation = field["str | None"]()
    api_credits = field[int]()
    lead_credits = field[int]()
    request_id = field[str]()
    key = field["dict[str, Any] | None"]()
    by = field[str]()
    expires_at = field["str | None"]()
    refers_to = field["int | None"]()
    hash = field[str]()


class ChargedDomain(Record):
    """A domain of a charge: charged, or free and why."""

    __slots__ = ()
    domain = field[str]()
    charged = field[bool]()
    reason = field[str]()


class ReceiptEntry(LedgerEntry):
    """An entry with its domains."""

    __slots__ = ()
    domains = parts(ChargedDomain)


class Receipt(Record):
    """All entries of one request, the oldest first."""

    __slots__ = ()
    request_id = field[str]()
    entries = parts(ReceiptEntry)
