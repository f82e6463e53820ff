"""A key is rotated again and again while it is in use: no false 401, and no credit made or lost.

SITEGLASS_LONG=1 rotates 100 times, instead of 20.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
import pytest

from testing.api_calls import ENRICH, SEARCH
from testing.customers import IN_ORDER, Bank, Customer, async_client

ROTATIONS = 100 if os.environ.get("SITEGLASS_LONG") else 20
CLIENTS = 4
EVERY_S = 0.3
OVERLAP_S = 1.2
# A request is refused if it comes in while the key works and is charged when it no longer does. So the last requests
# are sent this long before the end.
REQUEST_S = 0.4
LONGEST_S = 1.0
GRANTED = 10**6
ASKED = [
    (SEARCH, {**IN_ORDER, "limit": 1}),
    (SEARCH, {**IN_ORDER, "limit": 3}),
    (ENRICH, {"domains": ["stock-01.com", "stock-03.com", "nope.invalid"]}),
]


@dataclass
class Standing:
    """A key of the chain; `ends` is the earliest moment at which it may end, `ended` the latest."""

    customer: Customer
    ends: float = float("inf")
    ended: float = float("inf")


@dataclass(frozen=True)
class Seen:
    """One request: with which key of the chain, when, what it got and what it cost."""

    place: int
    sent: float
    received: float
    status: int
    api: int
    lead: int


@dataclass
class Load:
    """Clients that send requests without pause; each changes to a new key at a random moment within the overlap."""

    chain: list[Standing]
    stop: float = float("inf")
    seen: list[Seen] = field(default_factory=list)

    async def ask(self, client: httpx.AsyncClient, seed: int) -> None:
        chance = random.Random(seed)
        place, leave = 0, float("inf")
        while (now := time.monotonic()) < self.stop:
            if leave == float("inf") and self.chain[place].ends < float("inf"):
                leave = chance.uniform(now, self.chain[place].ends - REQUEST_S)
            if now >= leave:
                place, leave = len(self.chain) - 1, float("inf")
                continue
            await self._send(client, chance, place)

    async def ask_with_the_old(self, client: httpx.AsyncClient) -> None:
        """A client that does not know of the rotations: it uses each key once more when it must have ended."""
        place = 0
        while time.monotonic() < self.stop:
            if time.monotonic() > self.chain[place].ended + LONGEST_S:
                await self._send(client, random.Random(place), place)
                place += 1
            else:
                await asyncio.sleep(0.02)

    async def _send(self, client: httpx.AsyncClient, chance: random.Random, place: int) -> None:
        path, body = chance.choice(ASKED)
        sent = time.monotonic()
        response = await client.post(path, json=body, headers={"X-API-Key": self.chain[place].customer.key})
        api, lead = (int(response.headers.get(f"X-Credits-{kind}-Used", 0)) for kind in ("Api", "Lead"))
        self.seen.append(Seen(place, sent, time.monotonic(), response.status_code, api, lead))


async def _run(bank: Bank, first: Customer) -> Load:
    """Rotate the newest key again and again, under load."""
    load = Load([Standing(first)])
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(async_client(bank.base_url)) for _ in range(CLIENTS + 1)]
        asking = [asyncio.create_task(load.ask(client, seed)) for seed, client in enumerate(clients[1:])]
        asking.append(asyncio.create_task(load.ask_with_the_old(clients[0])))
        for _ in range(ROTATIONS):
            await asyncio.sleep(EVERY_S)
            old = load.chain[-1]
            before = time.monotonic()
            new = await asyncio.to_thread(bank.rotate, old.customer, timedelta(seconds=OVERLAP_S))
            load.chain.append(Standing(new))
            old.ends, old.ended = before + OVERLAP_S, time.monotonic() + OVERLAP_S
        load.stop = load.chain[-2].ended + LONGEST_S + 1
        await asyncio.gather(*asking)
    return load


@pytest.mark.promise("key.rotation")
@pytest.mark.alone
def test_no_false_401_and_credits_unchanged_to_the_unit(bank: Bank) -> None:
    first = bank.customer(api=GRANTED, lead=GRANTED)
    load = asyncio.run(_run(bank, first))
    chain = load.chain
    within, later = Counter[int](), Counter[int]()
    used = Counter[int]()
    for request in load.seen:
        standing = chain[request.place]
        if request.received <= standing.ends:
            within[request.status] += 1
            used[request.place] += 1
        elif request.sent >= standing.ended + LONGEST_S:
            later[request.status] += 1
    assert set(within) == {200}, within
    assert later == {401: ROTATIONS}, later
    # Both keys of many a pair were in use at once, or nothing was proven.
    assert len(used) > ROTATIONS / 3
    overlaps = sum(
        any(seen.place == place and seen.sent > chain[place].ended - OVERLAP_S for seen in load.seen)
        for place in range(ROTATIONS)
    )
    assert overlaps > ROTATIONS / 3
    books = first.books()
    charged_api = sum(request.api for request in load.seen)
    charged_lead = sum(request.lead for request in load.seen)
    assert charged_lead > 0
    assert (books.api + charged_api, books.lead + charged_lead) == (GRANTED, GRANTED)
    charges = [row for row in books.rows if row["kind"] == "charge"]
    assert -sum(row["lead"] for row in charges) == charged_lead
    assert len(charges) == sum(request.status == 200 for request in load.seen)
    first.verified()
