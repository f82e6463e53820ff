"""Records with what the client adds to them; the others are generated in `messages`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from siteglass_client.messages import Company, KnownValue, ListChange
from siteglass_client.records import Record, field


class Item(Record):
    """The outcome for one domain of an enrichment."""

    __slots__ = ()
    status = field[str]()
    """`success`, `not_found` or `error`."""
    domain = field[str]()
    """As it was sent."""

    @property
    def found(self) -> bool:
        return self.status == "success"

    @property
    def data(self) -> Company | None:
        """What is stored; None if there is nothing."""
        return Company(self["data"]) if "data" in self else None

    @property
    def message(self) -> str | None:
        """Why there is nothing; None if there is something."""
        return self.get("message")


class KnownValues(Record):
    """Values of a field that complete a text, those that fit best first."""

    __slots__ = ()
    field_ = field[str]()
    more = field[bool]()

    @property
    def found(self) -> list[KnownValue]:
        return [KnownValue(each) for each in self["values"]]


def sum_changes(bodies: Sequence[Mapping[str, Any]]) -> ListChange:
    """What several requests changed on one list."""
    if not bodies:
        raise ValueError("there are no domains: give at least one")
    sums = {name: sum(body[name] for body in bodies) for name in ("added", "removed", "invalid")}
    return ListChange(
        {**bodies[-1], **sums, "invalid_domains": [each for body in bodies for each in body["invalid_domains"]]}
    )
