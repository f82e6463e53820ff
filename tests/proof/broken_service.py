"""The service with one thing wrong on purpose, to see that the judges see it. Only the proof starts this.

python -m tests.proof.broken_service DEFECT        # otherwise as `siteglass serve`
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Any

from siteglass.billing import credits
from siteglass.billing.credits import Balances, Receipt
from siteglass.cli import main as cli
from siteglass.leads import charging

QUEUE_S = 0.05


def answer_before_charge() -> None:
    """The answer leaves at once; the charge waits in a queue of the process."""
    running: set[asyncio.Task[Any]] = set()

    async def charge_later(*arguments: Any, **options: Any) -> Receipt | None:
        postgres, caller, _, bill, keep = arguments
        if keep is not None and await credits.find_answer(postgres, caller, keep.key):
            return None
        price = await credits.quote(postgres, caller, bill)
        task = asyncio.create_task(_later(*arguments, **options))
        running.add(task)
        task.add_done_callback(_let_go)
        left = Balances(price.balances.api - price.api, price.balances.lead - price.lead, 0)
        return Receipt(price.api, price.lead, left)

    async def _later(*arguments: Any, **options: Any) -> None:
        await asyncio.sleep(QUEUE_S)
        await credits.charge(*arguments, **options)

    def _let_go(task: asyncio.Task[Any]) -> None:
        running.discard(task)
        task.exception()

    setattr(charging, "charge", charge_later)  # noqa: B010 - not a name that charging offers


class _SameAsAll(bytes):
    def __ne__(self, other: object) -> bool:
        return False


def replay_without_fingerprint() -> None:
    """Whatever is sent with a known key gets the stored answer."""

    async def find_any(*arguments: Any, **options: Any) -> Any:
        found = await credits.find_answer(*arguments, **options)
        if found is None:
            return None
        kept, receipt = found
        return replace(kept, fingerprint=_SameAsAll(kept.fingerprint)), receipt

    setattr(charging, "find_answer", find_any)  # noqa: B010 - as above


DEFECTS = {"answer before charge": answer_before_charge, "replay without fingerprint": replay_without_fingerprint}

if __name__ == "__main__":
    DEFECTS[sys.argv[1]]()
    sys.argv[1:] = ["serve"]
    cli.main()
