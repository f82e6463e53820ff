"""Answers that are kept for retries: their form, and forgetting them. The charge stores them, see `credits`."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from siteglass.errors import PayloadTooLarge
from siteglass.platform.postgres import Postgres
from siteglass.platform.schema import ANSWER_SLOTS

MAX_STORED_BYTES = 256 * 1024
# Fast: the answer waits for it. A page of 100 leads becomes a fifth in 2 ms.
LEVEL = 1
FORGET_EVERY_S = 600
KEYS_AT_ONCE = 10_000
FORGET_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class AnswerToStore:
    """An answer to be stored with its charge."""

    key: str
    fingerprint: bytes
    headers: str
    body: bytes
    """Compressed."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What is stored of an answer."""

    fingerprint: bytes
    request_id: str
    """Of the request that was charged."""
    headers: str
    compressed: bytes | None
    """None: it cost nothing, so it was not stored."""
    domains: tuple[str, ...]
    """Of the leads in it, in their order."""


def compress(body: bytes) -> bytes:
    """The body as it is stored; raises PayloadTooLarge."""
    compressed = zlib.compress(body, LEVEL)
    if len(compressed) > MAX_STORED_BYTES:
        raise PayloadTooLarge(MAX_STORED_BYTES, kept=True)
    return compressed


async def forget_answers(postgres: Postgres) -> tuple[int, int]:
    """Drop what is older than a day; returns how many slots were emptied and how many keys forgotten.

    One slot after the other, each by itself: nobody who looks for an answer waits for more than one.
    """
    emptied = 0
    for slot in range(ANSWER_SLOTS):
        emptied += (await postgres.call("forget_answers", slot=slot, timeout_ms=FORGET_TIMEOUT_MS))["emptied"]
    forgotten = 0
    while True:
        row = await postgres.call("forget_keys", max_keys=KEYS_AT_ONCE, timeout_ms=FORGET_TIMEOUT_MS)
        forgotten += row["forgotten"]
        if row["forgotten"] < KEYS_AT_ONCE:
            return emptied, forgotten
