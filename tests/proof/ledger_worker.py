"""A process of the ledger level: clients that charge, retry, read, grant and refund until they have done their part.

    python -m tests.proof.ledger_worker JOB.json

It may be killed at any time. Started again, it first settles what it had left without an answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import sys
import zlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import uvloop

from siteglass.access.accounts import AccountError, UnconfirmedError
from siteglass.access.keys import Caller
from siteglass.billing import credits
from siteglass.billing.answers import AnswerToStore, compress
from siteglass.billing.credits import Bill, Billing, Mark
from siteglass.errors import InsufficientCredits, Unavailable
from siteglass.platform.postgres import Postgres
from tests.proof.history import Log, Operation

CHARGE_MS = 1_500
PING_MS = 500
PAUSE_S = 0.03
MAX_LOST = 10
TOP_UP = 40


@dataclass(frozen=True)
class Job:
    """What one worker has to do; `waves` are (account, key) by turn, all clients work on a few at a time."""

    dsn: str
    schema: str
    seed: int
    worker: int
    clients: int
    charges_each: int
    unkeyed: float
    waves: list[list[tuple[int, int]]]
    log: str


def caller_of(account_id: int, key_id: int) -> Caller:
    """As the HTTP edge knows who calls."""
    return Caller(account_id, key_id, key_id, frozenset(("search",)), "standard", 1.0, 1)


def _bill(api: int, lead: int) -> Bill:
    return Bill("search", api, [(f"lead-{number}.example", Mark.CHARGED) for number in range(lead)])


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


class Client:
    """One sequence of operations; each is answered, or of unknown outcome, before the next begins."""

    def __init__(
        self, job: Job, number: int, log: Log, postgres: Postgres, billing: Billing, done: int, turn: int
    ) -> None:
        self.job = job
        self.number = job.worker * 1_000 + number
        self.log = log
        self.postgres = postgres
        self.billing = billing
        self.choose = random.Random(f"{job.seed} {self.number} {turn}")
        self.name = f"{self.number}.{turn}"
        self.made = 0
        self.charges = done
        # What can be repeated or refunded: charges with a key, and rows of charges, with their account.
        self.used: deque[tuple[Caller, Operation]] = deque(maxlen=20)
        self.rows: deque[tuple[Caller, int, int, int]] = deque(maxlen=20)

    def new_name(self) -> str:
        self.made += 1
        return f"{self.name}.{self.made}"

    def pick(self) -> Caller:
        waves = self.job.waves
        wave = waves[min(len(waves) - 1, self.charges * len(waves) // self.job.charges_each)]
        return caller_of(*self.choose.choice(wave))

    async def run(self, left_over: list[Operation]) -> None:
        keys = {account: key for wave in self.job.waves for account, key in wave}
        for operation in left_over:
            if operation.key:
                caller = caller_of(int(operation.account), keys[int(operation.account)])
                await self.charge(caller, operation.key, operation.fingerprint, operation.api, operation.lead)
        while self.charges < self.job.charges_each:
            await self.act()

    async def act(self) -> None:
        chance, choose = self.choose.random(), self.choose
        caller = self.pick()
        api, lead = choose.choice(((0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2)))
        if chance < 0.03:
            await self.read(caller)
        elif chance < 0.05:
            await self.grant(caller, choose.randint(0, 3), choose.randint(1, 5))
        elif chance < 0.07 and self.rows:
            await self.refund(*choose.choice(self.rows))
        elif chance < 0.10 and self.used:
            # The same again, the same key for something else, or the same key of another account.
            whose, first = choose.choice(self.used)
            how = choose.random()
            if how < 0.6:
                await self.charge(whose, first.key, first.fingerprint, first.api, first.lead)
            elif how < 0.8:
                await self.charge(whose, first.key, first.fingerprint + "x", api, lead)
            elif whose.account_id != caller.account_id:
                await self.charge(caller, first.key, first.fingerprint, first.api, first.lead)
        elif chance < 0.10 + self.job.unkeyed:
            await self.charge(caller, "", "", api, lead)
        else:
            key = self.new_name()
            await self.charge(caller, key, _digest(key.encode()), api, lead)

    async def charge(self, caller: Caller, key: str, fingerprint: str, api: int, lead: int) -> None:
        """Once without a key; with one, the same again until it is answered."""
        lost = 0
        while True:
            operation = Operation(
                str(caller.account_id), self.number, "charge",
                key=key, fingerprint=fingerprint, api=api, lead=lead, request=self.new_name(),
            )  # fmt: skip
            call = self.log.call(operation)
            try:
                outcome, seen = await self._charge_once(caller, operation)
            except Unavailable:
                outcome, seen = None, {}
            except Exception as error:  # not an error of the service: reported to the verifiers, and treated as unknown
                self.log.note("error", f"charge: {error!r}")
                return  # not the same again: what a defect makes impossible stays so, and nobody would ever end
            else:
                lost += outcome is None
            if outcome is not None:
                self.log.answer(call, outcome, **seen)
                break
            if lost == MAX_LOST:
                self.log.note("error", "charge: its key is taken, and there is no answer")
                return  # the database was up: a defect, and it stays so
            await self.until_back(caller)
            if not key:
                return
        if outcome == "charged":
            self.charges += 1
            self.rows.append((caller, seen["seq"], api, lead))
            if key:
                self.used.append((caller, operation))
        elif outcome == "refused":
            await self.grant(caller, TOP_UP, TOP_UP)

    async def _charge_once(self, caller: Caller, operation: Operation) -> tuple[Any, dict[str, Any]]:
        """One attempt, as the HTTP edge makes it. Its body is unlike that of any other attempt."""
        body, print_ = operation.request.encode(), operation.fingerprint.encode()
        keep = AnswerToStore(operation.key, print_, "{}", compress(body)) if operation.key else None
        bill = _bill(operation.api, operation.lead)
        try:
            receipt = await self.billing.charge(caller, operation.request, bill, keep)
        except InsufficientCredits:
            return "refused", {}
        if receipt is not None:
            left = receipt.balances
            return "charged", {
                "api": receipt.api, "lead": receipt.lead, "seq": left.seq, "answer": _digest(body),
                "balance_api": left.api, "balance_lead": left.lead,
            }  # fmt: skip
        found = await self.billing.find_answer(caller, operation.key)
        if found is None:
            return None, {}
        kept, price = found
        if kept.fingerprint != print_:
            return "mismatch", {}
        assert kept.compressed is not None, "this worker stores every answer"
        return "replayed", {
            "api": price.api, "lead": price.lead, "answer": _digest(zlib.decompress(kept.compressed)),
            "balance_api": price.balances.api, "balance_lead": price.balances.lead,
        }  # fmt: skip

    async def until_back(self, caller: Caller) -> None:
        """Nothing is sent to a database that is down: every attempt there would be one more that nobody can place."""
        while True:
            await asyncio.sleep(PAUSE_S)
            try:
                await self.billing.balance(caller.account_id)
                return
            except Unavailable:
                continue

    async def _other(self, operation: Operation, outcome: Any, work: Any) -> None:
        call = self.log.call(operation)
        try:
            left = await work
        except (Unavailable, UnconfirmedError):
            await self.until_back(caller_of(int(operation.account), 0))
        except AccountError:
            self.log.answer(call, "refused")
        except Exception as error:
            self.log.note("error", f"{operation.kind}: {error!r}")
        else:
            self.log.answer(call, outcome, balance_api=left.api, balance_lead=left.lead, seq=left.seq)

    async def read(self, caller: Caller) -> None:
        operation = Operation(str(caller.account_id), self.number, "read")
        await self._other(operation, "read", self.billing.balance(caller.account_id))

    async def grant(self, caller: Caller, api: int, lead: int) -> None:
        operation = Operation(str(caller.account_id), self.number, "grant", api=api, lead=lead, request=self.new_name())
        work = credits.grant(self.postgres, caller.account_id, api, lead, "proof", operation.request)
        await self._other(operation, "granted", work)

    async def refund(self, caller: Caller, seq: int, api: int, lead: int) -> None:
        """All that was charged, and once more: the second must be refused."""
        for _ in range(self.choose.choice((1, 2))):
            operation = Operation(
                str(caller.account_id), self.number, "refund",
                api=api, lead=lead, of=seq, request=self.new_name(),
            )  # fmt: skip
            work = credits.refund(self.postgres, caller.account_id, seq, api, lead, "proof", operation.request, "proof")
            await self._other(operation, "refunded", work)


async def work(job: Job) -> None:
    with Log(Path(job.log)) as log:
        turn = log.next_call  # another one after each kill, so that no name is given twice
        postgres = Postgres(job.dsn, job.schema, max_connections=job.clients)
        # One for all clients, as a worker of the service has it: their charges go together.
        billing = Billing(postgres, CHARGE_MS)
        clients = [
            Client(job, number, log, postgres, billing, log.charges[job.worker * 1_000 + number], turn)
            for number in range(job.clients)
        ]
        left_over = list(log.open_calls.values())
        try:
            await asyncio.gather(
                *(client.run([left for left in left_over if left.client == client.number]) for client in clients)
            )
        finally:
            await postgres.close()


def main() -> None:
    given = orjson.loads(Path(sys.argv[1]).read_bytes())
    given["waves"] = [[(account, key) for account, key in wave] for wave in given["waves"]]
    uvloop.run(work(Job(**given)))


if __name__ == "__main__":
    main()
