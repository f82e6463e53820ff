"""Where responses ended, so that the next one continues there: what was paid and not shown yet, and the next page."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from siteglass_client.errors import SiteglassError

MAX_PLACES = 64


@dataclass(frozen=True)
class Place:
    """A place in the answers to one question."""

    tool: str
    asked: Mapping[str, Any]
    """The request; a call that continues it may repeat it, but not change it."""
    columns: Sequence[str]
    waiting: Sequence[Mapping[str, Any]]
    """Records that were received, and are shown next free of charge."""
    path: str | None = None
    """Of the next page."""
    total_results: int | None = None


class Places:
    """The last places, under short names: a name is read and written by a model, which a sealed path is too long for.

    A place that is forgotten, or was of a server that ended, is found again for nothing by repeating the calls that led
    to it: see `till`.
    """

    def __init__(self) -> None:
        self._places: OrderedDict[str, Place] = OrderedDict()

    def note(self, place: Place) -> str:
        """The name by which a place is found."""
        name = secrets.token_hex(4)
        self._places[name] = place
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)
        return name

    def find(self, name: str, tool: str) -> Place:
        """The place of a cursor."""
        place = self._places.get(name)
        if place is None or place.tool != tool:
            raise SiteglassError(
                f"cursor: {name!r} is unknown to this tool; the server forgets cursors when it restarts. Call {tool} "
                "again without cursor and with the same arguments: within a day, the same calls are free."
            )
        self._places.move_to_end(name)
        return place
