"""Words that nobody knows become the known word they are most like, if it is much like it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from rapidfuzz.distance import OSA

from siteglass.query.natural.lexicon import Lexicon, Matches, lexicon
from siteglass.query.natural.text import Token
from siteglass.query.nearest import Candidates
from siteglass.query.vocabulary import vocabulary

# Shorter ones are like too many.
SHORTEST = 5
SHORTEST_SMALL = 3
CITIES = 1_500
# Countries whose states are often written out.
_STATES_OF = ("USA", "CAN", "AUS", "DEU", "GBR", "IND", "BRA", "MEX", "ESP")
_COUNTRY_SIMILARITY = 0.7
# A phrase that begins so many words before may cover the word.
_REACH = 3


@cache
def candidates() -> Candidates:
    """What a misspelt word may have been meant for, what is meant most often first."""
    known = vocabulary()
    keys: dict[str, None] = dict.fromkeys(lexicon().telling_words())
    keys |= dict.fromkeys(_country_names())
    for country in _STATES_OF:
        keys |= dict.fromkeys(name.lower() for name in known.states_of(country).values())
    keys |= dict.fromkeys(name.lower() for name in known.technologies())
    keys |= dict.fromkeys(city.name.lower() for city in known.cities()[:CITIES])
    return Candidates(key for key in keys if len(key) >= SHORTEST - 1 and " " not in key)


@cache
def countries() -> Candidates:
    """Names of countries: they are long and unlike other words, so more slips are forgiven."""
    return Candidates([name for name in _country_names() if " " not in name], similarity=_COUNTRY_SIMILARITY)


def _country_names() -> list[str]:
    known = vocabulary()
    return [known.country_name(country).lower() for country in known.values("country")]


def _nearest(word: str) -> str | None:
    if len(word) < SHORTEST:
        near = (
            small
            for small in lexicon().sets["small_words"]
            if small[0] == word[0] and OSA.distance(word, small, score_cutoff=1) <= 1
        )
        return next(near, None)
    return candidates().nearest(word) or countries().nearest(word)


def _unknown(token: Token, words: Lexicon) -> bool:
    return (
        token.kind == "word"
        and len(token.key) >= SHORTEST_SMALL
        and token.key.isalpha()
        and not words.is_word(token.key)
        and not words.is_word(token.key.removesuffix("s"))
    )


def corrected(tokens: list[Token], found: list[Matches], words: Lexicon) -> list[Token]:
    """The same words, the unknown ones put right; `found` are the phrases that begin at each."""
    made = []
    for at, token in enumerate(tokens):
        near = None
        if _unknown(token, words) and not _covered(found, at):
            near = _nearest(token.key)
        made.append(replace(token, key=near, corrected=True) if near else token)
    return made


def _covered(found: list[Matches], at: int) -> bool:
    """Whether the word is a phrase, or part of one."""
    return bool(found[at]) or any(
        start + length > at for start in range(max(0, at - _REACH), at) for length, _ in found[start]
    )
