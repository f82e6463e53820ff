"""The rate limit of account and key: how much passes, what is said about it, what an enrichment and a reading cost.

Plans whose rate is next to nothing make the counts exact; the standard plan's own figures depend on time.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from siteglass.access.key_form import make_key
from siteglass.access.keys import KeyLimits
from siteglass.access.limits import Policy
from siteglass.settings import Settings
from siteglass.web import guard
from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, READING, SEARCH, VALUES, answered, refused
from testing.customers import COST, IN_ORDER, STOCK, Bank, Customer, marks, nothing_shown
from testing.ports import free_port
from testing.service import serving

FREE = {**IN_ORDER, "limit": 1}
NEVER = 0.001
"""So few a second that nothing comes back while a test runs."""


@pytest.fixture(scope="module")
def limited(stock_settings: Settings) -> Iterator[httpx.Client]:
    """A service that shares its limits with no other."""
    with serving(replace(stock_settings, redis_prefix=f"{stock_settings.redis_prefix}-{secrets.token_hex(4)}")) as it:
        yield it


def _left(response: httpx.Response, name: str) -> int:
    """Units that an account or a key has left."""
    found = re.search(rf'"{name}";r=(\d+)', response.headers["ratelimit"])
    assert found is not None, response.headers
    return int(found[1])


def _too_many(response: httpx.Response) -> int:
    """429 with all that belongs to it; the seconds of Retry-After."""
    refused(response, 429, "TOO_MANY_REQUESTS")
    assert list(response.json()) == ["error", "message"]
    assert response.headers["ratelimit"]
    assert response.headers["ratelimit-policy"]
    nothing_shown(response)
    assert re.fullmatch(r"[1-9]\d*", response.headers["retry-after"])
    assert response.json()["message"] == (
        f"Too many requests. Try again in {response.headers['retry-after']} s. "
        "The limits are in the RateLimit-Policy header."
    )
    return int(response.headers["retry-after"])


def _domains(count: int) -> dict[str, list[str]]:
    return {"domains": [f"nobody-{number}.invalid" for number in range(count)]}


@pytest.mark.promise(
    "error.TOO_MANY_REQUESTS",
    "order.two_keys",
    "rate.status",
    "rate.headers",
    cases={"search": "rate.search", "page": "rate.page"},
)
@pytest.mark.parametrize("operation", ["search", "page", "enrich"])
def test_exactly_the_burst_passes(bank: Bank, limited: httpx.Client, operation: str) -> None:
    customer = bank.customer(api=100, lead=100, plan=bank.plan(NEVER, 6))
    path, body = {"search": (SEARCH, FREE), "enrich": (ENRICH, _domains(1)), "page": (SEARCH, {})}[operation]
    spent = 0
    if operation == "page":
        path = answered(customer.post(SEARCH, FREE, limited))["next"]
        spent = 1
    for taken in range(spent + 1, 7):
        response = customer.post(path, body, limited)
        answered(response)
        assert (_left(response, "account"), _left(response, "key")) == (6 - taken, 6 - taken)
        assert "retry-after" not in response.headers
    for _ in range(3):
        with customer.untouched():
            response = customer.post(path, body, limited)
        assert 900 <= _too_many(response) <= 1000
        assert _left(response, "account") == 0


@pytest.mark.promise("rate.account", cases={"/v1/values/city": "rate.values"})
@pytest.mark.parametrize("path", [*READING, f"{VALUES}/city"])
def test_reading_costs_one(bank: Bank, limited: httpx.Client, path: str) -> None:
    customer = bank.customer(lead=100, plan=bank.plan(NEVER, 5))
    key = {"X-API-Key": customer.key}
    for taken, query in enumerate(("", "?nope=1", "", "?limit=1"), 1):
        response = limited.get(path + query, headers=key)
        assert response.status_code in (200, 400, 404)
        assert (_left(response, "account"), _left(response, "key")) == (5 - taken, 5 - taken)
    answered(customer.post(SEARCH, FREE, limited))
    _too_many(limited.get(path, headers=key))


@pytest.mark.promise("rate.headers", "rate.standard")
def test_the_policy_is_told(bank: Bank, limited: httpx.Client) -> None:
    customer = bank.customer(lead=100, plan="standard")
    response = customer.post(SEARCH, FREE, limited)
    answered(response)
    policies = response.headers["ratelimit-policy"]
    assert re.search(r'"account";q=20;w=2\b', policies)
    assert re.search(r'"key";q=20;w=2\b', policies)
    narrow = bank.another(customer.account_id, limits=KeyLimits(rate_per_s=1, burst=3))
    response = narrow.post(SEARCH, FREE, limited)
    assert '"account";q=20;w=2' in response.headers["ratelimit-policy"]
    assert '"key";q=3;w=3' in response.headers["ratelimit-policy"]


@pytest.mark.promise("rate.demo")
def test_the_policy_of_the_demo_plan(bank: Bank, limited: httpx.Client) -> None:
    response = bank.customer(plan="demo").post(SEARCH, FREE, limited)
    answered(response)
    assert response.headers["ratelimit-policy"] == '"account";q=2000;w=2, "key";q=2000;w=2'


@pytest.mark.promise("rate.without_redis")
@pytest.mark.parametrize(("workers", "share"), [(1, 6), (2, 3), (3, 2)])
def test_without_redis_a_worker_gives_its_share(bank: Bank, stock_settings: Settings, workers: int, share: int) -> None:
    customer = bank.customer(plan=bank.plan(NEVER, 6))
    away = replace(stock_settings, redis_url=f"redis://127.0.0.1:{free_port()}/0", workers=workers)
    with serving(away) as client:
        for _ in range(share):
            answered(customer.post(SEARCH, FREE, client))
        _too_many(customer.post(SEARCH, FREE, client))


@pytest.mark.promise("rate.account_and_key")
def test_keys_share_the_rate_of_their_account(bank: Bank, limited: httpx.Client) -> None:
    one = bank.customer(lead=100, plan=bank.plan(NEVER, 5))
    two = bank.another(one.account_id)
    stranger = bank.customer(lead=100, plan=bank.plan(NEVER, 5))
    for key in (one, two, one, two, two):
        answered(key.post(SEARCH, FREE, limited))
    for key in (one, two):
        response = key.post(SEARCH, FREE, limited)
        _too_many(response)
        assert _left(response, "account") == 0
        assert _left(response, "key") > 0
    answered(stranger.post(SEARCH, FREE, limited))


@pytest.mark.promise("rate.account_and_key")
def test_a_rate_of_the_key_alone(bank: Bank, limited: httpx.Client) -> None:
    narrow = bank.customer(lead=100, limits=KeyLimits(rate_per_s=NEVER, burst=2))
    wide = bank.another(narrow.account_id)
    for _ in range(2):
        answered(narrow.post(SEARCH, FREE, limited))
    _too_many(narrow.post(SEARCH, FREE, limited))
    for _ in range(5):
        answered(wide.post(SEARCH, FREE, limited))


@pytest.mark.promise("limit.domains_per_unit", "rate.enrich")
@pytest.mark.parametrize(("count", "cost"), [(1, 1), (24, 1), (25, 1), (26, 2), (50, 2), (51, 3), (76, 4), (100, 4)])
def test_an_enrichment_costs_one_for_25_domains_begun(bank: Bank, limited: httpx.Client, count: int, cost: int) -> None:
    customer = bank.customer(api=100, plan=bank.plan(NEVER, 20))
    response = customer.post(ENRICH, _domains(count), limited)
    answered(response)
    assert _left(response, "account") == _left(response, "key") == 20 - cost
    repeated = customer.post(ENRICH, {"domains": ["nope.invalid"] * count}, limited)
    assert _left(repeated, "account") == 20 - 2 * cost


@pytest.mark.promise("rate.interpret")
def test_a_reading_costs_three(bank: Bank, limited: httpx.Client) -> None:
    customer = bank.customer(plan=bank.plan(NEVER, 20))
    for taken, body in ((3, {}), (6, {"query": "sites in Germany"}), (9, {"wrapped_query": "@country(DEU)"})):
        response = customer.post(INTERPRET, body, limited)
        answered(response)
        assert _left(response, "account") == _left(response, "key") == 20 - taken
    for taken, wrong in (
        (10, {"limt": 1}),
        (11, {"wrapped_query": "@nope"}),
        (12, {"query": "germny", "strict": True}),
    ):
        assert _left(customer.post(INTERPRET, wrong, limited), "account") == 20 - taken
    for _ in range(2):
        answered(customer.post(INTERPRET, {}, limited))
    _too_many(customer.post(INTERPRET, {}, limited))


@pytest.mark.promise("rate.query")
def test_a_long_query_costs_one_more_for_each_further_200_characters(bank: Bank, limited: httpx.Client) -> None:
    customer = bank.customer(lead=100, plan=bank.plan(NEVER, 40))
    left = 40
    for path, chars, units in (
        *((SEARCH, 200, 1), (SEARCH, 201, 2), (SEARCH, 1_000, 5)),
        *((INTERPRET, 400, 4), (INTERPRET, 401, 5), (FACETS, 1_000, 7), (DIAGNOSE, 201, 4)),
    ):
        body = {"query": "sites in Germany".ljust(chars - 1) + ".", **({"dry_run": True} if path == SEARCH else {})}
        left -= units
        assert _left(customer.post(path, body, limited), "account") == left, (path, chars)
    # Taken before it is read: what is wrong with a long one is no cheaper, and what is not read costs nothing more.
    dear = {"query": "1 or " * 200}
    response = customer.post(SEARCH, dear, limited)
    refused(response, 400, "INVALID_QUERY")
    assert "send filters" in response.json()["message"]
    assert _left(response, "account") == left - 5
    assert _left(customer.post(SEARCH, {"query": "x" * 1_001}, limited), "account") == left - 6


@pytest.mark.promise(cases={FACETS: "rate.facets", DIAGNOSE: "rate.diagnose"})
@pytest.mark.parametrize("path", [FACETS, DIAGNOSE])
def test_counting_costs_three(bank: Bank, limited: httpx.Client, path: str) -> None:
    customer = bank.customer(plan=bank.plan(NEVER, 7))
    assert _left(customer.post(path, {"country": "DEU"}, limited), "account") == 4
    assert _left(customer.post(path, {"limt": 1}, limited), "account") == 3
    answered(customer.post(path, {}, limited))
    _too_many(customer.post(path, {}, limited))


@pytest.mark.promise("rate.first_unit")
def test_the_rest_is_taken_only_after_the_fields_are_read(bank: Bank, limited: httpx.Client) -> None:
    customer = bank.customer(api=100, plan=bank.plan(NEVER, 20))
    wrong = [{**_domains(100), "selct": []}, {"domains": ["a.com"] * 101}, {"domains": ["a.com"] * 99 + [1]}]
    for taken, body in enumerate(wrong, start=1):
        refused(customer.post(ENRICH, body, limited), 400, "INVALID_REQUEST")
        left = _left(customer.post(SEARCH, {"limt": 1}, limited), "account")
        assert left == 20 - 2 * taken


@pytest.mark.promise("rate.first_unit")
def test_the_rest_may_be_refused_too(bank: Bank, limited: httpx.Client) -> None:
    customer = bank.customer(api=100, lead=100, plan=bank.plan(NEVER, 5))
    for _ in range(2):
        answered(customer.post(SEARCH, FREE, limited))
    with customer.untouched():
        _too_many(customer.post(ENRICH, {"domains": [lead.domain for lead in STOCK] + ["x.invalid"] * 40}, limited))
    answered(customer.post(ENRICH, _domains(25), limited))


def test_unknown_keys_are_limited_by_address_and_known_ones_are_not(
    bank: Bank, limited: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer, newcomer = bank.customer(lead=100), bank.customer(lead=100)
    monkeypatch.setattr(guard, "STRANGERS", Policy(NEVER, 3))
    # Callers of other tests have another address.
    transport = httpx.HTTPTransport(local_address="127.0.0.9")
    with httpx.Client(base_url=limited.base_url, transport=transport, timeout=60) as here:
        answered(customer.post(SEARCH, FREE, here))
        answers = [here.post(SEARCH, json={}, headers={"X-API-Key": make_key()}) for _ in range(4)]
        assert [one.status_code for one in answers] == [401, 401, 429, 429]
        assert {one.json()["error"] for one in answers[2:]} == {"TOO_MANY_REQUESTS"}
        assert answers[-1].headers["ratelimit-policy"] == '"caller";q=3;w=3000'
        assert here.post(SEARCH, json={}, headers={"X-API-Key": "not a key"}).status_code == 401
        answered(customer.post(SEARCH, FREE, here))
        assert newcomer.post(SEARCH, FREE, here).status_code == 429


@pytest.mark.promise("rate.free")
def test_a_refused_request_costs_no_credits_and_takes_no_rate(bank: Bank, limited: httpx.Client) -> None:
    customer = bank.customer(api=10, lead=100, plan=bank.plan(2, 1))
    body = {**IN_ORDER, "limit": 10}
    customer.pays(SEARCH, body, "search", 0, marks(STOCK[:10]), limited)
    with customer.untouched():
        for path, asked in ((SEARCH, body), (ENRICH, _domains(1)), (f"{SEARCH}/some-cursor", {})):
            _too_many(customer.post(path, asked, limited))
    assert customer.balance() == (10, 100 - COST[10])


def _spend(customer: Customer, at: httpx.Client, most: int = 200) -> tuple[int, float, httpx.Response]:
    """Searches without pause until one is refused: how many passed, in which time, and the refusal."""
    started = time.monotonic()
    for passed in range(most):
        response = customer.post(SEARCH, FREE, at)
        if response.status_code != 200:
            return passed, time.monotonic() - started, response
    raise AssertionError("nothing was refused")


@pytest.mark.promise("rate.standard")
@pytest.mark.alone
def test_the_standard_plan(bank: Bank, limited: httpx.Client) -> None:
    """20 at once, then 10 a second; after Retry-After it works again."""
    customer = bank.customer(plan="standard")
    passed, seconds, response = _spend(customer, limited)
    assert 20 <= passed <= 21 + 10 * seconds
    assert _too_many(response) == 1
    time.sleep(1)
    again, seconds, response = _spend(customer, limited)
    assert 10 <= again <= 12 + 10 * seconds
    time.sleep(_too_many(response))
    answered(customer.post(SEARCH, FREE, limited))


@pytest.mark.promise("rate.status")
@pytest.mark.alone
@pytest.mark.parametrize("rate", [0.5, 3])
def test_waiting_retry_after_works(bank: Bank, limited: httpx.Client, rate: float) -> None:
    customer = bank.customer(plan=bank.plan(rate, 2))
    _, _, response = _spend(customer, limited)
    seconds = _too_many(response)
    assert seconds <= 1 / rate + 1
    time.sleep(seconds)
    answered(customer.post(SEARCH, FREE, limited))


@pytest.mark.alone
def test_waiting_retry_after_works_for_a_large_enrichment(bank: Bank, limited: httpx.Client) -> None:
    """A caller that waits for Retry-After each time gets through."""
    customer = bank.customer(api=10, plan=bank.plan(1, 4))
    answered(customer.post(SEARCH, FREE, limited))
    response = customer.post(ENRICH, _domains(100), limited)
    time.sleep(_too_many(response))
    answered(customer.post(ENRICH, _domains(100), limited))


@pytest.mark.parametrize("burst", [1, 2, 3, 4])
def test_an_enrichment_above_the_burst_takes_a_full_bucket(bank: Bank, limited: httpx.Client, burst: int) -> None:
    """It waits for all there can be, rather than being refused for ever."""
    customer = bank.customer(api=10, plan=bank.plan(NEVER, burst))
    response = customer.post(ENRICH, _domains(100), limited)
    answered(response)
    assert _left(response, "account") == 0
