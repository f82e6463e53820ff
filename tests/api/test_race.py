"""64 clients race for the last 10 lead credits: exactly the affordable answers are given.

At night all six kinds of rounds run; SITEGLASS_LONG=1 runs 30.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
from typing import Any

import httpx
import pytest

from testing.api_calls import ENRICH, SEARCH
from testing.customers import COST, CREDIT_HEADERS, IN_ORDER, STOCK, Bank, Customer, async_client, too_few
from testing.outcomes import by_night

ROUNDS = 30 if os.environ.get("SITEGLASS_LONG") else 6
CLIENTS = 64
CREDITS = 10

Asked = tuple[str, dict[str, Any], int, int]
"""Path, body, API and lead credits."""


def _search(limit: int) -> Asked:
    return SEARCH, {**IN_ORDER, "limit": limit}, 0, COST[limit]


def _enrich(count: int) -> Asked:
    return ENRICH, {"domains": [lead.domain for lead in STOCK[:count]]}, 1, count


def _asked(number: int) -> list[Asked]:
    """What the clients of a round ask for: the same, or a mixture; some of it is free."""
    chance = random.Random(number)
    kinds = (
        [_search(2)],
        [_search(5)],
        [_search(1), _search(3), _search(9), _search(20)],
        [_enrich(1)],
        [_enrich(4)],
        [_search(1), _search(2), _search(6), _enrich(2), _enrich(5)],
    )[number % 6]
    return [chance.choice(kinds) for _ in range(CLIENTS)]


async def _race(base_url: str, keys: list[str], asked: list[Asked]) -> list[httpx.Response]:
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(async_client(base_url, keys[n % len(keys)])) for n in range(CLIENTS)]
        ready = await asyncio.gather(*(client.get("/healthz") for client in clients))  # connected, then off at once
        assert all(response.status_code == 200 for response in ready)
        asking = (client.post(path, json=body) for client, (path, body, _, _) in zip(clients, asked, strict=True))
        return await asyncio.gather(*asking)


@pytest.mark.promise("charge.race")
@pytest.mark.alone
@pytest.mark.parametrize("number", [1, 5, *by_night(0, *range(2, 5), *range(6, ROUNDS))])
def test_the_last_credits(bank: Bank, number: int) -> None:
    one = bank.customer(api=7, lead=CREDITS)
    keys = [one.key, *(bank.another(one.account_id).key for _ in range(number % 3))]
    asked = _asked(number)
    responses = asyncio.run(_race(bank.base_url, keys, asked))
    _settled(one, asked, responses)
    one.verified()


def _settled(one: Customer, asked: list[Asked], responses: list[httpx.Response]) -> None:
    books = one.books()
    given = [(r, a) for r, a in zip(responses, asked, strict=True) if r.status_code == 200]
    not_given = [(r, a) for r, a in zip(responses, asked, strict=True) if r.status_code != 200]
    for response, (_, _, api, lead) in given:
        assert [int(response.headers[name]) for name in CREDIT_HEADERS[:2]] == [api, lead]
        assert all(int(response.headers[name]) >= 0 for name in CREDIT_HEADERS[2:])
    # What left the balance is what the answers say, and what the ledger says.
    used_api = sum(int(response.headers["x-credits-api-used"]) for response, _ in given)
    used_lead = sum(int(response.headers["x-credits-lead-used"]) for response, _ in given)
    assert (books.api, books.lead) == (7 - used_api, CREDITS - used_lead)
    assert books.api >= 0
    assert books.lead >= 0
    assert sum(row["lead"] for row in books.rows) == books.lead
    assert sum(row["api"] for row in books.rows) == books.api
    assert sorted(row["request_id"] for row in books.rows[1:]) == sorted(r.headers["x-request-id"] for r, _ in given)
    # The balance never was below what a row left, and each answer reported what its row left.
    left_api, left_lead, told = 0, 0, {r.headers["x-request-id"]: r for r, _ in given}
    for row in books.rows:
        left_api, left_lead = left_api + row["api"], left_lead + row["lead"]
        assert left_api >= 0
        assert left_lead >= 0
        if row["kind"] == "charge":
            headers = told[row["request_id"]].headers
            assert [int(headers[name]) for name in CREDIT_HEADERS[2:]] == [left_api, left_lead]
    # Whatever was refused could not be paid, then or now.
    for response, (_, _, api, lead) in not_given:
        assert response.status_code == 402, response.text
        numbers = [int(word) for word in response.text.replace(";", " ").split() if word.isdigit()]
        assert len(numbers) == 4
        too_few(response, (api, lead), (numbers[2], numbers[3]))
        assert api > numbers[2] or lead > numbers[3]
        assert api > books.api or lead > books.lead
    if len({(api, lead) for _, _, api, lead in asked}) == 1:
        _, _, api, lead = asked[0]
        assert len(given) == min(CREDITS // lead, 7 // api if api else CREDITS)
