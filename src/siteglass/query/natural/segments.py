"""Words to segments: the longest phrases that mean something, and what each can mean where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from siteglass.query.natural.lexicon import Lexicon, Sense
from siteglass.query.natural.numbers import Amount, read_amount
from siteglass.query.natural.text import Token

ENTITIES = frozenset(
    (
        "country", "state", "city", "region", "subregion", "group", "nationality", "language", "spoken",
        "technology", "category", "service_type",
    )
)  # fmt: skip
PLACES = frozenset(("country", "state", "city", "region", "subregion", "group", "nationality"))


@dataclass(slots=True)
class Segment:
    """A phrase of the sentence."""

    start: int
    end: int
    tokens: Sequence[Token]
    senses: list[Sense] = field(default_factory=list)
    kind: str = "unknown"
    values: tuple[str, ...] = ()
    amount: Amount | None = None
    negated: bool = False
    doubled: bool = False
    used: bool = False

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.tokens)

    @property
    def key(self) -> str:
        return " ".join(token.key for token in self.tokens)

    def has(self, *kinds: str) -> bool:
        return any(sense.kind in kinds for sense in self.senses)

    def sense(self, *kinds: str) -> Sense | None:
        return next((sense for sense in self.senses if sense.kind in kinds), None)

    def become(self, sense: Sense) -> None:
        self.kind, self.values = sense.kind, sense.values


def segment(tokens: Sequence[Token], lexicon: Lexicon) -> list[Segment]:
    """The sentence cut into phrases, the longest first from the left."""
    found: list[Segment] = []
    at = 0
    shouting = all(token.text.isupper() for token in tokens if token.kind == "word")
    while at < len(tokens):
        token = tokens[at]
        if token.kind in ("number", "path", "operator", "without", "with", "mailbox", "sign"):
            made = Segment(at, at + 1, tokens[at : at + 1])
            longer = None
            if token.kind != "sign":
                longer = next(((n, s) for n, s in lexicon.matches(tokens, at) if n > 1), None)
            if longer:
                made = Segment(at, at + longer[0], tokens[at : at + longer[0]], longer[1])
            elif token.kind == "number":
                made.kind, made.amount = "number", read_amount(token.text)
            elif token.kind == "without":
                made.senses = [Sense("negation")]
            elif token.kind == "with":
                made.senses = [Sense("using")]
            else:
                made.kind = token.kind
                made.senses = list(_signs(token))
            found.append(made)
            at = made.end
            continue
        for length, senses in lexicon.matches(tokens, at):
            window = tokens[at : at + length]
            listed = length == 1 and _in_slashes(tokens, at)
            allowed = [sense for sense in senses if listed or _plausible(sense, window, lexicon, shouting)]
            if allowed:
                found.append(Segment(at, at + length, window, allowed))
                at += length
                break
        else:
            found.append(Segment(at, at + 1, tokens[at : at + 1]))
            at += 1
    return found


def _in_slashes(tokens: Sequence[Token], at: int) -> bool:
    """A code in a list such as de/at/ch."""
    beside = [tokens[i].key for i in (at - 1, at + 1) if 0 <= i < len(tokens)]
    return "/" in beside and len(tokens[at].key) <= 3


def _signs(token: Token) -> Sequence[Sense]:
    if token.key in (",", "/"):
        return (Sense("comma"),)
    if token.key in ("&", "+"):
        return (Sense("and"),)
    if token.key in ".;:!?\n|–—-()":
        return (Sense("break"),)
    return ()


_DIRECTIONS = frozenset(
    [
        "north",
        "south",
        "east",
        "west",
        "central",
        "northern",
        "southern",
        "eastern",
        "western",
        "norte",
        "sur",
        "sul",
        "sud",
        "nord",
        "est",
        "ouest",
        "sudeste",
    ]
)


def _plausible(sense: Sense, window: Sequence[Token], lexicon: Lexicon, shouting: bool) -> bool:
    """Whether a name may be meant at all: short codes only in capitals, small towns only if they are no common word."""
    if sense.kind == "city" and len(window) > 1:
        # "de moins" is no Des Moines: common words in small letters name no town
        return any(token.capital or token.key not in lexicon.common for token in window)
    if sense.kind not in ENTITIES or len(window) > 1:
        return True
    token = window[0]
    if token.key in _DIRECTIONS:
        return False
    capital_code = token.text.isupper() and not shouting
    if sense.kind == "state" and "-" in sense.values[0] and len(token.key) <= 3:
        return True  # the lexicon has looked at where it stands
    if len(token.key) <= 2 and sense.kind in ("country", "state", "region", "subregion", "city", "language"):
        return capital_code or (sense.kind == "country" and token.key in ("us", "uk"))
    if len(token.key) == 3 and sense.kind in ("country", "state", "city", "language") and token.key in lexicon.common:
        return capital_code
    if sense.kind == "city" and token.key in lexicon.common:
        cities = lexicon.cities(sense.values[0])
        return (token.capital and bool(cities) and cities[0].population >= 100_000) or (
            bool(cities) and cities[0].population >= 500_000
        )
    return True
