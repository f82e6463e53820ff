"""The size of a response for the model that reads it, and values truncated to a size.

Tokens are estimated as UTF-8 bytes of compact JSON divided by three. With current tokenizers, names, addresses and
numbers in JSON take three to four bytes per token, and other scripts more. So the estimate is rather too high.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

BYTES_PER_TOKEN = 3
CUT = "…"
"""Marks a place where something was left out."""


def spelled(value: Any) -> str:
    """A value as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size_bytes(value: Any) -> int:
    """Bytes of a value as it is sent."""
    return len(spelled(value).encode())


def tokens(text: str) -> int:
    """An estimate that is rather too high."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def cut(value: Any, max_bytes: int) -> Any:
    """The value, or as much of it as has this size, marked. Numbers are never cut."""
    if size_bytes(value) <= max_bytes:
        return value
    if isinstance(value, str):
        return _cut_text(value, max_bytes)
    if isinstance(value, Mapping):
        return _cut_mapping(value, max_bytes)
    if isinstance(value, Sequence):
        return _cut_list(value, max_bytes)
    return value


def _cut_text(text: str, max_bytes: int) -> str:
    room = max_bytes - size_bytes(CUT)
    for place, character in enumerate(text):
        room -= size_bytes(character) - len('""')
        if room < 0:
            return text[:place] + CUT
    return text


def _more(count: int) -> str:
    return f"{CUT} {count} more"


def _cut_list(values: Sequence[Any], max_bytes: int) -> list[Any]:
    kept: list[Any] = []
    for place, value in enumerate(values):
        mark = _more(len(values) - place)
        room = max_bytes - size_bytes([*kept, mark]) - len(",")
        if size_bytes(value) > room:
            # A first one that is longer than all the room says more when it is cut than when it is missing.
            return [*kept, mark] if kept else [cut(value, room), *([_more(len(values) - 1)] if values[1:] else [])]
        kept.append(value)
    return kept


def _cut_mapping(values: Mapping[str, Any], max_bytes: int) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for place, (name, value) in enumerate(values.items()):
        mark = {CUT: f"{len(values) - place} more"}
        if size_bytes({**kept, name: value, **mark}) > max_bytes:
            return {**kept, **mark}
        kept[name] = value
    return kept
