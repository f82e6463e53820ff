"""The load of the proof: paid requests at a steady rate, each repeated until it is answered."""

from __future__ import annotations

import asyncio
import itertools
import ssl
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import httpx

from deploy_proof.machine import Machine
from deploy_proof.scorecard import ProofError
from testing.fault_runs.history import Charge, Exchange, History, Question
from testing.fault_runs.traffic import read_answer
from testing.fault_runs.verifier import verify
from testing.steady_load import SteadyLoad

RATE = 20
RETRY_S = 1.0
GIVE_UP_S = 240.0
NO_ANSWER = "no answer"
"""The status of a request whose connection failed."""


@dataclass(slots=True)
class Order:
    """One request under its own key, with every attempt to get an answer."""

    key: str
    question: int
    sent_s: float
    attempts: list[tuple[float, str]] = field(default_factory=list)
    """When each was sent, and its status."""
    answer: Exchange | None = None


class PaidLoad(SteadyLoad):
    """Sends one question after the other."""

    def __init__(self, url: str, api_key: str, tls: ssl.SSLContext, asked: Sequence[Question], name: str) -> None:
        super().__init__(url, api_key, RATE, tls=tls)
        self._asked = asked
        self._name = name
        self._numbers = itertools.count()
        self.orders: list[Order] = []

    async def send(self, client: httpx.AsyncClient) -> None:
        number = next(self._numbers)
        order = Order(f"{self._name}-{number}", number % len(self._asked), self.now_s())
        self.orders.append(order)
        while self.now_s() < order.sent_s + GIVE_UP_S:
            if await self._attempt(client, order):
                return
            await asyncio.sleep(RETRY_S)

    async def _attempt(self, client: httpx.AsyncClient, order: Order) -> bool:
        question, sent_s = self._asked[order.question], self.now_s()
        try:
            response = await client.post(question.path, json=question.body, headers={"Idempotency-Key": order.key})
        except httpx.HTTPError:
            order.attempts.append((sent_s, NO_ANSWER))
            return False
        order.attempts.append((sent_s, str(response.status_code)))
        if response.status_code != 200:
            return False
        # A repeated request has the answer of the first one, and is charged under its number.
        request_id = response.headers.get("Idempotency-Request-Id") or response.headers["X-Request-Id"]
        result = read_answer(question, response.json())
        order.answer = Exchange(sent_s, self.now_s() - sent_s, order.question, 200, request_id, *result)
        return True

    def failures(self, since_s: float = 0.0) -> Counter[str]:
        """How often an attempt since then had which outcome, other than 200."""
        outcomes = [attempt for order in self.orders for attempt in list(order.attempts)]
        return Counter(status for sent_s, status in outcomes if sent_s >= since_s and status != "200")

    def recovered_s(self, since_s: float, steady_s: float, within_s: float) -> float:
        """Wait until nothing has failed for a while; returns how long after a moment the last failure was sent."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            time.sleep(0.2)
            outcomes = [attempt for order in list(self.orders) for attempt in list(order.attempts)]
            failed = [sent_s for sent_s, status in outcomes if status != "200"]
            good = [sent_s for sent_s, status in outcomes if status == "200"]
            last = max(failed, default=0.0)
            quiet_since = max(last, since_s)
            if good and max(good) > quiet_since + steady_s and self.now_s() > quiet_since + steady_s:
                return max(0.0, last - since_s)
        raise ProofError(
            f"requests still fail {within_s:.0f} s after the part was back: {dict(self.failures(since_s))}"
        )

    def slowest_s(self) -> float:
        """Of the answers to first attempts."""
        return max((order.answer.took_s for order in self.orders if order.answer is not None), default=0.0)


def charges(machine: Machine) -> list[Charge]:
    """All charges in the ledger, in their order."""
    rows = machine.sql("SELECT request_id, -lead FROM siteglass.ledger WHERE kind = 'charge' ORDER BY account_id, seq")
    pairs = (row.split("|") for row in rows.splitlines())
    return [Charge(request_id, int(lead)) for request_id, lead in pairs]


def judge(load: PaidLoad, asked: list[Question], before: list[Charge], machine: Machine) -> tuple[int, int]:
    """Compare answers with a scan of the leads, and charges with answers; returns how many answers and charges."""
    unanswered = [order.key for order in load.orders if order.answer is None]
    if unanswered:
        raise ProofError(f"{len(unanswered)} requests were never answered, such as {unanswered[0]}")
    answers = [order.answer for order in load.orders if order.answer is not None]
    made = charges(machine)[len(before) :]
    verdict = verify(History(0, list(asked), answers, [], made))
    if verdict.problems:
        few = "\n".join(verdict.problems[:10])
        raise ProofError(f"{len(verdict.problems)} answers or charges are wrong:\n{few}")
    return len(answers), len(made)


def wait_for(condition: Callable[[], bool], what: str, within_s: float = 120) -> float:
    """Wait until it holds; returns the seconds it took."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > within_s:
            raise ProofError(f"{what}: not within {within_s:.0f} s")
        time.sleep(0.2)
    return time.monotonic() - started
