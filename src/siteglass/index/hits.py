"""The engine's response to a request for leads: decoded into structs, with each lead as its card."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from siteglass.errors import Unavailable
from siteglass.index.cards import (
    IN_SOURCE,
    Card,
    Rest,
    decode_card,
    decode_rest,
    domain_on_card,
    encode_card,
    encode_rest,
    shown_record,
)
from siteglass.platform.opensearch import EngineError


class Hit(Struct, frozen=True):
    """A lead that was found, and its place in the order of the search. A page has a hundred: a dataclass takes long."""

    key: int
    """0 if the request did not sort by one."""
    domain: str
    card: Card
    rest: Rest | None
    """None if the fields of the card are enough."""


class NoCards(Exception):
    """A lead was written by an older build: its record is only in `_source`."""


class ShardsFailed(Unavailable):
    """Some shards did not respond."""


class _DocValues(Struct):
    card: tuple[bytes] | None = None
    rest: tuple[bytes] | None = None


class EngineHit(Struct):
    """A lead as the engine returns it."""

    sort: list[int | str] = []
    fields: _DocValues | None = None
    source: dict[str, Any] | None = field(name="_source", default=None)

    def hit(self, *, rest: bool) -> Hit:
        """The lead, with its rest or as its card alone; raises NoCards."""
        key = int(self.sort[0]) if self.sort else 0
        if self.source is not None:
            shown = shown_record(self.source)
            return Hit(
                key, shown["domain"], decode_card(encode_card(shown)), decode_rest(encode_rest(shown, IN_SOURCE))
            )
        if self.fields is None or self.fields.card is None:
            raise NoCards
        card = decode_card(self.fields.card[0])
        if not rest:
            return Hit(key, domain_on_card(card), card, None)
        if self.fields.rest is None:
            raise NoCards
        return Hit(key, domain_on_card(card), card, decode_rest(self.fields.rest[0]))


class _Total(Struct):
    value: int


class _Hits(Struct):
    hits: list[EngineHit]
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
        """Raise unless all of the response is there."""
        _require_whole(self.error, self.status, self.shards.failed, timed_out=self.timed_out)

    @property
    def total(self) -> int:
        """How many leads match, where that was asked for."""
        if self.hits.total is None:
            raise TypeError("the request did not ask for a total")
        return self.hits.total.value


class SearchAnswers(Struct):
    """The response to several searches."""

    responses: list[SearchAnswer]

    def is_whole(self) -> bool:
        """Whether every shard responded to each."""
        return all(one.is_whole() for one in self.responses)


decode_answer = msgspec.json.Decoder(SearchAnswer).decode
decode_answers = msgspec.json.Decoder(SearchAnswers).decode


def require_whole(answer: dict[str, Any]) -> None:
    """Raise unless all of a response is there that was not decoded into a struct."""
    if "error" in answer:
        _require_whole(answer, answer["status"], 0, timed_out=False)
    else:
        _require_whole(None, 200, answer["_shards"]["failed"], timed_out=answer["timed_out"])


def _require_whole(error: dict[str, Any] | None, status: int, failed_shards: int, *, timed_out: bool) -> None:
    """A result in part is a failure: it would be charged and shown as if it were all."""
    if error is not None:
        raise failure(EngineError(status, error))
    if failed_shards:
        raise ShardsFailed("the search did not finish in time")
    if timed_out:
        raise Unavailable("the search did not finish in time")


def failure(error: EngineError) -> Exception:
    """An unavailable or full cluster is not a bug; a query that it cannot read is one."""
    return Unavailable(f"search refused: {error}") if error.passing else error
