"""Words to segments: the longest phrases that mean something, and what each can mean in its place."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from siteglass.query.criteria import Clause
from siteglass.query.folding import fold
from siteglass.query.natural import town_sizes
from siteglass.query.natural.agreement import Decided
from siteglass.query.natural.kinds import AFTER_NUMBERS, DENYING, ENTITIES, Role, TokenKind
from siteglass.query.natural.lexicon import Lexicon, Matches, Sense
from siteglass.query.natural.numbers import Amount, read_amount
from siteglass.query.natural.text import Token

# What is named, languages apart: "web en italiano" is read in two halves either way.
_NAMES = ENTITIES - {Role.LANGUAGE, Role.SPOKEN, Role.NATIONALITY}
# Places in which towns of the same name may be.
_OUTER = frozenset((Role.STATE, Role.COUNTRY))
# Places with codes of two letters, and of three.
_CODED = frozenset((Role.COUNTRY, Role.STATE, Role.REGION, Role.SUBREGION, Role.CITY))
_OFTEN_CODED = frozenset((Role.COUNTRY, Role.STATE, Role.CITY))
# After these a word is written with a capital, whatever it is.
_ENDS = (".", "!", "?", ":")
# A word after so many more frequent ones is rather the town that it names, where a place is expected.
_FREQUENT = 8_000


@dataclass(slots=True, eq=False)
class Reading:
    """What some words say: conditions, and the words."""

    clauses: tuple[Clause, ...]
    """None if no search can say it, for example because a number is out of range."""
    parts: list[Segment]
    rule: str
    confidence: float = 1.0
    assumption: str = ""
    """What was taken for granted, for the reader of an explanation."""
    directive: str = ""
    """The name of the directive that says it; none of alternatives."""


@dataclass(slots=True, eq=False)
class Segment:
    """A phrase of the sentence, and what became of it."""

    tokens: Sequence[Token]
    senses: list[Sense] = field(default_factory=list)
    kind: Role = Role.UNKNOWN
    values: tuple[str, ...] = ()
    amount: Amount | None = None
    negated: bool = False
    doubled: bool = False
    in_slashes: bool = False
    """A code in a list such as de/at/ch."""
    denied_by: Segment | None = None
    """The words that deny it."""
    used: bool = False
    """Nothing more is to be made of it."""
    refused: bool = False
    """No search can do what it asks."""
    readings: list[Reading] = field(default_factory=list)
    """The conditions it says, or helps to say."""
    key: str = ""
    kinds: frozenset[Role] = frozenset()

    def __post_init__(self) -> None:
        self.key = " ".join([token.key for token in self.tokens])
        self.kinds = frozenset([sense.kind for sense in self.senses])

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.tokens)

    @property
    def meant(self) -> str:
        """Its words in small letters, misspelt ones put right; what was written as one word stays so ("3d")."""
        made, end = "", self.tokens[0].start
        for token in self.tokens:
            made += " " * (token.start > end) + (token.key if token.corrected else token.text.lower())
            end = token.end
        return made

    @property
    def excludes(self) -> bool:
        """Whether it is denied, or denies something itself."""
        return self.negated or self.kind in DENYING

    def with_denial(self) -> list[Segment]:
        """Itself, and the words that deny it."""
        return [self] if self.denied_by is None else [self, self.denied_by]

    def has(self, *kinds: Role) -> bool:
        """Whether it can be of one of these kinds."""
        return not self.kinds.isdisjoint(kinds)

    def sense(self, *kinds: Role) -> Sense | None:
        """Its first sense of one of these kinds."""
        if self.kinds.isdisjoint(kinds):  # most have none, and this is the quicker way to see it
            return None
        return next(sense for sense in self.senses if sense.kind in kinds)

    def become(self, sense: Sense) -> None:
        self.kind, self.values = sense.kind, sense.values

    def only(self, senses: Sequence[Sense]) -> None:
        """Leave it no other senses."""
        self.senses = list(senses)
        self.kinds = frozenset(sense.kind for sense in senses)


def segment(tokens: Sequence[Token], found: Sequence[Matches], lexicon: Lexicon, decided: Decided) -> list[Segment]:
    """The sentence cut into phrases, the longest first from the left; `found` are those that begin at each word, and
    `decided` those that their neighbours decided."""
    made: list[Segment] = []
    at = 0
    while at < len(tokens):
        if at in decided:
            length, sense = decided[at]
            made.append(Segment(tokens[at : at + length], [sense]))
            at += length
            continue
        word = tokens[at].kind == TokenKind.WORD
        part = _phrase(tokens, at, found, lexicon) if word else _other(tokens, at, found[at])
        made.append(part)
        at += len(part.tokens)
    return made


def _phrase(tokens: Sequence[Token], at: int, found: Sequence[Matches], lexicon: Lexicon) -> Segment:
    for length, senses in found[at]:
        if length > 1 and _crossed(found, at, length, senses):
            continue
        window = tokens[at : at + length]
        listed = length == 1 and _in_slashes(tokens, at, lexicon.sets.word_codes)
        named = tokens[at].capital and at + length < len(tokens) and tokens[at + length].key == ","
        allowed = [
            sense
            for sense in senses
            if listed or (named and sense.kind == Role.CITY) or _plausible(sense, tokens, at, length, lexicon)
        ]
        if allowed:
            if any(sense.kind in _OUTER for sense in allowed):
                allowed = [sense for sense in senses if sense in allowed or sense.kind == Role.CITY]
            return Segment(window, allowed, in_slashes=listed)
    return Segment(tokens[at : at + 1])


def _crossed(found: Sequence[Matches], at: int, length: int, senses: list[Sense]) -> bool:
    """Whether a name begins inside a phrase and ends after it: "with email|marketing", "con correo|electrónico"."""
    end = at + length
    if end >= len(found) or any(sense.kind in ENTITIES for sense in senses):
        return False
    alone = not found[end]
    return any(
        start + other > end and (alone or any(sense.kind in _NAMES for sense in said))
        for start in range(at + 1, end)
        for other, said in found[start]
        if other > 1
    )


def _other(tokens: Sequence[Token], at: int, found: Matches) -> Segment:
    """A number, path or sign, or the phrase that begins with it."""
    token, alone = tokens[at], tokens[at : at + 1]
    if token.kind not in (TokenKind.SIGN, TokenKind.WITH, TokenKind.WITHOUT):
        for length, senses in found:
            if length > 1:
                return Segment(tokens[at : at + length], senses)
    if token.kind == TokenKind.NUMBER:
        return Segment(alone, kind=Role.NUMBER, amount=read_amount(token.text))
    if token.kind == TokenKind.WITHOUT:
        return Segment(alone, [Sense(Role.NEGATION)])
    if token.kind == TokenKind.ELIDED:
        return Segment(alone, [Sense(Role.FUNCTION)])
    if token.kind == TokenKind.WITH:
        return Segment(alone, [Sense(Role.USING)])
    if token.key == "|" and 0 < at < len(tokens) - 1 and tokens[at - 1].end == token.start == tokens[at + 1].start - 1:
        return Segment(alone, [Sense(Role.OR)], kind=Role.SIGN)  # "platform=magento|prestashop"
    return Segment(alone, _signs(token), kind=Role(token.kind))


def _in_slashes(tokens: Sequence[Token], at: int, no_codes: Container[str]) -> bool:
    """A code in a list such as de/at/ch, without blanks."""
    token = tokens[at]
    if len(token.key) > 3 or token.key in no_codes:
        return False
    beside = [tokens[i] for i in (at - 1, at + 1) if 0 <= i < len(tokens)]
    return any(other.key == "/" and token.start in (other.end, other.start - len(token.text)) for other in beside)


def _signs(token: Token) -> list[Sense]:
    if token.key in (",", "/"):
        return [Sense(Role.COMMA)]
    if token.key in ("&", "+"):
        return [Sense(Role.AND)]
    return [Sense(Role.BREAK)] if token.key in ".;:!?\n|–—-()" else []


def _plausible(sense: Sense, tokens: Sequence[Token], at: int, length: int, lexicon: Lexicon) -> bool:
    """Whether a phrase may be meant at all: short codes only in capitals, towns only if not also a common word."""
    if sense.kind in AFTER_NUMBERS:
        before, after = tokens[max(0, at - 3) : at], tokens[at + length : at + length + 2]
        counted = any(token.kind == TokenKind.NUMBER or lexicon.role(token.key, Role.UNIT) for token in before)
        return counted and not any(token.kind == TokenKind.NUMBER for token in after)  # "over 5 and under 10" are two
    if sense.kind not in ENTITIES:
        return True
    if length > 1:
        # "de moins" is not Des Moines: common words in small letters name no town
        named = any(token.capital or token.key not in lexicon.common for token in tokens[at : at + length])
        return sense.kind != Role.CITY or named or _people(sense, lexicon) >= town_sizes.PHRASE_CITY
    token, kind = tokens[at], sense.kind
    if token.key in lexicon.sets.directions:
        return False
    capital_code = token.text.isupper() and token.key not in lexicon.sets.word_codes
    if kind == Role.STATE and "-" in sense.values[0] and len(token.key) <= 3:
        return True  # the lexicon has looked at its place
    if len(token.key) <= 3 and kind == Role.LANGUAGE:
        return False  # a code of a language is said in a list only
    if len(token.key) <= 2 and kind in _CODED:
        return capital_code or token.key in lexicon.sets.initialisms
    if len(token.key) == 3 and kind in _OFTEN_CODED and token.key in lexicon.common:
        return capital_code or token.key in lexicon.sets.initialisms
    if kind == Role.STATE and not token.capital and lexicon.is_word(token.key):
        named = any(value.split("-")[0].lower() in lexicon.sets.states_named for value in sense.values)
        return named or _expected(tokens, at, lexicon)  # "antique dealers" are not in the Philippines
    return kind != Role.CITY or _town_plausible(sense, tokens, at, lexicon)


def _expected(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether a place is expected: after a preposition of place."""
    return at > 0 and lexicon.role(tokens[at - 1].key, Role.PLACE_PREPOSITION) is not None


def _town_plausible(sense: Sense, tokens: Sequence[Token], at: int, lexicon: Lexicon) -> bool:
    """Whether a word names a town: a capital shows it, except where every word has one."""
    token, common = tokens[at], tokens[at].key in lexicon.common
    expected = _expected(tokens, at, lexicon)
    if token.key in lexicon.sets.first_names and fold(sense.values[0]) != token.key and not expected:
        return False  # "Regards, Marek"
    if expected and fold(sense.values[0]) == token.key and lexicon.english.get(token.key, _FREQUENT) >= _FREQUENT:
        return True
    begins = at == 0 or tokens[at - 1].key in _ENDS
    if (begins or not token.capital) and lexicon.is_word(token.key):
        if fold(sense.values[0]) != token.key and not _expected(tokens, at, lexicon):
            # another word than the town's own name: "doula services"; but "fitnessstudios köln"
            return _people(sense, lexicon) >= town_sizes.WORD_CITY
        return _people(sense, lexicon) >= (_least_people(tokens, at, lexicon) if common else town_sizes.WORD_TOWN)
    return not common or _people(sense, lexicon) >= (
        town_sizes.EXPECTED_TOWN if _expected(tokens, at, lexicon) else town_sizes.WORD_TOWN
    )


def _least_people(tokens: Sequence[Token], at: int, lexicon: Lexicon) -> int:
    """How large a city must be whose name is an everyday word in small letters: less where a place is expected."""
    before = tokens[at - 1].key if at else ""
    if _expected(tokens, at, lexicon):
        return town_sizes.WORD_TOWN
    listed = (
        before in (",", "/")
        or before in lexicon.sets.of
        or any(lexicon.role(before, kind) for kind in (Role.AND, Role.OR))
    )
    return town_sizes.LISTED_TOWN if listed else town_sizes.WORD_CITY


def _people(sense: Sense, lexicon: Lexicon) -> int:
    cities = lexicon.cities(sense.values[0])
    return cities[0].population if cities else 0
