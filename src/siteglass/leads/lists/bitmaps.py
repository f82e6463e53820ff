"""Sets of lead numbers as Roaring bitmaps, and the newest bitmap of each list in the worker's memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from pyroaring import BitMap

MAX_CACHE_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CachedBitmap:
    """The bitmap of a list at a revision."""

    revision: int
    numbers: BitMap
    size: int


class BitmapCache:
    """Bitmaps by the number of their list; the ones that were used longest ago are dropped."""

    def __init__(self) -> None:
        self._by_list: OrderedDict[int, CachedBitmap] = OrderedDict()
        self._bytes = 0

    def find(self, list_id: int, revision: int) -> BitMap | None:
        """The bitmap at this revision, if it is here."""
        cached = self._by_list.get(list_id)
        if cached is None or cached.revision != revision:
            return None
        self._by_list.move_to_end(list_id)
        return cached.numbers

    def keep(self, list_id: int, revision: int, packed: bytes) -> BitMap:
        """Store a bitmap in place of the one before, and return it."""
        self._drop(list_id)
        numbers = BitMap.deserialize(packed)
        self._by_list[list_id] = CachedBitmap(revision, numbers, len(packed))
        self._bytes += len(packed)
        while self._bytes > MAX_CACHE_BYTES and len(self._by_list) > 1:
            self._drop(next(iter(self._by_list)))
        return numbers

    def _drop(self, list_id: int) -> None:
        before = self._by_list.pop(list_id, None)
        if before is not None:
            self._bytes -= before.size


def pack(numbers: BitMap) -> bytes:
    """The bitmap in the portable format, which the engine reads."""
    return numbers.serialize()


def changed(packed: bytes, *, add: Iterable[int] = (), remove: Iterable[int] = ()) -> bytes:
    """A serialized bitmap with numbers added and removed."""
    return pack((BitMap.deserialize(packed) | BitMap(add)) - BitMap(remove))


def union(bitmaps: Iterable[BitMap]) -> BitMap:
    """The numbers that are in at least one."""
    return BitMap.union(BitMap(), *bitmaps)
