"""GET /v1/ledger: every entry, exactly; which are shown; and nothing of anybody else."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from siteglass.billing.ledger import entry_hash
from testing.api_calls import LEDGER, SEARCH, answered
from testing.customers import COST, IN_ORDER, Bank, Customer
from tests.api.receipts import another, as_owner, entries, get, look_up, moment, spend


@pytest.fixture(scope="module")
def busy(bank: Bank) -> Customer:
    """An account with nine entries: a grant, and those of two keys."""
    customer = bank.customer(api=10, lead=500)
    other = another(bank, customer, "another")
    for limit in (2, 3, 4):
        spend(customer, limit)
        spend(other, limit)
    look_up(customer)
    look_up(other)
    return customer


@pytest.fixture(scope="module")
def everything(busy: Customer) -> list[dict[str, Any]]:
    return entries(busy)


@pytest.mark.promise("route.GET /v1/ledger")
def test_every_entry(bank: Bank, busy: Customer, everything: list[dict[str, Any]]) -> None:
    stored = bank.do(
        bank.postgres.fetch(
            "SELECT l.*, k.name AS key_name FROM {schema}.ledger l LEFT JOIN {schema}.keys k ON k.id::text = l.actor_id"
            " AND l.actor_kind = 'key' WHERE l.account_id = $1 ORDER BY seq DESC",
            busy.account_id,
        )
    )
    assert [entry["seq"] for entry in everything] == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    for entry, row in zip(everything, stored, strict=True):
        by_key = row["actor_kind"] == "key"
        assert entry == {
            "seq": row["seq"],
            "at": row["at"].isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "kind": row["kind"],
            "operation": row["operation"] if by_key else None,
            "api_credits": row["api"],
            "lead_credits": row["lead"],
            "request_id": row["request_id"],
            "key": {"id": int(row["actor_id"]), "name": row["key_name"]} if by_key else None,
            "by": "key" if by_key else "operator",
            "expires_at": None,
            "refers_to": None,
            "hash": entry_hash(row).hex(),
        }
    assert [entry["operation"] for entry in everything] == ["enrich"] * 2 + ["search"] * 6 + [None]
    assert [entry["lead_credits"] for entry in everything][2:] == [-COST[4]] * 2 + [-COST[3]] * 2 + [-COST[2]] * 2 + [
        500
    ]


def test_an_account_without_entries(bank: Bank) -> None:
    assert get(bank.customer(), LEDGER) == {"entries": [], "next": None}


@pytest.mark.promise("ledger.request_id")
def test_a_request_id_is_that_of_the_answer(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    ids = [spend(customer, 2) for _ in range(3)]
    for number, request_id in enumerate(ids):
        (entry,) = entries(customer, request_id=request_id)
        assert (entry["request_id"], entry["seq"]) == (request_id, number + 2)
    assert entries(customer, request_id="nope") == []


@pytest.mark.promise("ledger.key")
def test_of_one_key(bank: Bank, busy: Customer, everything: list[dict[str, Any]]) -> None:
    other = next(entry["key"]["id"] for entry in everything if entry["key"] and entry["key"]["name"] == "another")
    for key in (busy.key_id, other):
        of_key = [entry for entry in everything if entry["key"] and entry["key"]["id"] == key]
        assert len(of_key) == 4
        assert entries(busy, key=key) == of_key
    assert entries(busy, key=2**63 - 1) == []


@pytest.mark.promise("ledger.key")
def test_an_operator_named_like_a_key_is_none(bank: Bank) -> None:
    customer = bank.customer(lead=10)
    named = "UPDATE {schema}.ledger SET actor_id = $2 WHERE account_id = $1"
    as_owner(bank, "ALTER TABLE {schema}.ledger DISABLE TRIGGER no_change")
    as_owner(bank, named, customer.account_id, str(customer.key_id))
    as_owner(bank, "ALTER TABLE {schema}.ledger ENABLE TRIGGER no_change")
    assert entries(customer, key=customer.key_id) == []
    assert [(entry["by"], entry["key"]) for entry in entries(customer)] == [("operator", None)]


def _in_zone(time: datetime, hours: int) -> str:
    return time.astimezone(timezone(timedelta(hours=hours))).isoformat()


@pytest.mark.promise("ledger.from", "ledger.to")
def test_from_includes_and_to_does_not(busy: Customer, everything: list[dict[str, Any]]) -> None:
    """At every entry's own time, and a microsecond beside it, in several zones."""
    tick = timedelta(microseconds=1)
    for number, entry in enumerate(everything):
        time = moment(entry["at"])
        for shift in (-tick, timedelta(0), tick):
            edge = time + shift
            later = [one for one in everything if moment(one["at"]) >= edge]
            for text in (_in_zone(edge, 0), _in_zone(edge, 5), edge.isoformat().replace("+00:00", "z")):
                assert entries(busy, from_=text) == later
                assert entries(busy, to=text) == everything[len(later) :]
        assert entries(busy, from_=entry["at"], to=everything[0]["at"]) == everything[1 : number + 1]
        assert entries(busy, from_=entry["at"], to=entry["at"]) == []


@pytest.mark.promise("ledger.from", "ledger.to")
def test_days(busy: Customer, everything: list[dict[str, Any]]) -> None:
    first, last = everything[-1]["at"][:10], everything[0]["at"][:10]
    assert entries(busy, from_=first, to=last) == everything
    assert entries(busy, to=str(datetime.fromisoformat(first).date() - timedelta(days=1))) == []
    assert entries(busy, from_=str(datetime.fromisoformat(last).date() + timedelta(days=1))) == []
    for day in ("0001-01-01", "9999-12-30"):
        assert entries(busy, from_="0001-01-01", to=day) == (everything if day > "2026" else [])


@pytest.mark.promise("ledger.combined")
def test_combined(busy: Customer, everything: list[dict[str, Any]]) -> None:
    for entry in everything:
        key = (entry["key"] or {"id": 1})["id"]
        found = entries(busy, from_=entry["at"], key=key, before=8)
        assert found == [
            one for one in everything if one["key"] and one["key"]["id"] == key and entry["seq"] <= one["seq"] < 8
        ]
        if entry["key"]:
            all_hold = {"key": key, "request_id": entry["request_id"], "from_": entry["at"], "before": entry["seq"] + 1}
            assert entries(busy, **all_hold) == [entry]
            assert entries(busy, **{**all_hold, "before": entry["seq"]}) == []
            assert entries(busy, **{**all_hold, "to": entry["at"]}) == []
            assert entries(busy, **{**all_hold, "key": key + 1000}) == []


@pytest.mark.promise("ledger.staff")
def test_who_of_the_staff_did_it_is_not_shown(bank: Bank) -> None:
    customer = bank.customer(lead=10)
    spend(customer)
    response = customer.client.get(LEDGER)
    (grant,) = [entry for entry in answered(response)["entries"] if entry["kind"] == "grant"]
    assert (grant["by"], grant["key"]) == ("operator", None)
    actors = bank.do(
        bank.postgres.fetch(
            "SELECT actor_kind::text, actor_id FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq",
            customer.account_id,
        )
    )
    assert [tuple(row) for row in actors] == [("operator", "tests"), ("key", str(customer.key_id))]
    renamed = another(bank, customer, "key")
    assert "tests" not in response.text.replace('"name":"tests"', "")
    assert "tests" not in renamed.client.get(LEDGER, headers={"Accept": "text/csv"}).text


@pytest.mark.promise("receipts.own")
def test_only_of_ones_own_account(bank: Bank, busy: Customer, everything: list[dict[str, Any]]) -> None:
    """Whatever is asked for."""
    stranger = bank.customer(lead=100)
    spend(stranger)
    own = entries(stranger)
    assert len(own) == 2
    seen = {entry["hash"] for entry in own}
    for entry in everything:
        key = (entry["key"] or {"id": busy.key_id})["id"]
        for asked in (
            {"key": key},
            {"request_id": entry["request_id"]} if entry["key"] else {"request_id": "none"},
            {"key": key, "request_id": entry["request_id"]},
            {"before": entry["seq"] + 1, "key": key},
            {"from_": entry["at"], "key": key},
            {"to": own[0]["at"], "key": key},
        ):
            assert entries(stranger, **asked) == []
        for allowed in ({"from_": entry["at"]}, {"to": entry["at"]}, {"before": entry["seq"] + 1}, {"limit": 1_000}):
            assert {one["hash"] for one in entries(stranger, **allowed)} <= seen


def test_a_revoked_key_stays_in_the_books(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    gone = another(bank, customer, "gone")
    spend(gone)
    bank.revoke(gone.key_id)
    assert entries(customer)[0]["key"] == {"id": gone.key_id, "name": "gone"}


@pytest.mark.promise("ledger.hash")
def test_the_hashes_are_a_chain(busy: Customer, everything: list[dict[str, Any]]) -> None:
    """Each is that of its row, which begins with the hash before: kept hashes prove what follows."""
    previous = bytes(32)
    rows = {row["seq"]: row for row in busy.books().rows}
    for entry in reversed(everything):
        row = rows[entry["seq"]]
        microseconds = (moment(entry["at"]) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        parts = ["siteglass ledger 1", busy.account_id, entry["seq"], microseconds, entry["kind"]]
        parts += [entry["operation"] or "none", entry["api_credits"], entry["lead_credits"], "", ""]
        parts += [entry["by"], row["actor_id"], entry["request_id"], row["domains"]]
        previous = hashlib.sha256(previous + "\n".join(map(str, parts)).encode()).digest()
        assert entry["hash"] == previous.hex()


def test_headers(busy: Customer) -> None:
    response: httpx.Response = busy.client.get(LEDGER)
    assert response.headers["vary"] == "Accept"
    assert response.headers["cache-control"] == "no-store"
    assert "link" not in response.headers


def test_a_search_that_finds_nothing_is_an_entry(bank: Bank) -> None:
    customer = bank.customer(lead=1)
    answered(customer.post(SEARCH, {**IN_ORDER, "keywords": ["nothing-has-this"]}))
    entry = entries(customer)[0]
    assert (entry["operation"], entry["api_credits"], entry["lead_credits"]) == ("search", 0, 0)
