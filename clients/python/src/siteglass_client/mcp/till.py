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

from siteglass_client.answers import Answer
from siteglass_client.async_search import AsyncSender
from siteglass_client.calls import Call
from siteglass_client.errors import IdempotencyPriceChanged, ServiceError, SiteglassError

MAX_REMEMBERED = 1_000


class CeilingReached(SiteglassError):
    """The credits of `sgl mcp --max-credits` are spent."""


@dataclass(frozen=True)
class Sum:
    """Credits of both kinds."""

    lead: int = 0
    api: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.lead + other.lead, self.api + other.api)

    def __sub__(self, other: Sum) -> Sum:
        return Sum(self.lead - other.lead, self.api - other.api)


@dataclass(frozen=True)
class Bought:
    """An answer, and what it cost this server: nothing if the service gave it before."""

    answer: Answer
    cost: Sum
    worth: Sum
    """What it cost when it was first given."""


class Till:
    """Sends what is charged. The ceiling is for the credits of each kind, over all calls of this server."""

    def __init__(self, send: AsyncSender, ceiling: int | None) -> None:
        self._send = send
        self.ceiling = ceiling
        self._spent = Sum()
        self._held = Sum()
        self._unknown: dict[str, Sum] = {}
        """Calls without an answer, which may have been charged so much; counted as spent until it is known."""
        self._turns: dict[str, int] = {}

    @property
    def spent(self) -> Sum:
        """What all calls of this server have cost, calls without an answer at their most."""
        return self._spent

    @property
    def lead_left(self) -> int | None:
        """Lead credits that no call has spent or may be spending; None: there is no ceiling."""
        return None if self.ceiling is None else max(0, self.ceiling - self._spent.lead - self._held.lead)

    def allowed(self, path: str, body_of: Callable[[int], Mapping[str, Any]], wanted: int) -> int:
        """Lead credits that a call may cost, of those wanted.

        If the same call was lost, it is as many as that one was to cost: they are counted already, and what they bought
        is had by repeating it.
        """
        if self._unknown:
            for most in range(wanted, 0, -1):
                if self._name(path, {**body_of(most), "max_lead_credits": most}) in self._unknown:
                    return most
        left = self.lead_left
        return wanted if left is None else min(wanted, left)

    def _hold(self, most: Sum) -> None:
        """Nothing is awaited between the look and the hold, so calls at the same time cannot hold the same credits."""
        wanted = self._spent + self._held + most
        if self.ceiling is not None and max(wanted.lead, wanted.api) > self.ceiling:
            raise CeilingReached(
                f"This server has spent {self._spent.lead} lead and {self._spent.api} API credits; this call may need "
                f"{most.lead} and {most.api} more. The maximum is {self.ceiling} of each kind (sgl mcp "
                "--max-credits). Nothing was sent. Request less, or ask the user to start the server with a higher "
                "maximum."
            )
        self._held += most

    async def buy(self, path: str, body: Mapping[str, Any], most: Sum) -> Bought:
        """The answer to a call that may cost so much; `most.lead` is also the cap that the service keeps."""
        capped = {**body, "max_lead_credits": most.lead}
        name = self._name(path, capped)
        before = self._unknown.pop(name, None)
        self._spent -= before or Sum()
        try:
            self._hold(most)
        except CeilingReached:
            self._lost(name, before)
            raise
        try:
            answer = await self._send(Call("POST", path, capped, name))
        except ServiceError as error:
            self._held -= most
            settled = isinstance(error, IdempotencyPriceChanged)
            self._lost(name, most if error.may_be_charged else None if settled else before)
            if settled:
                self.forget(path, body, most)  # so that asking again pays the price
            raise
        except BaseException:  # no answer, or nobody waits for it any more
            self._held -= most
            self._lost(name, most)
            raise
        self._held -= most
        told = Sum(answer.credits.lead_used, answer.credits.api_used)
        paid_earlier = answer.replayed and before is None and not answer.tried_before
        cost = Sum() if paid_earlier else told
        self._spent += cost
        return Bought(answer, cost, told)

    async def ask(self, call: Call) -> Answer:
        """The answer to a call that costs nothing."""
        return await self._send(call)

    def _lost(self, name: str, most: Sum | None) -> None:
        if most is not None:
            self._spent += most
            if len(self._unknown) < MAX_REMEMBERED:  # what is forgotten stays counted
                self._unknown[name] = most

    def _name(self, path: str, body: Mapping[str, Any]) -> str:
        asked = json.dumps([path, body], sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(asked.encode()).hexdigest()[:40]
        return f"sg-mcp-{digest}-{self._turns.get(digest, 0)}"

    def forget(self, path: str, body: Mapping[str, Any], most: Sum) -> None:
        """The same call is a new one from now on, as its answer is not worth keeping."""
        digest = self._name(path, {**body, "max_lead_credits": most.lead}).split("-")[2]
        if len(self._turns) < MAX_REMEMBERED:
            self._turns[digest] = self._turns.get(digest, 0) + 1
