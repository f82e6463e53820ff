"""Where credits are spent: each charged call with a name that follows from what it asks, and a ceiling for all of them.

The service keeps an answer for a day under the name of its call. The same call has the same name here. So a tool that
is called again with the same arguments gets the same response free of charge. This also works after a broken
connection, a cancelled call or a restart of this server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from siteglass_client.answers import Answer
from siteglass_client.async_search import AsyncSender
from siteglass_client.calls import Call
from siteglass_client.errors import IdempotencyPriceChanged, ServiceError
from siteglass_client.mcp.sessions import Session, Sum


@dataclass(frozen=True)
class Bought:
    """An answer, and what it cost in this session: nothing if the service gave it before."""

    call: Call
    answer: Answer
    cost: Sum
    worth: Sum
    """What it cost when it was first given."""


class Till:
    """Sends what is charged, and counts it in the session."""

    def __init__(self, send: AsyncSender, session: Session) -> None:
        self._send = send
        self.session = session

    @property
    def lead_left(self) -> int | None:
        """Lead credits that no call has spent or may be spending; None: there is no ceiling."""
        ceiling = self.session.ceiling
        return None if ceiling is None else max(0, ceiling - self.session.spent.lead)

    def allowed(self, path: str, body_of: Callable[[int], Mapping[str, Any]], wanted: int) -> int:
        """Lead credits that a call may cost, of those wanted.

        If the same call was lost, it is as many as that one was to cost: they are counted already, and what they bought
        is had by repeating it.
        """
        if self.session.lost:
            for most in range(wanted, 0, -1):
                if self._name(path, {**body_of(most), "max_lead_credits": most}) in self.session.lost:
                    return most
        left = self.lead_left
        return wanted if left is None else min(wanted, left)

    async def buy(self, path: str, body: Mapping[str, Any], most: Sum) -> Bought:
        """The answer to a call that may cost so much; `most.lead` is also the cap that the service keeps."""
        capped = {**body, "max_lead_credits": most.lead}
        name = self._name(path, capped)
        call = Call("POST", path, capped, name)
        before = await self.session.hold(name, most)
        try:
            answer = await self._send(call)
        except ServiceError as error:
            settled = isinstance(error, IdempotencyPriceChanged)
            lost = most if error.may_be_charged else None if settled else before
            await self.session.release(name, (lost or Sum()) - most, lost)
            if settled:
                await self.forget(path, body, most)  # so that asking again pays the price
            raise
        except BaseException:  # no answer, or nobody waits for it any more
            with anyio.CancelScope(shield=True):
                await self.session.release(name, Sum(), most)
            raise
        worth = Sum(answer.credits.lead_used, answer.credits.api_used)
        paid_earlier = answer.replayed and before is None and not answer.tried_before
        cost = Sum() if paid_earlier else worth
        with anyio.CancelScope(shield=True):
            await self.session.release(name, cost - most, None)
        return Bought(call, answer, cost, worth)

    async def ask(self, call: Call) -> Answer:
        """The answer to a call that costs nothing."""
        return await self._send(call)

    def _name(self, path: str, body: Mapping[str, Any]) -> str:
        digest = digest_of(path, body)
        return f"sg-mcp-{digest}-{self.session.turn(digest)}"

    async def forget(self, path: str, body: Mapping[str, Any], most: Sum) -> None:
        """The same call is a new one from now on, as its answer is not worth keeping."""
        await self.session.next_turn(digest_of(path, {**body, "max_lead_credits": most.lead}))


def digest_of(path: str, body: Mapping[str, Any]) -> str:
    """A short name for a question."""
    asked = json.dumps([path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(asked.encode()).hexdigest()[:40]
