"""Sentences: what they mean, in stages of one module each. Pure, and raises only for one that takes too many steps.

1. Words: literals → text → lexicon (what phrases can mean) → typos → agreement (places that their neighbours decide).
2. Phrases: segments → pairs (both … and) → choice → required, changes (of technologies), wishes (what no
   field answers).
3. Branches of `@any`, each read by the next stages: joined, alternatives.
4. Conditions: dates, quantities, amounts → scope → trades, vague, things, places, tools → keywords (nouns).
5. Account: leftovers → accounting → interpretation (the search that all conditions make together, and its reasons).

docs/guides/sentences.md has the grammar, and works a sentence through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from siteglass.query.natural.interpretation import CHARS_PER_UNIT, LOW_CONFIDENCE, Interpretation, units_of
from siteglass.query.natural.lexicon import ENGLISH, lexicon
from siteglass.query.natural.reading import split
from siteglass.query.natural.required import says
from siteglass.query.natural.typos import load as load_typos
from siteglass.query.trades import trades

__all__ = [
    "CHARS_PER_UNIT",
    "LOW_CONFIDENCE",
    "MAX_QUERY_CHARS",
    "Interpretation",
    "interpret",
    "load",
    "says",
    "units_of",
]

MAX_QUERY_CHARS = 1_000


def load() -> None:
    """Read what the first sentence would otherwise wait for."""
    lexicon()
    load_typos()
    trades().forms(ENGLISH)


def interpret(query: str, today: date, require: Sequence[str] = ()) -> Interpretation:
    """The meaning of a sentence; what goes beyond the size of a search is reported, never refused. The phrases to
    `require`, as far as the sentence has them, become keywords. Raises QueryError if it takes too many steps."""
    query = query[:MAX_QUERY_CHARS]
    return Interpretation(query, split(query, require), today)
