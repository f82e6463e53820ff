"""Suggestions for misspelt values: the known key most like a text, or none if nothing is much like it."""

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import OSA

# The caller cuts longer texts: hardly a name is longer, and the time to compare grows with the length.
TEXT_LENGTH_MAX = 64

# One slip in a word of three to six letters, two in one of eight, and so on. Anything looser turns
# ordinary words into products ("lawyers" into "layers").
_SIMILARITY_MIN_SHORT = 0.66
_SIMILARITY_MIN = 0.75


class Candidates:
    """Keys to choose from, in order of preference: of two that are equally like, the earlier one wins."""

    def __init__(self, keys: Iterable[str], similarity: float = _SIMILARITY_MIN) -> None:
        self._similarity = similarity
        self._by_first: dict[str, list[str]] = {}
        for key in keys:
            if len(key) > 2:
                self._by_first.setdefault(key[0], []).append(key)

    def nearest(self, text: str) -> str | None:
        if len(text) < 3:
            return None
        best: str | None = None
        cutoff = self._similarity if len(text) > 3 else _SIMILARITY_MIN_SHORT
        # The first letter is hardly ever the wrong one, but it may have changed places with the second.
        for first in dict.fromkeys(text[:2]):
            found = process.extractOne(
                text,
                self._by_first.get(first, ()),
                scorer=OSA.normalized_similarity,
                score_cutoff=cutoff,
            )
            if found and (best is None or found[1] > cutoff):
                best, cutoff = found[0], found[1]
        return best

    def several(self, text: str, limit: int) -> list[str]:
        """The keys most like a text, the best first; the first one is the nearest."""
        if len(text) < 3:
            return []
        cutoff = self._similarity if len(text) > 3 else _SIMILARITY_MIN_SHORT
        found = [
            (key, likeness)
            for first in dict.fromkeys(text[:2])
            for key, likeness, _ in process.extract(
                text,
                self._by_first.get(first, ()),
                scorer=OSA.normalized_similarity,
                score_cutoff=cutoff,
                limit=limit,
            )
        ]
        return [key for key, _ in sorted(found, key=lambda pair: -pair[1])][:limit]
