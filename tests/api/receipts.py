"""How the tests of account, usage and ledger ask, and make what no request can: other days, and rows of operators."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import httpx

from siteglass.access.keys import create_key
from siteglass.billing import credits
from testing.accounts import owner
from testing.api_calls import ENRICH, LEDGER, SEARCH, answered
from testing.customers import IN_ORDER, STOCK, Bank, Customer

CSV_HEAD = (
    "seq,at,kind,operation,api_credits,lead_credits,request_id,key_id,by,expires_at,refers_to,hash"  # as promised
)


def get(customer: Customer, path: str, **parameters: Any) -> dict[str, Any]:
    """The body of a 200; `from_` stands for `from`."""
    # None, not {}: an empty one would take away what the path has.
    asked = {name.rstrip("_"): value for name, value in parameters.items()} or None
    return answered(customer.client.get(path, params=asked))


def entries(customer: Customer, **parameters: Any) -> list[dict[str, Any]]:
    """The entries of one page, which is the only one."""
    page = get(customer, LEDGER, **parameters)
    assert list(page) == ["entries", "next"]
    assert page["next"] is None
    found: list[dict[str, Any]] = page["entries"]
    return found


def walked(customer: Customer, **parameters: Any) -> list[dict[str, Any]]:
    """The entries of all pages, one after the other."""
    page = get(customer, LEDGER, **parameters)
    found: list[dict[str, Any]] = page["entries"]
    while page["next"]:
        page = get(customer, page["next"])
        found += page["entries"]
    return found


def table(response: httpx.Response) -> list[dict[str, str]]:
    """The rows of a CSV answer."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.text.endswith("\r\n")
    lines = list(csv.reader(io.StringIO(response.text, newline=""), strict=True))
    assert ",".join(lines[0]) == CSV_HEAD
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def as_table(found: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Entries of a JSON answer, as a CSV answer must tell them."""

    def cell(value: Any) -> str:
        return "" if value is None else str(value)

    rows = [{**entry, "key_id": entry["key"] and entry["key"]["id"]} for entry in found]
    return [{name: cell(row[name]) for name in CSV_HEAD.split(",")} for row in rows]


def moment(text: str) -> datetime:
    """A time of an answer."""
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


def spend(customer: Customer, limit: int = 3) -> str:
    """A search that is charged; its request id."""
    response = customer.post(SEARCH, {**IN_ORDER, "limit": limit})
    answered(response)
    return response.headers["x-request-id"]


def look_up(customer: Customer, *domains: str) -> str:
    """An enrichment that is charged; its request id."""
    response = customer.post(ENRICH, {"domains": list(domains) or [STOCK[1].domain]})
    answered(response)
    return response.headers["x-request-id"]


def grant_and_spend(bank: Bank) -> tuple[Customer, list[str]]:
    """A customer with an entry of every kind but expiry, and the ids of its charges."""
    customer = bank.customer(api=10, lead=100)
    account, postgres = customer.account_id, bank.postgres
    ends = datetime.now(UTC) + timedelta(days=9)
    bank.do(credits.grant(postgres, account, 1, 1, "tests", "INV 1", ends))
    paid = [look_up(customer, STOCK[1].domain, "nope.invalid"), spend(customer)]
    bank.do(credits.refund(postgres, account, 3, 1, 0, "tests", "ticket 1", "tests"))
    bank.do(credits.adjust(postgres, account, 0, -1, "tests", "right", "tests"))
    return customer, paid


def another(bank: Bank, customer: Customer, name: str) -> Customer:
    """One more key of an account, with a name."""
    made = create_key(bank.postgres, bank.settings.key_secrets, customer.account_id, name, actor="tests")
    key_id, key = bank.do(made)
    return Customer(bank, customer.account_id, key_id, key, bank.client(key))


def as_owner(bank: Bank, statement: str, *values: Any) -> None:
    """Write what the service's role cannot."""

    async def write() -> None:
        connection = await asyncpg.connect(owner(bank.settings.postgres_dsn), timeout=10)
        await connection.execute(bank.postgres.sql(statement), *values)
        await connection.close()

    bank.do(write())
