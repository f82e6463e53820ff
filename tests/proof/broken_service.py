"""The service with one thing wrong on purpose, to see that the verifiers find it. Only the proof starts this.

python -m tests.proof.broken_service DEFECT        # otherwise as `siteglass serve`
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Any

from siteglass.billing.credits import Balances, Billing, Receipt
from siteglass.cli import main as cli

QUEUE_S = 0.05


def answer_before_charge() -> None:
    """The answer leaves at once; the charge waits in a queue of the process."""
    running: set[asyncio.Task[Any]] = set()

    charge = Billing.charge

    async def charge_later(self: Billing, *arguments: Any) -> Receipt | None:
        caller, _, bill, keep = arguments
        if keep is not None and await self.find_answer(caller, keep.key):
            return None
        price = await self.quote(caller, bill)
        task = asyncio.create_task(_later(self, *arguments))
        running.add(task)
        task.add_done_callback(_let_go)
        left = Balances(price.balances.api - price.api, price.balances.lead - price.lead, 0)
        return Receipt(price.api, price.lead, left)

    async def _later(self: Billing, *arguments: Any) -> None:
        await asyncio.sleep(QUEUE_S)
        await charge(self, *arguments)

    def _let_go(task: asyncio.Task[Any]) -> None:
        running.discard(task)
        task.exception()

    Billing.charge = charge_later  # type: ignore[assignment, method-assign]  # the defect


class _SameAsAll(bytes):
    def __ne__(self, other: object) -> bool:
        return False


def replay_without_fingerprint() -> None:
    """Whatever is sent with a known key gets the stored answer."""

    find_answer = Billing.find_answer

    async def find_any(self: Billing, *arguments: Any) -> Any:
        found = await find_answer(self, *arguments)
        if found is None:
            return None
        kept, receipt = found
        return replace(kept, fingerprint=_SameAsAll(kept.fingerprint)), receipt

    Billing.find_answer = find_any  # type: ignore[assignment, method-assign]  # the defect


DEFECTS = {"answer before charge": answer_before_charge, "replay without fingerprint": replay_without_fingerprint}

if __name__ == "__main__":
    DEFECTS[sys.argv[1]]()
    sys.argv[1:] = ["serve"]
    cli.main()
