"""Words that come in pairs: "tanto A como B" is both, "albo A, albo B" one of them.

The second word of a pair joins as "and" or "or" does, whatever else it is by itself: "como" is also "such as".
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from siteglass.query.natural.kinds import Role
from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.segments import Segment

BOTH, EITHER, OR = "both", "either", "or"
# What opens a pair -> what joins it, apart from "and"; "both" is read as it is.
_ALL: dict[str, tuple[str, ...]] = {
    "sowohl": ("als", "als auch", "wie", "wie auch"),
    "tanto": ("como", "como también", "quanto", "che"),
    "ambos": (),
    "ambas": (),
    "a la fois": (),
    "a la vez": (),
    "tant": ("que",),
    "sia": ("sia", "che"),
    "zowel": ("als", "als ook"),
    "zarowno": ("jak", "jak i", "jak rowniez", "jak tez"),
}
# Said before each of the things that are denied.
_NEITHER = ("noch", "ani")
# Said before each of the alternatives.
_EACH = (
    "soit",
    "ofwel",
    "hetzij",
    "albo",
    "badz",
    "seja",
    "quer",
    "ya sea",
    "o bien",
    "ou bien",
    "bien",
    "o",
    "ou",
    "of",
)
# Those that also join lists: they open one only where a clause begins.
_JOINING = frozenset(("albo", "badz", "bien", "o", "ou", "of", "o bien", "ou bien"))
_BEGINS = (Role.COMMA, Role.BREAK, Role.FUNCTION, Role.USING, Role.OFFERING, Role.REQUESTS)


def join_pairs(parts: Sequence[Segment], unless: Container[str]) -> None:
    """Give both words of every pair the meaning that they have together."""
    for at, part in enumerate(parts):
        if part.key in _ALL:
            _join_all(parts, at)
        elif part.key in _NEITHER and not _denied_before(parts, at) and _again(parts, at, part.key):
            part.only([Sense(Role.NEGATION)])  # "noch in Gent noch in Brugge"
        elif part.key in unless and _denied_before(parts, at):
            part.only([Sense(Role.OR)])  # "no CRM, unless they use Wix": one of the two is enough
        elif (word := next((one for one in _EACH if _is(part, one)), "")) and _opens(parts, at, word):
            _join_each(parts, at, word)


def _is(part: Segment, word: str) -> bool:
    return part.key == word or part.key.startswith(f"{word} ")


def _opens(parts: Sequence[Segment], at: int, word: str) -> bool:
    return word not in _JOINING or at == 0 or parts[at - 1].has(*_BEGINS)


def _again(parts: Sequence[Segment], at: int, word: str) -> list[Segment]:
    """Where a word, or a phrase that begins with it, comes again."""
    return [part for part in parts[at + 2 :] if _is(part, word)]


def _denied_before(parts: Sequence[Segment], at: int) -> bool:
    for part in reversed(parts[:at]):
        if part.has(Role.NEGATION, Role.BREAK):
            return part.has(Role.NEGATION)
    return False


def _join_all(parts: Sequence[Segment], at: int) -> None:
    for partner in parts[at + 2 :]:
        if partner.has(Role.BREAK):
            return
        if partner.has(Role.AND) or partner.key in _ALL[parts[at].key]:
            parts[at].key = BOTH
            parts[at].only([Sense(Role.AND), Sense(Role.FUNCTION)])
            partner.only([Sense(Role.AND)])
            return


def _join_each(parts: Sequence[Segment], at: int, word: str) -> None:
    others = _again(parts, at, word)
    if not others:
        return
    parts[at].key = EITHER
    parts[at].only([Sense(Role.FUNCTION), Sense(Role.OR)])
    for part in others:
        part.key = OR
        part.only([Sense(Role.OR)])
