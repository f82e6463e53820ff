"""Pages of GET /v1/ledger: together all entries, each once, whatever the limit and whatever is charged meanwhile."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siteglass.billing import credits
from testing.api_calls import ACCOUNT, LEDGER, answered
from testing.customers import Bank, Customer
from tests.api.receipts import another, as_owner, as_table, entries, get, look_up, moment, spend, table, walked

CSV = {"Accept": "text/csv"}


@pytest.fixture(scope="module")
def long(bank: Bank) -> Customer:
    """An account with 40 entries of two keys and an operator."""
    customer = bank.customer(api=100, lead=5_000)
    other = another(bank, customer, "another")
    for number in range(36):
        (look_up if number % 5 == 0 else spend)(other if number % 3 == 0 else customer)
        if number % 12 == 11:
            customer.grant(lead=7)
    return customer


@pytest.fixture(scope="module")
def everything(long: Customer) -> list[dict[str, Any]]:
    found = entries(long, limit=1_000)
    assert [entry["seq"] for entry in found] == list(range(40, 0, -1))
    return found


@pytest.mark.promise("credits.receipts")
def test_the_sums_are_the_balances(long: Customer, everything: list[dict[str, Any]]) -> None:
    balances = get(long, ACCOUNT)["balances"]
    assert sum(entry["api_credits"] for entry in everything) == balances["api_credits"] == long.balance()[0]
    assert sum(entry["lead_credits"] for entry in everything) == balances["lead_credits"] == long.balance()[1]


@pytest.mark.promise("credits.receipts")
def test_the_sums_are_the_balances_after_corrections(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    spend(customer, 9)
    account, postgres = customer.account_id, bank.postgres
    bank.do(credits.refund(postgres, account, 2, None, 2, "tests", "back", "tests"))
    bank.do(credits.adjust(postgres, account, -3, 5, "tests", "right", "tests"))
    ends = datetime.now(UTC) + timedelta(days=1)
    bank.do(credits.grant(postgres, account, 7, 0, "tests", "more", ends))
    look_up(customer)
    found = entries(customer)
    assert [entry["kind"] for entry in found] == ["charge", "grant", "adjust", "refund", "charge", "grant"]
    balances = get(customer, ACCOUNT)["balances"]
    sums = [sum(entry[name] for entry in found) for name in ("api_credits", "lead_credits")]
    assert sums == [balances["api_credits"], balances["lead_credits"]] == list(customer.balance())
    assert table(customer.client.get(LEDGER, headers=CSV)) == as_table(found)


def _wanted(entry: dict[str, Any], asked: dict[str, Any]) -> bool:
    return (
        ("from_" not in asked or moment(entry["at"]) >= moment(asked["from_"]))
        and ("to" not in asked or moment(entry["at"]) < moment(asked["to"]))
        and ("key" not in asked or (entry["key"] is not None and entry["key"]["id"] == asked["key"]))
        and ("before" not in asked or entry["seq"] < asked["before"])
    )


@pytest.mark.promise("ledger.before", "ledger.stable", "ledger.csv")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_pages_of_any_limit_are_all_entries(
    long: Customer, everything: list[dict[str, Any]], data: st.DataObject
) -> None:
    keys = sorted({entry["key"]["id"] for entry in everything if entry["key"]})
    times = st.sampled_from([entry["at"] for entry in everything])
    asked = data.draw(
        st.fixed_dictionaries(
            {"limit": st.integers(1, 45)},
            optional={
                "from_": times, "to": times, "key": st.sampled_from(keys), "before": st.integers(1, 45),
            },
        )
    )  # fmt: skip
    if "from_" in asked and "to" in asked and asked["from_"] > asked["to"]:
        asked["from_"], asked["to"] = asked["to"], asked["from_"]
    expected = [entry for entry in everything if _wanted(entry, asked)]
    assert walked(long, **asked) == expected

    rows: list[dict[str, str]] = []
    parameters = {name.rstrip("_"): value for name, value in asked.items()}
    response = long.client.get(LEDGER, params=parameters, headers=CSV)
    while True:
        page = table(response)
        assert len(page) <= asked["limit"]
        rows += page
        if "link" not in response.headers:
            break
        response = long.client.get(_next(response), headers=CSV)
    assert rows == as_table(expected)


def _next(response: httpx.Response) -> str:
    found = re.fullmatch(r'<(/v1/ledger\?[!-~]+)>; rel="next"', response.headers["link"])
    assert found
    return found[1]


@pytest.mark.promise("ledger.next")
def test_the_way_on_is_in_body_and_header(long: Customer) -> None:
    response = long.client.get(LEDGER, params={"limit": 7, "key": long.key_id, "from": "2026-01-01T00:00:00+02:00"})
    page = answered(response)
    last = page["entries"][-1]["seq"]
    assert page["next"] == f"/v1/ledger?limit=7&key={long.key_id}&from=2026-01-01T00%3A00%3A00%2B02%3A00&before={last}"
    assert _next(response) == page["next"]
    assert get(long, page["next"])["entries"][0]["seq"] < last


@pytest.mark.promise("ledger.stable", "ledger.next")
@pytest.mark.parametrize("limit", [1, 2, 20, 39, 40, 41])
def test_ends(long: Customer, everything: list[dict[str, Any]], limit: int) -> None:
    """No empty page after the last."""
    page = get(long, LEDGER, limit=limit)
    assert page["entries"] == everything[:limit]
    pages = 1
    while page["next"]:
        page = get(long, page["next"])
        assert page["entries"]
        pages += 1
    assert pages == -(-40 // limit)


@pytest.mark.promise("ledger.limit", "limit.ledger_default", "limit.ledger_most")
def test_100_is_the_default_and_1000_the_most(bank: Bank) -> None:
    customer = bank.customer()
    grow = """
    INSERT INTO {schema}.ledger
    SELECT $1, n, '2026-01-01Z'::timestamptz + n * interval '1 second', 'grant', 'none', 0, 1, NULL, NULL, 'operator',
        'tests', 'r' || n, '', '\\x00', sha256(n::text::bytea)
    FROM generate_series(1, 1001) n
    """
    as_owner(bank, grow.replace("\\\\", "\\"), customer.account_id)
    as_owner(bank, "UPDATE {schema}.balances SET seq = 1001, lead = 1001 WHERE account_id = $1", customer.account_id)
    page = get(customer, LEDGER)
    assert [entry["seq"] for entry in page["entries"]] == list(range(1001, 901, -1))
    assert page["next"] == "/v1/ledger?before=902"
    page = get(customer, LEDGER, limit=1_000)
    assert [entry["seq"] for entry in page["entries"]] == list(range(1001, 1, -1))
    assert [entry["seq"] for entry in get(customer, page["next"])["entries"]] == [1]
    # Times that many entries have in common are cut at none of them.
    as_owner(bank, "ALTER TABLE {schema}.ledger DISABLE TRIGGER no_change")
    as_owner(
        bank,
        "UPDATE {schema}.ledger SET at = '2026-01-02Z' WHERE account_id = $1 AND seq BETWEEN 300 AND 799",
        customer.account_id,
    )
    as_owner(
        bank,
        "UPDATE {schema}.ledger SET at = at + interval '2 days' WHERE account_id = $1 AND seq > 799",
        customer.account_id,
    )
    as_owner(bank, "ALTER TABLE {schema}.ledger ENABLE TRIGGER no_change")
    day = entries(customer, from_="2026-01-02", to="2026-01-02", limit=1_000)
    assert [entry["seq"] for entry in day] == list(range(799, 299, -1))


@pytest.mark.promise("ledger.stable")
def test_stable_while_charges_go_on(bank: Bank) -> None:
    customer = bank.customer(lead=100_000)
    for _ in range(30):
        spend(customer, 2)
    stop = threading.Event()

    def charge() -> None:
        own = bank.another(customer.account_id)
        while not stop.is_set():
            spend(own, 2)

    busy = [threading.Thread(target=charge) for _ in range(3)]
    for thread in busy:
        thread.start()
    try:
        for limit in (1, 3, 7, 50):
            found = [entry["seq"] for entry in walked(customer, limit=limit)]
            assert found == list(range(found[0], 0, -1))
    finally:
        stop.set()
        for thread in busy:
            thread.join()
    found = [entry["seq"] for entry in walked(customer, limit=1_000)]
    assert found == list(range(len(customer.books().rows), 0, -1))
    assert found[0] > 31
