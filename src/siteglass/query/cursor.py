"""Cursors: the whole search and a position in it, sealed for one account. No state on the server.

A cursor is base64url(AES-SIV(deflated JSON)). SIV needs no nonce, and its associated data bind a cursor to account and
format. Deflating lets the largest search that is allowed fit into the longest cursor that is allowed.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from siteglass.errors import CursorExpired, InvalidCursor
from siteglass.platform.sealed import read_sealed, spell_sealed
from siteglass.query.fields import FIELDS, SORT_IDS

MAX_CURSOR_CHARS = 6_144
MIN_SECRET_CHARS = 32
COMPRESSION_LEVEL = 6
RAW_DEFLATE = -15
FORMAT = b"siteglass-cursor-1"
# The error of a total in a cursor. An estimate's error is larger. The release before marked all estimates by it.
UNKNOWN_ERROR = 1

# By numbers that belong to the rows, not by places: a row that is added changes no cursor that is under way.
_SELECT_IDS = {f.name: f.show.cursor_id for f in FIELDS if f.show and f.show.cursor_id is not None}
_SELECTED = {number: name for name, number in _SELECT_IDS.items()}
_SORTED = {number: name for name, number in SORT_IDS.items()}


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page starts: after the anchor in the direction of travel."""

    key: int
    """Leading sort value of the anchor."""
    domain: str
    backward: bool = False
    width: int = 0
    """Span of leading sort values that a page takes here; backward pages look that far."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """All that a later page needs to know."""

    filters: dict[str, Any]
    select: tuple[str, ...] | None
    sort: str
    limit: int
    position: Position
    total: int
    total_error: int | None
    """By how much the total may be off: 0 if it is exact, None if nobody knows."""
    result_id: str
    exclude_lists: tuple[int, ...] = ()
    """Numbers of lists whose leads are left out. Not their names: a list may be replaced by another of its name."""
    only_lists: tuple[int, ...] = ()
    """Numbers of lists; where there are any, leads on none of them are left out."""


class CursorSealer:
    """Seals and opens cursors with the newest secret first; an older one still opens."""

    def __init__(self, secrets: Sequence[str], life_s: int) -> None:
        if not secrets or any(len(secret) < MIN_SECRET_CHARS for secret in secrets):
            raise ValueError(f"at least one cursor secret of {MIN_SECRET_CHARS} characters or more is required")
        self._keys = [AESSIV(hashlib.sha512(FORMAT + secret.encode()).digest()) for secret in secrets]
        self._life_s = life_s

    def seal(self, continuation: Continuation, account: str, now_s: int) -> str:
        """A cursor for this account, as used in a path."""
        position = continuation.position
        payload = [
            now_s,
            continuation.result_id.replace("-", ""),
            continuation.total,
            UNKNOWN_ERROR if continuation.total_error is None else continuation.total_error,
            SORT_IDS[continuation.sort],
            continuation.limit,
            None if continuation.select is None else [_SELECT_IDS[name] for name in continuation.select],
            position.key,
            position.domain,
            int(position.backward),
            position.width,
            continuation.filters,
        ]
        if continuation.exclude_lists or continuation.only_lists:
            payload += [continuation.exclude_lists, continuation.only_lists]
        packed = zlib.compress(orjson.dumps(payload), COMPRESSION_LEVEL, wbits=RAW_DEFLATE)
        sealed = self._keys[0].encrypt(packed, [FORMAT, account.encode()])
        return spell_sealed(sealed)

    def open(self, cursor: str, account: str, now_s: int) -> Continuation:
        """What a cursor says; raises InvalidCursor or CursorExpired."""
        sealed = read_sealed(cursor, MAX_CURSOR_CHARS)
        if sealed is None:
            raise InvalidCursor
        packed = self._decrypt(sealed, account)
        payload = orjson.loads(zlib.decompress(packed, wbits=RAW_DEFLATE))
        issued, result_id, total, error, sort, limit, select, key, domain, backward, width, filters, *more = payload
        exclude_lists, only_lists = more or ((), ())
        if now_s > issued + self._life_s:
            raise CursorExpired
        try:
            names = None if select is None else tuple(_SELECTED[number] for number in select)
            order = _SORTED[sort]
        except KeyError:  # a field or an order that the service no longer has
            raise InvalidCursor from None
        return Continuation(
            filters,
            names,
            order,
            limit,
            Position(key, domain, bool(backward), width),
            total,
            None if error == UNKNOWN_ERROR else error,
            f"{result_id[:8]}-{result_id[8:12]}-{result_id[12:16]}-{result_id[16:20]}-{result_id[20:]}",
            tuple(exclude_lists),
            tuple(only_lists),
        )

    def _decrypt(self, sealed: bytes, account: str) -> bytes:
        for key in self._keys:
            try:
                return key.decrypt(sealed, [FORMAT, account.encode()])
            except InvalidTag:
                continue
        raise InvalidCursor
