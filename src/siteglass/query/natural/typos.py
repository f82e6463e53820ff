"""Words that nobody knows become the known word they are most like, if it is much like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from siteglass.query.natural.lexicon import Lexicon, lexicon
from siteglass.query.natural.text import Token
from siteglass.query.nearest import Candidates
from siteglass.query.vocabulary import vocabulary

# Shorter ones are like too many.
SHORTEST = 5
CITIES = 1_500

_HEADS = re.compile(
    r"\b(north|south|east|west|northern|southern|eastern|western|central)\s+(and|or|&)\s+"
    r"(north|south|east|west|northern|southern|eastern|western|central|southeast|south-east)\s+(\w+)",
    re.IGNORECASE,
)


def shared_heads(text: str) -> str:
    """ "North and South Carolina" said in full."""
    return _HEADS.sub(r"\1 \4 \2 \3 \4", text)


@cache
def _candidates() -> Candidates:
    known = vocabulary()
    keys: dict[str, None] = {}
    for phrase in lexicon().single_words():
        keys[phrase] = None
    for name in known.values("country"):
        keys[known.country_name(name).lower()] = None
    for country in ("USA", "CAN", "AUS", "DEU", "GBR", "IND", "BRA", "MEX", "ESP"):
        for name in known.states_of(country).values():
            keys[name.lower()] = None
    for name in known.technologies():
        keys[name.lower()] = None
    for city in known.cities()[:CITIES]:
        keys[city.name.lower()] = None
    return Candidates(key for key in keys if len(key) >= SHORTEST - 1 and " " not in key)


def corrected(tokens: Sequence[Token], words: Lexicon) -> list[Token]:
    """The same words, the unknown ones put right."""
    made = []
    for at, token in enumerate(tokens):
        unknown = (
            token.kind == "word"
            and len(token.key) >= SHORTEST
            and token.key.isalpha()
            and token.key not in words.common
            and token.key.removesuffix("s") not in words.common
            and not next(iter(words.matches(tokens[at : at + 1], 0)), None)
            and not any(
                start + length > at and length > 1
                for start in range(max(0, at - 3), at + 1)
                for length, _ in words.matches(tokens, start)
            )
        )
        near = _candidates().nearest(token.key) if unknown else None
        made.append(replace(token, key=near) if near else token)
    return made
