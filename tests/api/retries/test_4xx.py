"""Idempotency-Key: invalid keys, a key of another request, one that still runs, and an answer too large to keep."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from siteglass.billing import answers
from siteglass.errors import PayloadTooLarge
from testing.api_calls import ENRICH, SEARCH, answered, refused
from testing.claiming import claimed
from testing.customers import COST, IN_ORDER, Bank, async_client
from tests.api.retries.test_200 import OPERATIONS, replayed, request_of

TWINS = 64


@pytest.mark.promise("retry.form")
@pytest.mark.parametrize("key", ["", '""', "a b", '"', 'a"b', "x" * 256, "ä".encode().decode("latin-1"), '"a'])
def test_no_key(bank: Bank, key: str) -> None:
    customer = bank.customer(lead=100)
    with customer.untouched():
        headers = {b"Idempotency-Key": key.encode("latin-1")}
        response = customer.client.post(SEARCH, json=IN_ORDER, headers=headers)
    (problem,) = refused(response, 400, "INVALID_REQUEST")
    assert problem == {
        "field": "Idempotency-Key",
        "message": "expected 1 to 255 visible ASCII characters, such as a UUID, bare or in double quotes",
    }


def test_a_body_too_deep_to_be_compared(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    deep = "[" * 300 + "]" * 300
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    with customer.untouched():
        response = customer.client.post(SEARCH, content=f'{{"technologies": {deep}}}', headers=headers)
    (problem,) = refused(response, 400, "INVALID_REQUEST")
    assert problem["field"] == "body"


@pytest.mark.promise("error.IDEMPOTENCY_MISMATCH", "retry.mismatch")
@OPERATIONS
def test_422_another_body(bank: Bank, operation: str) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    first = customer.post(path, body, retry="k")
    answered(first)
    others: list[tuple[str, dict[str, Any]]] = [
        (path, {**body, "limit": 2} if operation != "enrich" else {"domains": ["stock-01.com"]}),
        (path, {**body, "max_lead_credits": 50}),
        (path, {**body, "dry_run": True}),
        (ENRICH if path == SEARCH else SEARCH, body),
    ]
    with customer.untouched():
        for other in others:
            refused(customer.post(*other, retry="k"), 422, "IDEMPOTENCY_MISMATCH")
        replayed(first, customer.post(path, body, retry="k"))


@pytest.mark.promise("error.IDEMPOTENCY_IN_PROGRESS", "retry.running")
@OPERATIONS
def test_409_while_the_first_runs(bank: Bank, operation: str) -> None:
    customer = bank.customer(api=10, lead=100)
    path, body = request_of(customer, operation)
    with claimed(customer, "k"), customer.untouched():
        response = customer.post(path, body, retry="k")
        refused(response, 409, "IDEMPOTENCY_IN_PROGRESS")
        assert response.headers["retry-after"] == "1"
    answered(customer.post(path, body, retry="k"))


def test_a_claim_that_was_left_behind_does_not_hide_the_answer(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    first = customer.post(SEARCH, IN_ORDER, retry="k")
    with claimed(customer, "k"), customer.untouched():
        replayed(first, customer.post(SEARCH, IN_ORDER, retry="k"))


def test_a_refused_request_leaves_no_claim(bank: Bank) -> None:
    customer = bank.customer(lead=1)
    for _ in range(2):
        refused(customer.post(SEARCH, {"limit": 0}, retry="k"), 400, "INVALID_REQUEST")
        refused(customer.post(SEARCH, IN_ORDER, retry="k"), 402, "INSUFFICIENT_CREDITS")


@pytest.mark.promise("retry.once")
@pytest.mark.race
def test_64_twins_run_once(bank: Bank) -> None:
    customer = bank.customer(lead=10_000)

    async def race(key: str) -> list[tuple[int, bytes]]:
        async with async_client(bank.base_url, customer.key) as client:
            asked = [client.post(SEARCH, json=IN_ORDER, headers={"Idempotency-Key": key}) for _ in range(TWINS)]
            return [(answer.status_code, answer.content) for answer in await asyncio.gather(*asked)]

    for number in range(3):
        told = asyncio.run(race(f"twins {number}".replace(" ", "-")))
        assert {status for status, _ in told} <= {200, 409}
        assert len({content for status, content in told if status == 200}) == 1
    assert customer.balance() == (0, 10_000 - 3 * COST[20])
    assert len(customer.books().rows) == 1 + 3
    customer.verified()


@pytest.mark.promise("retry.too_large")
def test_413_an_answer_too_large_to_keep(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MAX_STORED_BYTES", 1_000)
    customer = bank.customer(lead=100)
    with customer.untouched():
        response = customer.post(SEARCH, {**IN_ORDER, "limit": 60}, retry="k")
    refused(response, 413, "PAYLOAD_TOO_LARGE")
    assert response.json()["message"] == (
        "The response is too large to store for a retry: more than 1000 bytes compressed. Nothing was charged. "
        "Request less at once (`limit`, `select`, fewer domains), or omit Idempotency-Key."
    )
    answered(customer.post(SEARCH, {**IN_ORDER, "limit": 1}, retry="k"))


@pytest.mark.promise("retry.too_large")
def test_the_limit_of_what_is_kept() -> None:
    noise = random.Random(1)
    assert answers.compress(noise.randbytes(200_000))
    assert answers.compress(b"x" * 10_000_000)
    with pytest.raises(PayloadTooLarge, match="more than 262144 bytes"):
        answers.compress(noise.randbytes(262_144))
