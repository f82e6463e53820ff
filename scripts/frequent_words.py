"""Which words people use, from wordfreq: what `build_language.py` needs of them.

Only what wordfreq cannot say is kept in this repository: `language/slips.txt` has the rare words that are one slip of
the fingers away from a word more than a hundred times as frequent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

from wordfreq import get_frequency_dict, top_n_list

from siteglass.query.folding import fold

ENGLISH, OTHERS = "en", ("de", "es", "fr", "pt")
MOST_ENGLISH, MOST_COMMON = 20_000, 5_000
# How often a word occurs in a billion words, as the power of ten.
LEAST_ENGLISH, LEAST_OTHER = 1.7, 2.6
BILLION = 9
SHORTEST, SHORTEST_KNOWN = 2, 4


@cache
def english() -> list[str]:
    """The most frequent words of English, by frequency."""
    return list(dict.fromkeys(_most_frequent(ENGLISH, MOST_ENGLISH)))


@cache
def common() -> list[str]:
    """The most frequent words of other languages, without those of English."""
    words = {word for language in OTHERS for word in _most_frequent(language, MOST_COMMON)}
    return sorted(words.difference(english()))


def known(slips: list[str]) -> list[str]:
    """All other words that are no slips."""
    words = set(_at_least(ENGLISH, LEAST_ENGLISH))
    words.update(word for language in OTHERS for word in _at_least(language, LEAST_OTHER))
    return sorted(words.difference(english(), common(), slips))


def _most_frequent(language: str, most: int) -> Iterator[str]:
    for word in top_n_list(language, most):
        if word.isalpha() and len(folded := fold(word)) >= SHORTEST and folded.isalpha():
            yield folded


def _at_least(language: str, zipf: float) -> Iterator[str]:
    for word, share in get_frequency_dict(language, wordlist="best").items():
        if word.isalpha() and math.log10(share) + BILLION >= zipf:
            folded = fold(word)
            if len(folded) >= SHORTEST_KNOWN and folded.isalpha():
                yield folded
