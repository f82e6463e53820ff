"""Words that nobody knows become the known word they are most like, if it is much like it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from functools import cache
from string import ascii_lowercase

from siteglass.query.folding import fold
from siteglass.query.natural.kinds import Role, TokenKind
from siteglass.query.natural.lexicon import ENGLISH, Lexicon, Matches, Sense, lexicon
from siteglass.query.natural.text import Token
from siteglass.query.nearest import Candidates
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary

# Shorter words are like too many; the few small ones that a sentence turns on are put right from three letters on.
SHORTEST = 5
SHORTEST_SMALL = 3
LONGEST = 30
# Words with more than one slip are like too many, unless they are long.
SHORTEST_TWICE = 7
CITIES = 5_000
_COUNTRY_SIMILARITY = 0.7
# Cases of foreign names in Polish.
_ENDINGS = ("ie", "em", "owi", "a", "u", "ze")
# A phrase that begins so many words before may cover the word.
_REACH = 3


@cache
def tiers() -> tuple[frozenset[str], ...]:
    """What a word with one slip may have been meant for: the likeliest first."""
    known, words = vocabulary(), lexicon()
    places = [form for kind in ("country", "region", "subregion") for form in known.spoken_forms(kind)]
    return (
        _words([*words.telling_phrases(), *places]),
        _words([*map(fold, known.technologies()), *known.joined_names("technology")]),
        _words(map(fold, _state_names())),
        single_trades(),
        words.common,
        _words(fold(city.name) for city in known.cities()[:CITIES]),
    )


@cache
def _known_words() -> frozenset[str]:
    """All words that a misspelt one may have been meant for."""
    every = _words(_trade_names()).union(*tiers())
    return frozenset(word for word in every if len(word) >= SHORTEST)


@cache
def single_trades() -> frozenset[str]:
    """Names of trades of one word."""
    return _words(name for name in _trade_names() if " " not in name)


@cache
def _sounds() -> dict[str, list[str]]:
    """How a word of a trade, category or service type sounds -> the words that sound so."""
    found: dict[str, list[str]] = {}
    names = [*_trade_names(), *vocabulary().joined_names("category", "service_type")]
    for word in sorted(_words(names)):
        found.setdefault(_sound(word), []).append(word)
    return found


def _words(names: Iterable[str]) -> frozenset[str]:
    """The longer words of folded names."""
    return frozenset([word for word in " ".join(names).split(" ") if len(word) >= SHORTEST])


@cache
def similar() -> Candidates:
    """Names that may be meant by a word with more than one slip, what is meant most often first."""
    known = vocabulary()
    keys = dict.fromkeys([*known.spoken_forms("country"), *_state_names()])
    keys |= dict.fromkeys(name.lower() for name in known.technologies())
    keys |= dict.fromkeys(known.joined_names("category", "service_type"))
    keys |= dict.fromkeys(word for name in _trade_names() for word in name.split(" "))
    return Candidates(key for key in keys if len(key) > SHORTEST and " " not in key)


@cache
def countries() -> Candidates:
    """Names of countries: they are long and unlike other words, so more slips are forgiven."""
    known = vocabulary()
    names = [known.country_name(country).lower() for country in known.values("country")]
    return Candidates([name for name in names if " " not in name], similarity=_COUNTRY_SIMILARITY)


@cache
def _short_countries() -> frozenset[str]:
    """Countries and American states of five letters, which are missed with four: "itly", "txas"."""
    known = vocabulary()
    names = [*map(known.country_name, known.values("country")), *known.states_of("USA").values()]
    return frozenset(name.lower() for name in names if len(name) == SHORTEST)


def load() -> None:
    """Make what the first misspelt word would otherwise wait for."""
    tiers()
    similar()
    countries()
    _sounds()
    _known_words()


def _trade_names() -> list[str]:
    """In English, singular and plural: in other languages they are too much like other words."""
    names = [fold(trades().name(trade)) for trade in trades().ids()]
    return [*names, *(f"{name}s" for name in names if not name.endswith("s"))]


def _state_names() -> list[str]:
    known = vocabulary()
    return [name.lower() for country in known.values("country") for name in known.states_of(country).values()]


def corrected(
    tokens: list[Token], found: list[Matches], words: Lexicon, language: str, kept: Container[int] = frozenset()
) -> list[Token]:
    """The same words, the unknown ones put right but those to keep; `found` are the phrases that begin at each."""
    if words.grammars[language].without_words:
        return [_uninflected(token) if not found[at] else token for at, token in enumerate(tokens)]
    made = list(tokens)
    for at, token in enumerate(tokens):
        near = None
        if at not in kept and _is_plain(token) and not _covered(tokens, found, at):
            near = _Misspelling(made, at, words, english=language == ENGLISH).meant()
        if near and near != token.key:
            made[at] = replace(token, key=near, corrected=True)
    return made


def _uninflected(token: Token) -> Token:
    """The name of a product in the nominative: "HubSpota", "na WordPressie"."""
    if token.kind == TokenKind.WORD and token.capital:
        for ending in _ENDINGS:
            stem = token.key.removesuffix(ending)
            if stem != token.key and len(stem) >= SHORTEST_SMALL and vocabulary().joined(stem):
                return replace(token, key=stem)
    return token


def _is_plain(token: Token) -> bool:
    return (
        token.kind == TokenKind.WORD
        and SHORTEST_SMALL <= len(token.key) <= LONGEST
        and token.key.replace(".", "").isalpha()
        and not token.hyphen
    )


def _covered(tokens: list[Token], found: list[Matches], at: int) -> bool:
    """Whether the word is a phrase, or part of one. In small letters an odd form of a town's name does not count."""
    own = found[at] if tokens[at].capital else [match for match in found[at] if not _only_town(match)]
    return bool(own) or any(
        start + length > at for start in range(max(0, at - _REACH), at) for length, _ in found[start]
    )


def _only_town(match: tuple[int, list[Sense]]) -> bool:
    length, senses = match
    return length == 1 and all(sense.kind == Role.CITY for sense in senses)


class _Misspelling:
    """A word that may be misspelt, and its neighbours."""

    def __init__(self, tokens: list[Token], at: int, words: Lexicon, *, english: bool) -> None:
        self._word = tokens[at].key
        self._words = words
        self._english = english
        self._before = tokens[at - 1].key if at and tokens[at - 1].kind == TokenKind.WORD else ""
        self._two_before = f"{tokens[at - 2].key} {self._before}" if at > 1 and self._before else ""
        self._after = tokens[at + 1].key if at + 1 < len(tokens) and tokens[at + 1].kind == TokenKind.WORD else ""

    def meant(self) -> str | None:
        """The known word it was meant for, or None."""
        words, word = self._words, self._word
        if words.is_word(word):
            return self._completing() if word not in words.english or len(word) > SHORTEST else None
        if words.is_word(word.removesuffix("s")):
            # "upholsterers" is right, and so is a name in the plural; but "plummers" are plumbers
            slips = [other for other in self._slips() if other in single_trades()]
            if len(word) < SHORTEST and (place := self._small()) in _short_countries():
                return place  # "Texs"
            return self._completing() or (slips[0] if slips and word.removesuffix("s") not in words.common else None)
        if len(word) < SHORTEST:
            return self._small()
        return self._one_slip() or self._several_slips()

    def _small(self) -> str | None:
        word = self._word
        small = self._words.sets.small_words
        if len(word) > SHORTEST_SMALL:
            small |= _short_countries()
        return next((other for other in _one_slip_from(word) if other in small and other[0] == word[0]), None)

    def _one_slip(self) -> str | None:
        slips = self._slips()
        if named := next((other for other in slips if self._completes(other)), None):
            return named
        common = self._words.common
        for known in tiers():
            near = [other for other in slips if other in known]
            if known is common:
                near = [other for other in near if _same_end(self._word, other)]
            if near:
                return self._likeliest(near)
        return None

    def _likeliest(self, near: list[str]) -> str:
        """Of English sentences the most frequent English word, if one is among them; else the likeliest slip."""
        ranks = self._words.english
        ranked = [other for other in near if other in ranks] if self._english else []
        return min(ranked, key=lambda other: (other[-1] != self._word[-1], ranks[other])) if ranked else near[0]

    def _several_slips(self) -> str | None:
        word = self._word
        if len(word) >= SHORTEST_TWICE - 1 and (similar_sounds := _sounds().get(_sound(word))):
            return min(similar_sounds, key=lambda other: abs(len(other) - len(word)))
        return (similar().nearest(word) if len(word) >= SHORTEST_TWICE else None) or countries().nearest(word)

    def _completing(self) -> str | None:
        """A known word that belongs to no name, while a word like it does: "google tag manger", "wedding planers"."""
        if self._words.roles(self._before) or not self._begins_name() or self._completes(self._word):
            return None
        return next((other for other in self._slips() if self._completes(other)), None)

    def _slips(self) -> list[str]:
        """Known words one slip away, the likeliest slip first."""
        known = _known_words()
        return [other for other in _one_slip_from(self._word) if other in known]

    def _begins_name(self) -> bool:
        before = [text for text in (self._before, self._two_before) if text]
        return any(trades().begins_form(text) or self._words.begins_name(text) for text in before)

    def _completes(self, other: str) -> bool:
        """Whether a word makes a name with its neighbours: "New Zeland" is not in the Netherlands."""
        names = (
            f"{self._before} {other}" if self._before else "",
            f"{self._two_before} {other}" if self._two_before else "",
            f"{other} {self._after}" if self._after else "",
        )
        return any(
            name and (vocabulary().spoken(name) or vocabulary().joined(name) or _is_trade(name)) for name in names
        )


def _is_trade(name: str) -> bool:
    return ENGLISH in trades().meanings(name)


def _same_end(word: str, other: str) -> bool:
    """An everyday word with another end is another word: "landscapers" are not landscapes."""
    return word[-3:] == other[-3:] or sorted(word) == sorted(other)


# Letters that are written for each other because they sound the same.
_RESPELLED = (("ph", "f"), ("ck", "k"), ("qu", "k"), ("sh", "s"), ("ce", "s"), ("ci", "s"), ("cy", "s"), ("c", "k"),
              ("z", "s"), ("x", "ks"), ("y", "i"), ("h", ""))  # fmt: skip


def _sound(word: str) -> str:
    """The consonants of a word, those with the same sound as one: "bycicle" sounds like "bicycle"."""
    for written, sounded in _RESPELLED:
        word = word.replace(written, sounded)
    rest = [letter for at, letter in enumerate(word[1:], start=1) if letter not in "aeiou" and letter != word[at - 1]]
    return word[:1] + "".join(rest)


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
# Letters that sound similar in one of the languages.
_SIMILAR_SOUNDS = ("aeiouy", "cksz", "bpv", "dt", "fv", "gj", "mn", "bm")


def _confused() -> dict[str, str]:
    """A letter -> those typed or written in its place: beside it on the keyboard, or similar in sound."""
    found: dict[str, set[str]] = {letter: set() for letter in ascii_lowercase}
    for row, letters in enumerate(_ROWS):
        for column, letter in enumerate(letters):
            near = [
                _ROWS[other][column - 1 : column + 2] for other in (row - 1, row, row + 1) if 0 <= other < len(_ROWS)
            ]
            near = [some or _ROWS[row][:2] for some in near]
            found[letter].update("".join(near))
    for group in _SIMILAR_SOUNDS:
        for letter in group:
            found[letter].update(group)
    return {letter: "".join(sorted(others - {letter})) for letter, others in found.items()}


_CONFUSED = _confused()


def _one_slip_from(word: str) -> Iterator[str]:
    """Every text that one slip of the fingers makes from a word, the most likely slips first.

    The first letter is hardly ever the wrong one, but it may have changed places with the second.
    """
    places = range(1, len(word))
    doubled = [i for i in places if word[i] == word[i - 1]]
    for i in range(len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    for i in doubled:
        yield word[:i] + word[i + 1 :]
    for i in range(1, len(word) + 1):
        for letter in ascii_lowercase:
            yield word[:i] + letter + word[i:]
    for i in places:
        for letter in _CONFUSED.get(word[i], ""):
            yield word[:i] + letter + word[i + 1 :]
    for i in places:
        if i not in doubled:
            yield word[:i] + word[i + 1 :]
