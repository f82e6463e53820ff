"""What is remembered between the calls of an agent: credits spent, and where responses ended.

`sgl mcp` remembers it in memory. A service that serves agents itself keeps it where all its workers see it, and gives
the tools another `Session`.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from siteglass_client.answers import Answer
from siteglass_client.calls import Call
from siteglass_client.errors import SiteglassError

MAX_PLACES = 64
MAX_REMEMBERED = 1_000
NOT_KEPT = (
    "The session could not store where this response ends, so there is no cursor. To continue, call the tool again "
    "with the same arguments and more max_tokens: within a day, what is paid for is free."
)

Row = Mapping[str, Any]


class CeilingReached(SiteglassError):
    """The credits of the session are spent."""


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
class Place:
    """A place in the answers to one question."""

    tool: str
    asked: Mapping[str, Any]
    """The request; a call that continues it may repeat it, but not change it."""
    columns: Sequence[str]
    waiting: Sequence[Row]
    """Records that were received, and are shown next free of charge."""
    path: str | None = None
    """Of the next page."""
    total_results: int | None = None
    source: Call | None = None
    """What was sent to receive the waiting records. Within a day, repeating it is free."""


class Session(Protocol):
    """What the tools need to have remembered. The ceiling is for the credits of each kind, over all calls."""

    ceiling: int | None
    kind: str
    """What messages to the agent call it."""
    raised_by: str
    """How a user sets the ceiling."""

    @property
    def spent(self) -> Sum:
        """What all calls have cost; calls under way and calls without a response at their maximum."""

    @property
    def lost(self) -> Collection[str]:
        """Names of calls without a response, which may have been charged."""

    async def hold(self, name: str, most: Sum) -> Sum | None:
        """Count a call as spent before it is sent. If the same call was lost, it is counted already: returns as how
        much. Raises CeilingReached.
        """

    async def release(self, name: str, change: Sum, lost: Sum | None) -> None:
        """Correct what a call was counted as, once its outcome is known; `lost`: it may have been charged so much."""

    def turn(self, digest: str) -> int:
        """How many times a call was made a new one."""

    async def next_turn(self, digest: str) -> None:
        """Make the same call a new one."""

    def knows_price(self, asked: str) -> bool:
        """Whether the agent may buy this: it knows the price, or need not."""

    async def note_price(self, asked: str) -> None:
        """The agent received the price."""

    def require_room(self, asked: Mapping[str, Any]) -> None:
        """Called before anything is bought. Raises SiteglassError if no place of this request could be kept."""

    async def keep(self, place: Place) -> str:
        """A short name for a place: a model reads and writes it, and a sealed path is too long for that. Raises
        SiteglassError."""

    async def find(self, name: str, tool: str, read: Callable[[Answer], Sequence[Row]]) -> Place:
        """The place of a cursor; `read` takes the records from a response."""


async def kept(session: Session, place: Place) -> str | None:
    """The name of a place; None if it cannot be kept. What is paid for is shown all the same."""
    try:
        return await session.keep(place)
    except SiteglassError:
        return None


def ceiling_reached(session: Session, spent: Sum, most: Sum) -> CeilingReached:
    """The refusal of a call that may cost more than is left."""
    return CeilingReached(
        f"This {session.kind} has spent {spent.lead} lead and {spent.api} API credits; this call may need {most.lead} "
        f"and {most.api} more. The maximum is {session.ceiling} of each kind ({session.raised_by}). Nothing was sent. "
        f"Request less, or ask the user to start the {session.kind} with a higher maximum."
    )


def unknown_cursor(name: str, tool: str, why: str) -> SiteglassError:
    """The refusal of a cursor."""
    return SiteglassError(
        f"cursor: {name!r} is unknown to this tool; {why}. Call {tool} again without cursor and with the same "
        "arguments: within a day, the same calls are free."
    )


class LocalSession:
    """All calls of one server, in its memory."""

    kind = "server"
    raised_by = "sgl mcp --max-credits"

    def __init__(self, ceiling: int | None) -> None:
        self.ceiling = ceiling
        self._spent = Sum()
        self._lost: dict[str, Sum] = {}
        self._turns: dict[str, int] = {}
        self._places: OrderedDict[str, Place] = OrderedDict()

    @property
    def spent(self) -> Sum:
        return self._spent

    @property
    def lost(self) -> Collection[str]:
        return self._lost

    async def hold(self, name: str, most: Sum) -> Sum | None:
        # Nothing is awaited between the look and the hold, so calls at the same time cannot hold the same credits.
        before = self._lost.get(name)
        spent = self._spent - (before or Sum())
        wanted = spent + most
        if self.ceiling is not None and max(wanted.lead, wanted.api) > self.ceiling:
            raise ceiling_reached(self, spent, most)
        self._spent = wanted
        self._lost.pop(name, None)
        return before

    async def release(self, name: str, change: Sum, lost: Sum | None) -> None:
        self._spent += change
        if lost is not None and len(self._lost) < MAX_REMEMBERED:  # what is forgotten stays counted
            self._lost[name] = lost

    def turn(self, digest: str) -> int:
        return self._turns.get(digest, 0)

    async def next_turn(self, digest: str) -> None:
        if len(self._turns) < MAX_REMEMBERED:
            self._turns[digest] = self.turn(digest) + 1

    def knows_price(self, asked: str) -> bool:
        return True  # the program that runs the agent asks its user

    async def note_price(self, asked: str) -> None:
        pass

    def require_room(self, asked: Mapping[str, Any]) -> None:
        pass

    async def keep(self, place: Place) -> str:
        name = secrets.token_hex(4)
        self._places[name] = place
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)
        return name

    async def find(self, name: str, tool: str, read: Callable[[Answer], Sequence[Row]]) -> Place:
        place = self._places.get(name)
        if place is None or place.tool != tool:
            raise unknown_cursor(name, tool, "the server forgets cursors when it restarts")
        self._places.move_to_end(name)
        return place
