"""What is retried, when, and that it is paid once: decisions without a network, then lines that are cut."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import AsyncSiteglass, ConnectionFailed, ServiceError, Siteglass, SiteglassError
from siteglass_client.errors import BY_CODE
from siteglass_client.retrying import RetryPolicy, Tries, is_retried, read_retry_after
from siteglass_client.search import Search
from siteglass_client.walk import SearchWalk
from testing.customers import Bank, Customer
from testing.cutting_proxy import KINDS, CuttingProxy

STATUS = {
    "TOO_MANY_REQUESTS": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "IDEMPOTENCY_IN_PROGRESS": 409,
    "INSUFFICIENT_CREDITS": 402,
}


def _error(code: str, retry_after_s: float | None = None) -> ServiceError:
    return BY_CODE[code](STATUS.get(code, 400), code, "-", retry_after_s=retry_after_s)


def _waits(error: SiteglassError, policy: RetryPolicy, chance: float = 1.0, *, answered: bool = True) -> list[float]:
    """The waits of a call that fails so every time, each attempt taking no time."""
    tries, now_s, waits = Tries(policy, 0.0, answered_before=answered, chance=lambda: chance), 0.0, []
    while (wait_s := tries.wait_s(error, now_s)) is not None:
        waits.append(wait_s)
        now_s += wait_s
    return waits


def test_only_what_may_succeed_later_is_tried_again() -> None:
    again = {code for code in BY_CODE if is_retried(_error(code))}
    assert again == {"TOO_MANY_REQUESTS", "INTERNAL", "UNAVAILABLE", "IDEMPOTENCY_IN_PROGRESS"}
    assert is_retried(ConnectionFailed("cut"))
    assert is_retried(ServiceError(502, "HTTP_502", "-"))


def test_waits_double_with_full_jitter_up_to_a_bound() -> None:
    policy = RetryPolicy(max_attempts=8, deadline_s=1_000, first_wait_s=0.25, max_wait_s=10)
    assert _waits(ConnectionFailed("cut"), policy) == [0.25, 0.5, 1, 2, 4, 8, 10]
    assert _waits(ConnectionFailed("cut"), policy, chance=0.5) == [0.125, 0.25, 0.5, 1, 2, 4, 5]
    assert _waits(ConnectionFailed("cut"), policy, chance=0.0) == [0.0] * 7


def test_retry_after_is_obeyed_and_the_deadline_kept() -> None:
    policy = RetryPolicy(max_attempts=10, deadline_s=7, first_wait_s=0.25)
    assert _waits(_error("UNAVAILABLE", 2), policy, chance=0.0) == [2, 2, 2]
    assert all(wait_s >= 2 for wait_s in _waits(_error("UNAVAILABLE", 2), policy, chance=0.7))
    assert _waits(_error("TOO_MANY_REQUESTS", 30), policy) == []
    assert _waits(_error("INSUFFICIENT_CREDITS"), policy) == []


def test_a_service_that_never_answered_is_given_up_sooner() -> None:
    assert len(_waits(ConnectionFailed("refused"), RetryPolicy(), answered=False)) == 2
    assert len(_waits(ConnectionFailed("refused"), RetryPolicy())) == 9


def test_both_forms_of_retry_after() -> None:
    assert read_retry_after("3", 0) == 3
    assert read_retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 50) == 10
    assert read_retry_after("Thu, 01 Jan 1970 00:00:01 GMT", 50) == 0
    assert read_retry_after("soon", 0) is None
    assert read_retry_after(None, 0) is None


@pytest.mark.parametrize(
    ("failures", "unsure"),
    [
        ([ConnectionFailed("cut")], True),
        ([ServiceError(502, "HTTP_502", "-")], True),
        ([ServiceError(504, "INTERNAL", "-")], True),
        ([ServiceError(500, "HTTP_500", "-")], True),
        ([_error("UNAVAILABLE")], True),
        ([_error("INTERNAL")], False),
        ([_error("TOO_MANY_REQUESTS")], False),
        ([ConnectionFailed("cut"), _error("IDEMPOTENCY_IN_PROGRESS")], True),
        ([ServiceError(504, "HTTP_504", "-"), _error("INTERNAL")], True),
        ([ServiceError(504, "HTTP_504", "-"), _error("INSUFFICIENT_CREDITS")], False),
        ([ConnectionFailed("cut"), _error("IDEMPOTENCY_PRICE_CHANGED")], False),
    ],
)
def test_whether_a_call_that_failed_may_have_been_charged(failures: list[SiteglassError], unsure: bool) -> None:
    tries = Tries(RetryPolicy(), 0.0, answered_before=True)
    for error in failures:
        tries.wait_s(error, 0.0)
    outcome = tries.outcome(failures[-1])
    assert tries.unsure == unsure
    assert isinstance(outcome, ConnectionFailed) or (
        isinstance(outcome, ServiceError) and outcome.may_be_charged == unsure
    )


def test_a_free_page_that_was_lost_and_has_a_price_now_is_a_new_request_within_the_budget() -> None:
    walk = SearchWalk({"country": "DEU"}, limit=10, max_leads=None, max_lead_credits=25)
    lost = walk.next_call()
    assert lost is not None
    again = walk.refused(lost, _error("IDEMPOTENCY_PRICE_CHANGED"))
    assert again is not None
    assert again.body == lost.body == {"country": "DEU", "limit": 10, "max_lead_credits": 25}
    assert again.idempotency_key != lost.idempotency_key


def test_a_slow_answer_ends_at_the_timeout_of_an_attempt() -> None:
    class Trickle(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                time.sleep(0.02)
                yield b" "

    transport = httpx.MockTransport(lambda _request: httpx.Response(200, stream=Trickle()))
    with (
        Siteglass("sg_live_x", "http://test", timeout_s=0.1, max_attempts=1, transport=transport) as client,
        pytest.raises(ConnectionFailed, match="not complete"),
    ):
        client.account()


def _cuts(first: int, every: int, count: int) -> dict[int, str]:
    """Each kind of cut in turn, and now and then the attempt after a cut as well."""
    cuts = {first + number * every: KINDS[number % 3] for number in range(count)}
    return {**cuts, first + 1: "after", first + every + 1: "before"}


def test_a_walk_over_a_line_that_breaks(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    cuts = _cuts(2, 5, 12)
    port = httpx.URL(bank.base_url).port
    assert port is not None
    with CuttingProxy(port, cuts) as proxy, Siteglass(customer.key, proxy.url) as client:
        search = client.search(sort="domain", limit=10)
        shown = [lead.domain for lead in search]
    assert len(proxy.cut) == len(cuts)
    assert shown == [lead.domain for lead in sold]
    price = sum(bool(lead.emails) for lead in sold)
    assert search.credits_used == price == 10_000 - customer.balance()[1]


def test_the_asynchronous_walk_over_such_a_line(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    cuts = _cuts(2, 4, 6)
    port = httpx.URL(bank.base_url).port
    assert port is not None

    async def walk(url: str) -> tuple[list[str], int]:
        async with AsyncSiteglass(customer.key, url) as client:
            search = client.search(sort="domain", limit=20)
            return [lead.domain async for lead in search], search.credits_used

    with CuttingProxy(port, cuts) as proxy:
        shown, credits = asyncio.run(walk(proxy.url))
    assert len(proxy.cut) == len(cuts)
    assert shown == [lead.domain for lead in sold]
    assert credits == 10_000 - customer.balance()[1]


def test_enrichment_over_such_a_line(bank: Bank, customer: Customer, sold: list[Lead]) -> None:
    port = httpx.URL(bank.base_url).port
    assert port is not None
    domains = [lead.domain for lead in sold[:250]]
    cuts = {1: "after", 2: "inside", 4: "before", 6: "after"}
    with CuttingProxy(port, cuts) as proxy, Siteglass(customer.key, proxy.url, max_attempts=10) as client:
        enrichment = client.enrich(domains, select=["domain"])
        assert [item.domain for item in enrichment] == domains
    assert len(proxy.cut) == 4
    assert (enrichment.api_credits_used, enrichment.credits_used) == (3, 250)
    assert customer.balance() == (1_000 - 3, 10_000 - 250)


class Proxy(httpx.BaseTransport):
    """A way to the service on which answers with these numbers, counted from 1, are lost and replaced by a 504."""

    def __init__(self, *lost: int) -> None:
        self._real = httpx.HTTPTransport()
        self._lost = lost
        self.answers = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._real.handle_request(request)
        self.answers += 1
        if self.answers not in self._lost:
            return response
        response.read()
        return httpx.Response(504, content=b"<html>")

    def close(self) -> None:
        self._real.close()


def test_a_budget_counts_pages_that_were_lost_behind_a_proxy_once(
    bank: Bank, customer: Customer, tmp_path: Path
) -> None:
    def search_over(*lost: int) -> Search:
        client = stack.enter_context(Siteglass(customer.key, bank.base_url, max_attempts=2, transport=Proxy(*lost)))
        return client.search(sort="domain", limit=10, max_lead_credits=25, resume=tmp_path / "resume")

    with ExitStack() as stack:
        with pytest.raises(ServiceError, match="504"):
            list(search_over(1, 3, 4))  # the first page is had by the second attempt, the next one not in this run
        search = search_over(1, 3)
        list(search)
    assert search.stopped == "max_lead_credits"
    assert search.credits_used == 25 == 10_000 - customer.balance()[1]


def test_a_budget_counts_batches_that_were_lost_behind_a_proxy_once(
    bank: Bank, customer: Customer, sold: list[Lead]
) -> None:
    domains = [lead.domain for lead in sold[:150]]
    with Siteglass(customer.key, bank.base_url, transport=Proxy(1, 3)) as client:
        enrichment = client.enrich(domains, select=["domain"], max_lead_credits=120)
        assert len(list(enrichment)) == 120
    assert (enrichment.credits_used, 10_000 - customer.balance()[1]) == (120, 120)
    assert enrichment.api_credits_used == 1_000 - customer.balance()[0]
