"""Sentences: what they mean, in stages of one module each. Pure, and never raises.

text (words) → typos → lexicon, segments (phrases and what they can mean) → choice → amounts → scope → things, places,
tools → left-over words → directive lines, each read back by the production parser.

`interpret` tells what a sentence means; search goes on taking its words as keywords (`understand`) until it can also
explain what it understood.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from siteglass.errors import QueryError
from siteglass.query.criteria import Criteria, criteria
from siteglass.query.directives import parse, print_criteria, size_problem
from siteglass.query.natural.keywords import understand
from siteglass.query.natural.lexicon import lexicon
from siteglass.query.natural.meaning import Reader
from siteglass.query.natural.segments import segment
from siteglass.query.natural.text import tokenise
from siteglass.query.natural.typos import corrected, shared_heads

__all__ = ["MAX_QUERY_CHARS", "Interpretation", "interpret", "understand"]

MAX_QUERY_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What a sentence means: directive lines, filters for what they cannot say, and what was not understood."""

    directives: tuple[str, ...]
    filters: dict[str, str]
    unsupported: tuple[str, ...]


def interpret(query: str, today: date) -> Interpretation:
    """The meaning of a sentence; what goes beyond the size of a search is reported, never refused."""
    words = lexicon()
    parts = segment(corrected(tokenise(shared_heads(query[:MAX_QUERY_CHARS])), words), words)
    found = Reader(parts, words, today).read()
    understood, unsupported = Criteria(), list(found.unsupported)
    for line in found.lines:
        try:
            larger = criteria([*understood.conditions, *parse(line).conditions])
        except QueryError:
            unsupported.append(line)
            continue
        if size_problem(larger):
            unsupported.append(line)
            continue
        understood = larger
    return Interpretation(tuple(print_criteria(understood).splitlines()), found.filters, tuple(unsupported))
