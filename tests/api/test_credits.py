"""What answers cost, to the credit: the same in headers, balance and ledger; and that failures cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.billing.credits import Mark
from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from testing.api_calls import ENRICH, SEARCH, answered, refused
from testing.customers import COST, CREDIT_HEADERS, IN_ORDER, STOCK, Bank, Marks, marks
from testing.service import serving

JSON = {"Content-Type": "application/json"}
FIRST = STOCK[1].domain


def _charged(*domains: str) -> Marks:
    return [(domain, Mark.CHARGED) for domain in domains]


# --- search and pages ---------------------------------------------------------------------------


@pytest.mark.promise("credits.search_api", "credits.search_lead", "header.credits")
@pytest.mark.parametrize("limit", [1, 2, 3, 20, 60, 100])
def test_a_search_costs_its_leads_with_an_address(bank: Bank, limit: int) -> None:
    customer = bank.customer(api=5, lead=200)
    page = customer.pays(SEARCH, {**IN_ORDER, "limit": limit}, "search", 0, marks(STOCK[:limit]))
    assert [record["domain"] for record in page["results"]] == [lead.domain for lead in STOCK[:limit]]
    assert customer.balance() == (5, 200 - COST[min(limit, 60)])
    customer.verified()


def test_a_search_costs_the_default_of_20(bank: Bank) -> None:
    bank.customer(lead=50).pays(SEARCH, IN_ORDER, "search", 0, marks(STOCK[:20]))


@pytest.mark.promise("charge.address")
@pytest.mark.parametrize("select", [["domain"], ["title", "phones"], ["emails"], ["crawled_at"], []])
def test_select_changes_no_price(bank: Bank, select: list[str]) -> None:
    customer = bank.customer(lead=50)
    customer.pays(SEARCH, {**IN_ORDER, "limit": 9, "select": select}, "search", 0, marks(STOCK[:9]))


@pytest.mark.promise("charge.generic")
@pytest.mark.parametrize("select", [None, ["domain"]])
def test_without_generic_addresses_only_persons_are_charged(bank: Bank, select: list[str] | None) -> None:
    customer = bank.customer(lead=50)
    body = {**IN_ORDER, "limit": 7, "exclude_generic_emails": True, "select": select}
    persons = [lead for lead in STOCK if lead.emails_personal]
    page = customer.pays(SEARCH, body, "search", 0, marks(persons[:7], personal=True))
    assert page["total_results"] == len(persons) == 20
    customer.pays(page["next"], {}, "page", 0, marks(persons[7:14], personal=True))


@pytest.mark.promise("credits.search_lead")
def test_leads_without_an_address_are_free(bank: Bank) -> None:
    customer = bank.customer(lead=50)
    without = [lead for lead in STOCK if not lead.emails]
    body = {**IN_ORDER, "wrapped_query": "!@has_email", "limit": 100}
    page = customer.pays(SEARCH, body, "search", 0, marks(without))
    assert page["size"] == len(without) == 20
    assert customer.balance() == (0, 50)


def test_no_match_costs_nothing_and_is_written_down(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=1)
    customer.pays(SEARCH, {"keywords": ["nothing-has-this"]}, "search", 0, [])
    assert customer.balance() == (1, 1)


@pytest.mark.promise("credits.repeats")
def test_every_page_is_charged_each_time(bank: Bank) -> None:
    customer = bank.customer(lead=500)
    page = customer.pays(SEARCH, {**IN_ORDER, "limit": 25}, "search", 0, marks(STOCK[:25]))
    second = customer.pays(page["next"], {}, "page", 0, marks(STOCK[25:50]))
    customer.pays(page["next"], {}, "page", 0, marks(STOCK[25:50]))
    third = customer.pays(second["next"], {}, "page", 0, marks(STOCK[50:]))
    assert third["next"] is None
    customer.pays(third["previous"], {}, "page", 0, marks(STOCK[25:50]))
    customer.pays(second["previous"], {}, "page", 0, marks(STOCK[:25]))
    customer.pays(second["next"], {"limit": 2}, "page", 0, marks(STOCK[50:52]))
    customer.pays(SEARCH, {**IN_ORDER, "limit": 25}, "search", 0, marks(STOCK[:25]))
    customer.verified()


def test_every_order_and_filter_is_charged_by_what_it_shows(bank: Bank) -> None:
    customer = bank.customer(lead=500)
    highest = STOCK[:-9:-1]
    customer.pays(SEARCH, {"sort": "-score", "limit": 8}, "search", 0, marks(highest))
    customer.pays(SEARCH, {"sort": "score", "limit": 8}, "search", 0, marks(STOCK[:8]))
    customer.pays(SEARCH, {**IN_ORDER, "country": "FRA", "limit": 7}, "search", 0, marks(STOCK[30:37]))
    customer.pays(SEARCH, {**IN_ORDER, "wrapped_query": "@score(>50)"}, "search", 0, marks(STOCK[51:]))


# --- enrichment ---------------------------------------------------------------------------------


@pytest.mark.promise("credits.enrich_api", "credits.enrich_lead", "header.credits")
def test_an_enrichment_costs_one_and_one_for_each_domain_found(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    domains = [lead.domain for lead in STOCK[:7]]
    customer.pays(ENRICH, {"domains": domains}, "enrich", 1, _charged(*domains))
    body = {"domains": [lead.domain for lead in STOCK], "select": ["title"]}
    customer.pays(ENRICH, body, "enrich", 1, _charged(*body["domains"]))
    assert customer.balance() == (8, 100 - 7 - 60)


@pytest.mark.promise("domain.repeated")
def test_a_domain_is_charged_once_whatever_its_form(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    forms = [
        FIRST,
        FIRST,
        f"www.{FIRST}",
        f"http://{FIRST}",
        f"https://www.{FIRST}/about?x=1#top",
        FIRST.upper(),
        f"{FIRST}:8080",
        f" {FIRST}. ",
        f"shop.{FIRST}",
        f"https://someone@{FIRST}/",
    ]
    made = customer.pays(ENRICH, {"domains": forms}, "enrich", 1, _charged(FIRST))
    assert [item["domain"] for item in made["results"]] == forms
    assert {item["status"] for item in made["results"]} == {"success"}
    customer.pays(ENRICH, {"domains": forms}, "enrich", 1, _charged(FIRST))
    assert customer.balance() == (8, 98)


@pytest.mark.promise("credits.enrich_lead", "credits.n_and_k", "domain.not_charged", "charge.enrich_nothing")
def test_what_is_not_found_or_wrong_is_free(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    domains = ["nope.invalid", FIRST, "", "10.0.0.1", "localhost", "eve.moore@", "nope.invalid", "b c.com"]
    charged = [*_charged(FIRST), ("nope.invalid", Mark.NOT_FOUND)]
    made = customer.pays(ENRICH, {"domains": domains}, "enrich", 1, charged)
    statuses = [item["status"] for item in made["results"]]
    assert statuses == ["not_found", "success", "error", "error", "error", "error", "not_found", "error"]
    customer.pays(ENRICH, {"domains": ["nope.invalid"]}, "enrich", 1, [("nope.invalid", Mark.NOT_FOUND)])
    customer.pays(ENRICH, {"domains": ["", "::1"]}, "enrich", 1, [])
    assert customer.balance() == (7, 99)


def test_an_address_sent_as_a_domain_is_not_written_down(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    domains = [f"eve.moore@{FIRST}", "someone@nope.invalid", "mailto:eve.moore@stock-02.com", "a@b@c.invalid", "x@y"]
    answered(customer.post(ENRICH, {"domains": domains}))
    assert customer.post(SEARCH, {"keywords": ["eve.moore@stock-02.com"]}).status_code == 200
    for row in customer.books().rows:
        for word in ("@", "eve", "someone"):
            assert word not in str(row["domains"])
            assert word not in str(row["request_id"])


def test_the_lead_price_of_an_enrichment_does_not_ask_for_an_address(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=1)
    assert not STOCK[0].emails
    customer.pays(ENRICH, {"domains": [STOCK[0].domain]}, "enrich", 1, _charged(STOCK[0].domain))


@pytest.mark.promise("key.credits")
def test_the_credits_of_two_keys_are_the_accounts(bank: Bank) -> None:
    one = bank.customer(api=2, lead=10)
    two = bank.another(one.account_id)
    one.pays(SEARCH, {**IN_ORDER, "limit": 5}, "search", 0, marks(STOCK[:5]))
    two.pays(ENRICH, {"domains": [FIRST]}, "enrich", 1, _charged(FIRST))
    one.pays(ENRICH, {"domains": [FIRST]}, "enrich", 1, _charged(FIRST))
    assert two.balance() == (0, 5)
    assert len({row["request_id"] for row in one.books().rows}) == 4


# --- what fails is free -------------------------------------------------------------------------

REFUSED: list[tuple[int, str, dict[str, Any]]] = [
    (400, SEARCH, {"content": b"{", "headers": JSON}),
    (400, SEARCH, {"content": b"", "headers": JSON}),
    (400, SEARCH, {"json": []}),
    (400, SEARCH, {"json": {"limt": 1}}),
    (400, SEARCH, {"json": {"limit": 0}}),
    (400, SEARCH, {"json": {"limit": 101}}),
    (400, SEARCH, {"json": {"limit": "20"}}),
    (400, SEARCH, {"json": {"select": ["nope"]}}),
    (400, SEARCH, {"json": {"sort": "nope"}}),
    (400, SEARCH, {"json": {"country": "Nowhere"}}),
    (400, SEARCH, {"json": {"min_score": 9, "max_score": 1}}),
    (400, SEARCH, {"json": {"query": "x" * 1001}}),
    (400, SEARCH, {"json": {"wrapped_query": "@nope"}}),
    (400, SEARCH, {"json": {"wrapped_query": "@score(91)"}}),
    (400, SEARCH, {"json": {"keywords": [f"word{n}" for n in range(201)]}}),
    (400, f"{SEARCH}/some-cursor", {"json": {}}),
    (400, ENRICH, {"json": {}}),
    (400, ENRICH, {"json": {"domains": []}}),
    (400, ENRICH, {"json": {"domains": [FIRST] * 101}}),
    (400, ENRICH, {"json": {"domains": [FIRST, 1]}}),
    (400, ENRICH, {"json": {"domains": [FIRST], "select": ["nope"]}}),
    (404, "/v1/leads", {"json": {}}),
    (404, f"{ENRICH}/{FIRST}", {"json": {}}),
    (404, "/v2/leads/search", {"json": {}}),
    (413, SEARCH, {"content": b"{}".ljust(70_000), "headers": JSON}),
    (413, ENRICH, {"content": b"{}".ljust(70_000), "headers": JSON}),
    (415, SEARCH, {"content": b"{}", "headers": {"Content-Type": "text/plain"}}),
    (415, ENRICH, {"content": b"{}"}),
]


def _unpaid(response: httpx.Response, status: int) -> None:
    assert response.status_code == status, response.text
    assert set(response.json()) <= {"error", "message", "details"}
    assert all(int(response.headers.get(name, 0)) == 0 for name in CREDIT_HEADERS[:2])


@pytest.mark.promise("charge.enrich_failed", "charge.failure_free")
def test_what_is_refused_is_free(bank: Bank) -> None:
    customer = bank.customer(api=100, lead=1000)
    with customer.untouched():
        for status, path, request in REFUSED:
            _unpaid(customer.client.post(path, **request), status)
        for method in ("GET", "PUT", "DELETE"):
            _unpaid(customer.client.request(method, SEARCH), 405)
            _unpaid(customer.client.request(method, ENRICH), 405)
        _unpaid(customer.client.post(SEARCH, json={}, headers={"X-API-Key": "wrong"}), 401)
        narrow = bank.another(customer.account_id, scopes=["account"])
        _unpaid(narrow.post(SEARCH, {}), 403)
        _unpaid(narrow.post(ENRICH, {"domains": [FIRST]}), 403)


@pytest.mark.promise("charge.failure_free")
def test_a_wrong_page_is_free(bank: Bank) -> None:
    customer, stranger = bank.customer(lead=1000), bank.customer(lead=1000)
    path = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 10}))["next"]
    with customer.untouched(), stranger.untouched():
        refused(stranger.post(path, {}), 400, "INVALID_CURSOR")
        refused(customer.post(path[:-1], {}), 400, "INVALID_CURSOR")
        refused(customer.post(path, {"limit": 0}), 400, "INVALID_REQUEST")
        refused(customer.post(path, {"country": "DEU"}), 400, "INVALID_REQUEST")
        refused(customer.client.request("GET", path), 405, "METHOD_NOT_ALLOWED")


class Later(Clock):
    """A clock that can be put forward."""

    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


@pytest.mark.promise("charge.failure_free")
def test_an_expired_page_is_free(bank: Bank, stock_settings: Settings) -> None:
    customer, clock = bank.customer(lead=1000), Later()
    with serving(stock_settings, clock) as client:
        path = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 10}, client))["next"]
        clock.ahead_ms = 73 * 3_600_000
        with customer.untouched():
            refused(customer.post(path, {}, client), 410, "CURSOR_EXPIRED")


@pytest.fixture(scope="module")
def away(stock_settings: Settings, closed_port: int) -> Iterator[httpx.Client]:
    """The service whose index is unavailable."""
    with serving(replace(stock_settings, opensearch_urls=(f"http://127.0.0.1:{closed_port}",))) as client:
        yield client


@pytest.mark.promise("charge.enrich_failed", "charge.failure_free")
def test_without_the_index_nothing_is_charged(bank: Bank, away: httpx.Client) -> None:
    customer = bank.customer(api=100, lead=1000)
    path = answered(customer.post(SEARCH, {**IN_ORDER, "limit": 10}))["next"]
    with customer.untouched():
        for where, body in ((SEARCH, {}), (path, {}), (ENRICH, {"domains": [FIRST]}), (ENRICH, {"domains": ["a.bc"]})):
            response = customer.post(where, body, away)
            refused(response, 503, "UNAVAILABLE")
            _unpaid(response, 503)
    customer.verified()
