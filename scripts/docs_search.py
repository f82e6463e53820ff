"""The search index of the docs: for each word the pages that have it, with a weight. `docs.js` adds the weights up.

A word counts more the rarer it is. In the title, or in what docs/README.md lists the page for, it counts fully, in a
heading half; in the text it counts by how often it occurs there for a page of that length (BM25).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

HEADING = 0.5
GAIN = 1.5
LENGTH_SHARE = 0.6
SCALE = 100


@dataclass(frozen=True, slots=True)
class Text:
    """What a page says."""

    path: str
    title: str
    tasks: str
    headings: Sequence[tuple[str, str]]
    """Anchor and text."""
    body: str


def words(text: str) -> list[str]:
    """The words as the index has them; `docs.js` has the same rule. A plural loses its `s`."""
    found = re.findall(r"[^\W_]+", text.lower())
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in found]


STOP = frozenset(
    words(
        """a about all am an and any are as at be but by can could do does for from get has have how i if in into is it
        its me much many my need of on one or our out should so some tell that the their them there they this to up use
        used using want was we what when where which who why will with without would you your"""
    )
)
"""Words of questions, which say nothing about what is asked."""


def index(pages: Sequence[Text]) -> dict[str, Any]:
    """The pages with their headings, and for each word a flat list of pages and weights."""
    counts = [Counter(word for word in words(page.body) if word not in STOP) for page in pages]
    mean = sum(count.total() for count in counts) / len(counts)
    spread = Counter(word for count in counts for word in count)
    postings: dict[str, list[int]] = {}
    for place, (page, count) in enumerate(zip(pages, counts, strict=True)):
        title = {*words(page.title), *words(page.tasks), *words(page.path.rpartition("/")[2])} - STOP
        headings = {word for _, text in page.headings for word in words(text)} - STOP
        norm = GAIN * (1 - LENGTH_SHARE + LENGTH_SHARE * count.total() / mean)
        for word in sorted(title | headings | count.keys()):
            rarity = math.log(1 + (len(pages) - spread[word] + 0.5) / (spread[word] + 0.5))
            share = (word in title) + HEADING * (word in headings) + count[word] / (count[word] + norm)
            postings.setdefault(word, []).extend((place, round(SCALE * rarity * share)))
    return {"pages": [[page.path, page.title, page.headings] for page in pages], "words": postings}
