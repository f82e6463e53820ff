"""The engine's response to a request for leads: decoded into structs, with each lead as its card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct, field

from siteglass.errors import Unavailable
from siteglass.index.cards import Card, Rest, decode_card, decode_rest, shown_record, spelled_card, spelled_rest
from siteglass.platform.opensearch import EngineError


@dataclass(frozen=True, slots=True)
class Hit:
    """A lead that was found, and its place in the order of the search."""

    key: int
    domain: str
    card: Card
    rest: Rest | None
    """None if the fields of the card are enough."""


class NoCards(Exception):
    """A lead was written by an older build: its record is only in `_source`."""


class _DocValues(Struct):
    card: tuple[bytes] | None = None
    rest: tuple[bytes] | None = None


class _Found(Struct):
    sort: tuple[int, str]
    fields: _DocValues | None = None
    source: dict[str, Any] | None = field(name="_source", default=None)

    def hit(self) -> Hit:
        """The lead; raises NoCards."""
        key, domain = self.sort
        if self.source is not None:
            shown = shown_record(self.source)
            return Hit(key, domain, decode_card(spelled_card(shown)), decode_rest(spelled_rest(shown)))
        if self.fields is None or self.fields.card is None:
            raise NoCards
        rest = None if self.fields.rest is None else decode_rest(self.fields.rest[0])
        return Hit(key, domain, decode_card(self.fields.card[0]), rest)


class _Total(Struct):
    value: int


class _Hits(Struct):
    hits: list[_Found]
    total: _Total | None = None


class _Shards(Struct):
    failed: int


class SearchAnswer(Struct):
    """The response to one search: hits, or an error."""

    hits: _Hits = field(default_factory=lambda: _Hits([]))
    timed_out: bool = False
    shards: _Shards = field(name="_shards", default_factory=lambda: _Shards(0))
    status: int = 200
    error: dict[str, Any] | None = None

    def is_whole(self) -> bool:
        """Whether every shard responded."""
        return self.status < 500 and self.shards.failed == 0

    def require_whole(self) -> None:
        """A result in part is a failure: it would be charged and shown as if it were all."""
        if self.error is not None:
            raise failure(EngineError(self.status, self.error))
        if self.timed_out or self.shards.failed:
            raise Unavailable("the search did not finish in time")


class SearchAnswers(Struct):
    """The response to several searches."""

    responses: list[SearchAnswer]

    def is_whole(self) -> bool:
        """Whether every shard responded to each."""
        return all(one.is_whole() for one in self.responses)


decode_answer = msgspec.json.Decoder(SearchAnswer).decode
decode_answers = msgspec.json.Decoder(SearchAnswers).decode


def failure(error: EngineError) -> Exception:
    """An unavailable or full cluster is not a bug; a query that it cannot read is one."""
    return Unavailable(f"search refused: {error}") if error.passing else error
