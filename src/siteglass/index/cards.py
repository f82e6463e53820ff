"""The record of a lead as responses contain it, written beside the document in two binary doc values.

`card` has the fields that a search returns by default, `rest` all others but IN_SOURCE. Both are JSON as in the
response, so a page is put together from their bytes. Reading `_source` instead, which is compressed together with
those of other leads, was half of the engine's work for a page.

An example: the card is `[true,"DEU",["jane@example.com"],{"domain":"example.com",...}]`, and the rest is
`[{"url":"https://example.com/",...},{"spending":1200,...},["example.net"]]`. The second object of the rest has the
fields that an enrichment formats differently from a search; the list has the aliases.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from siteglass.index.contact_details import email_details, phone_details
from siteglass.index.technology_details import technology_details
from siteglass.query.fields import ENRICH_SELECTABLE, SEARCH_DEFAULT, SEARCH_SELECTABLE

Record = dict[str, Any]

ENRICH_OWN = ("spending", "social_accounts")
"""Fields that an enrichment formats differently from a search: `e` of a record."""
IN_SOURCE = ("technologies_detail",)
"""Fields that are large and rarely selected: a record that shows one is read from `_source`."""
SELECTS_KEPT = 512

_ON_CARD = frozenset(SEARCH_DEFAULT)
_ON_REST = tuple(
    name
    for name in dict.fromkeys((*SEARCH_SELECTABLE, *ENRICH_SELECTABLE))
    if name not in _ON_CARD and name not in ENRICH_OWN and name not in IN_SOURCE
)
_DOMAIN_AT = len('{"domain":"')
_encode = msgspec.json.Encoder().encode


class Card(Struct, array_like=True, frozen=True):
    """What a response must know of a lead, and its record."""

    has_email: bool
    country: str
    personal: list[str]
    """The addresses of persons."""
    record: Raw
    """An object with the fields that a search returns by default."""


class Rest(Struct, array_like=True, frozen=True):
    """The other fields of a record."""

    record: Raw
    own: Raw
    """An object with the fields ENRICH_OWN."""
    aliases: list[str]


decode_card = msgspec.json.Decoder(Card).decode
decode_rest = msgspec.json.Decoder(Rest).decode


# --- written ------------------------------------------------------------------------------------


def shown_record(stored: Record) -> Record:
    """A stored record with all fields as responses contain them."""
    return {
        **stored,
        "emails_detail": email_details(stored),
        "phones_detail": phone_details(stored),
        "technologies_detail": technology_details(stored),
    }


def encode_card(shown: Record) -> bytes:
    """The card of a record."""
    record = {name: shown[name] for name in SEARCH_DEFAULT}
    return _encode((bool(shown["emails"]), shown["country"], shown["emails_personal"], record))


def encode_rest(shown: Record, more: Iterable[str] = ()) -> bytes:
    """The rest of a record, with more fields if it is not stored."""
    own = {name: shown["e"][name] for name in ENRICH_OWN}
    return _encode(({name: shown[name] for name in (*_ON_REST, *more)}, own, shown.get("aliases", ())))


def doc_value(encoded: bytes) -> str:
    """JSON as the engine takes and returns it. It returns base64 without padding, so there must be none."""
    return b64encode(encoded + b" " * (-len(encoded) % 3)).decode()


# --- read ---------------------------------------------------------------------------------------


def domain_on_card(card: Card) -> str:
    """The domain: the first field of the record."""
    record = bytes(card.record)
    return record[_DOMAIN_AT : record.index(b'"', _DOMAIN_AT)].decode()


def needs_rest(select: Iterable[str]) -> bool:
    """Whether a search that returns these fields needs more than cards."""
    return not _ON_CARD.issuperset(select)


def needs_source(select: Iterable[str]) -> bool:
    """Whether a response with these fields needs more than cards and rests."""
    return not set(IN_SOURCE).isdisjoint(select)


def rebuild_record(card: Card, rest: Rest | None) -> Record:
    """The record as a dictionary; without `rest`, with the fields of the card alone."""
    record: Record = {**msgspec.json.decode(card.record), "emails_personal": card.personal}
    if rest is not None:
        record |= {**msgspec.json.decode(rest.record), "e": msgspec.json.decode(rest.own)}
    return record


def search_object(card: Card, rest: Rest | None) -> bytes:
    """The record as one JSON object, as searches format it."""
    return bytes(card.record) if rest is None else _joined(card.record, rest.record)


def enrichment_object(card: Card, rest: Rest) -> bytes:
    """The record as one JSON object, as enrichments format it: where a name comes twice, the last one counts."""
    return _joined(card.record, rest.record, rest.own)


def _joined(*objects: Raw) -> bytes:
    return b"{" + b",".join(bytes(one)[1:-1] for one in objects) + b"}"


def select_fields(objects: Sequence[bytes], select: tuple[str, ...]) -> list[Struct]:
    """Each of these JSON objects with the selected fields, in their order."""
    return _selector(select)(b"[" + b",".join(objects) + b"]")


@lru_cache(SELECTS_KEPT)
def _selector(select: tuple[str, ...]) -> Callable[[bytes], list[Struct]]:
    fields = [(name, Raw) for name in select]
    return msgspec.json.Decoder(list[msgspec.defstruct("Selected", fields)]).decode  # type: ignore[misc]  # made here
