"""Words that nobody knows become the known word they are most like, if it is much like it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from siteglass.query.natural.lexicon import Lexicon, Matches, lexicon
from siteglass.query.natural.text import Token
from siteglass.query.nearest import Candidates
from siteglass.query.vocabulary import vocabulary

# Shorter ones are like too many.
SHORTEST = 5
CITIES = 1_500
# Countries whose states are often written out.
_STATES_OF = ("USA", "CAN", "AUS", "DEU", "GBR", "IND", "BRA", "MEX", "ESP")
# A phrase that begins so many words before may cover the word.
_REACH = 3


@cache
def candidates() -> Candidates:
    """What a misspelt word may have been meant for, what is meant most often first."""
    known = vocabulary()
    keys: dict[str, None] = dict.fromkeys(lexicon().single_words())
    keys |= dict.fromkeys(known.country_name(country).lower() for country in known.values("country"))
    for country in _STATES_OF:
        keys |= dict.fromkeys(name.lower() for name in known.states_of(country).values())
    keys |= dict.fromkeys(name.lower() for name in known.technologies())
    keys |= dict.fromkeys(city.name.lower() for city in known.cities()[:CITIES])
    return Candidates(key for key in keys if len(key) >= SHORTEST - 1 and " " not in key)


def _unknown(token: Token, words: Lexicon) -> bool:
    return (
        token.kind == "word"
        and len(token.key) >= SHORTEST
        and token.key.isalpha()
        and token.key not in words.common
        and token.key.removesuffix("s") not in words.common
    )


def corrected(tokens: list[Token], found: list[Matches], words: Lexicon) -> list[Token]:
    """The same words, the unknown ones put right; `found` are the phrases that begin at each."""
    made = []
    for at, token in enumerate(tokens):
        near = None
        if _unknown(token, words) and not _covered(found, at):
            near = candidates().nearest(token.key)
        made.append(replace(token, key=near, corrected=True) if near else token)
    return made


def _covered(found: list[Matches], at: int) -> bool:
    """Whether the word is a phrase, or part of one."""
    return bool(found[at]) or any(
        start + length > at for start in range(max(0, at - _REACH), at) for length, _ in found[start]
    )
