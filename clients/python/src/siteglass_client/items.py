"""Records with what the client adds to them; the others are generated in `messages`."""

from __future__ import annotations

from siteglass_client.messages import Company, KnownValue
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
