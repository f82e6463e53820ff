"""The callers of the HTTP level, in one process: each request has an Idempotency-Key and is sent until it is answered.

    python -m tests.proof.http_client JOB.json

An attempt is `unsent` if no connection was made, and of unknown outcome if anything else but an answer came of it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import uvloop

from tests.proof.history import Log, Operation, Outcome

TIMEOUT_S = 6.0
PAUSE_S = 0.1


@dataclass(frozen=True)
class Ask:
    """A request, and what a dry run says that it costs; of a later page nobody knows before it is answered."""

    path: str
    body: dict[str, Any]
    api: int = 0
    lead: int = 0

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.path.encode() + orjson.dumps(self.body)).hexdigest()[:16]


@dataclass(frozen=True)
class Account:
    """Whose key it is; a poor one has credits for some requests only."""

    number: int
    secret: str
    poor: bool


@dataclass(frozen=True)
class Job:
    """What the clients do, and where; while there is a file `hold` they do more than their share."""

    urls: list[str]
    seed: int
    clients: int
    charges: int
    accounts: list[Account]
    asks: list[Ask]
    log: str
    hold: str = ""

    def goes_on(self) -> bool:
        """Whether there are faults to come: as long as there are, somebody must be there whom they meet."""
        return os.path.exists(self.hold)  # a fast machine would be through before


class Caller:
    """One caller: a request, its retries, now and then the same again, and on to the next."""

    def __init__(self, job: Job, number: int, log: Log, session: aiohttp.ClientSession) -> None:
        self.job = job
        self.number = number
        self.log = log
        self.session = session
        self.choose = random.Random(f"{job.seed} http {number}")
        self.made = 0
        self.charges = 0
        self.pages: deque[tuple[Account, Ask]] = deque(maxlen=5)

    def new_key(self) -> str:
        self.made += 1
        return f"http-{self.number}-{self.made}"

    async def run(self) -> None:
        rich = [account for account in self.job.accounts if not account.poor]
        poor = [account for account in self.job.accounts if account.poor]
        while self.charges < self.job.charges // self.job.clients or self.job.goes_on():
            chance, key = self.choose.random(), self.new_key()
            if chance < 0.1 and self.pages:
                account, ask = self.pages.popleft()
            else:
                account = self.choose.choice(poor if chance > 0.97 else rich)
                ask = self.choose.choice(self.job.asks)
            outcome = await self.send(account, ask, key)
            self.charges += outcome == "charged"
            again = self.choose.random()
            if outcome == "charged" and again < 0.08:
                await self.send(account, ask, key)
            elif outcome == "charged" and again < 0.13:
                await self.send(account, self.choose.choice([one for one in self.job.asks if one != ask]), key)
            elif outcome == "charged" and again < 0.15 and ask in self.job.asks:
                # Another account with the same key: its own request, never a replay.
                other = self.choose.choice([one for one in rich if one != account])
                self.charges += await self.send(other, ask, key) == "charged"

    async def send(self, account: Account, ask: Ask, key: str) -> Outcome:
        """The same until it is answered."""
        while True:
            operation = Operation(
                str(account.number), self.number, "charge",
                key=key, fingerprint=ask.fingerprint, api=ask.api, lead=ask.lead,
            )  # fmt: skip
            call = self.log.call(operation)
            url = self.choose.choice(self.job.urls) + ask.path
            headers = {"X-API-Key": account.secret, "Idempotency-Key": key}
            try:
                async with self.session.post(url, json=ask.body, headers=headers) as response:
                    body = await response.read()
            except aiohttp.ClientConnectorError:
                self.log.answer(call, "unsent")
            except (aiohttp.ClientError, TimeoutError, ConnectionError):
                pass
            else:
                outcome = self._answered(call, account, response, body)
                if outcome is not None:
                    return outcome
            await asyncio.sleep(PAUSE_S)

    def _answered(self, call: int, account: Account, response: Any, body: bytes) -> Outcome | None:
        match response.status:
            case 200:
                return self._paid(call, account, response.headers, body)
            case 402:
                self.log.answer(call, "refused")
                return "refused"
            case 422:
                self.log.answer(call, "mismatch")
                return "mismatch"
            case 409:
                self.log.note("busy", "")
            case 503:
                self.log.note("away", "")
            case status:
                self.log.note("error", f"{status} {body[:300]!r}")
        return None

    def _paid(self, call: int, account: Account, headers: Any, body: bytes) -> Outcome:
        outcome: Outcome = "replayed" if headers.get("Idempotency-Replayed") == "true" else "charged"
        self.log.answer(
            call,
            outcome,
            api=int(headers["X-Credits-Api-Used"]),
            lead=int(headers["X-Credits-Lead-Used"]),
            balance_api=int(headers["X-Credits-Api-Remaining"]),
            balance_lead=int(headers["X-Credits-Lead-Remaining"]),
            request=headers["Idempotency-Request-Id" if outcome == "replayed" else "X-Request-Id"],
            answer=hashlib.sha256(body).hexdigest()[:16],
        )
        if (path := orjson.loads(body).get("next")) and not account.poor:
            self.pages.append((account, Ask(path, {})))
        return outcome


async def work(job: Job) -> None:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    connector = aiohttp.TCPConnector(limit=0)
    with Log(Path(job.log)) as log:
        async with aiohttp.ClientSession(timeout=timeout, connector=connector, trust_env=False) as session:
            await asyncio.gather(*(Caller(job, number, log, session).run() for number in range(job.clients)))


def main() -> None:
    given = orjson.loads(Path(sys.argv[1]).read_bytes())
    given["accounts"] = [Account(**one) for one in given["accounts"]]
    given["asks"] = [Ask(**one) for one in given["asks"]]
    uvloop.run(work(Job(**given)))


if __name__ == "__main__":
    main()
