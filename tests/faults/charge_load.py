"""A steady load of charges, each under its own Idempotency-Key and repeated until it is answered."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx

from testing.steady_load import SteadyLoad

ENRICH = "/v1/leads/enrich"
RETRY_S = 0.3
GIVE_UP_S = 120.0


@dataclass
class Charge:
    """What became of one key."""

    key: str
    started: float
    attempts: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    charged_by: str | None = None
    """The request ID of the charge, once there was an answer."""


class ChargeLoad(SteadyLoad):
    """Enrichments of domains that do not exist."""

    def __init__(self, url: str, api_key: str, rate: float) -> None:
        super().__init__(url, api_key, rate)
        self.charges: list[Charge] = []

    async def send(self, client: httpx.AsyncClient) -> None:
        charge = Charge(f"charge-{len(self.charges)}", time.monotonic())
        self.charges.append(charge)
        await _pay(client, charge)

    def since(self, moment: float) -> list[Charge]:
        """Those that were first sent after a moment of the monotonic clock."""
        return [charge for charge in self.charges if charge.started >= moment]

    def run_for(self, seconds: float) -> None:
        """Let it go on until charges that are sent now are answered, too."""
        end = time.monotonic() + seconds
        time.sleep(seconds)
        deadline = time.monotonic() + GIVE_UP_S
        while not all(charge.charged_by for charge in self.charges if charge.started < end):
            assert time.monotonic() < deadline, "charges are not answered"
            time.sleep(0.05)


async def _pay(client: httpx.AsyncClient, charge: Charge) -> None:
    body = {"domains": [f"{charge.key}.example"]}
    while time.monotonic() < charge.started + GIVE_UP_S:
        charge.attempts += 1
        began = time.monotonic()
        try:
            answer = await client.post(ENRICH, json=body, headers={"Idempotency-Key": charge.key})
            status = str(answer.status_code)
        except httpx.TransportError as error:
            status = type(error).__name__
        charge.slowest_s = max(charge.slowest_s, time.monotonic() - began)
        if status == "200":
            first = answer.headers.get("Idempotency-Request-Id")
            charge.charged_by = first or answer.headers["X-Request-Id"]
            return
        charge.failures[status] += 1
        await asyncio.sleep(RETRY_S)
