"""Names of indices and aliases: one read alias and one write alias per dataset, which point to generations."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal

Dataset = Literal["live", "test"]


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of one dataset under one prefix."""

    prefix: str
    dataset: Dataset = "live"

    @property
    def read(self) -> str:
        """Alias of the generation that is searched."""
        return f"{self.prefix}-{self.dataset}-read"

    @property
    def write(self) -> str:
        """Alias of all generations that take writes."""
        return f"{self.prefix}-{self.dataset}-write"

    @property
    def previous(self) -> str:
        """Alias of the generation that was live before, to roll back to."""
        return f"{self.prefix}-{self.dataset}-previous"

    @property
    def generations(self) -> str:
        """Pattern of all generations."""
        return f"{self.prefix}-{self.dataset}-g*"

    def generation(self, now_ms: int) -> str:
        """Name of a generation made now."""
        made = dt.datetime.fromtimestamp(now_ms / 1000, tz=dt.UTC)
        return f"{self.prefix}-{self.dataset}-g{made:%Y%m%d%H%M%S}{now_ms % 1000:03}"

    def made_at(self, generation: str) -> dt.datetime | None:
        """When a generation was made, by its name; None for a name that is not of our making."""
        stamp = generation.removeprefix(f"{self.prefix}-{self.dataset}-g")
        try:
            return dt.datetime.strptime(stamp[:14], "%Y%m%d%H%M%S").replace(tzinfo=dt.UTC)
        except ValueError:
            return None


def written_as(generation: str) -> str:
    """Alias of one generation that it alone has. What is written under it is refused once it is dropped.

    Under its own name, a late batch would make the engine create an index of that name, with a guessed mapping.
    """
    head, _, stamp = generation.rpartition("-g")
    return f"{head}-w{stamp}"
