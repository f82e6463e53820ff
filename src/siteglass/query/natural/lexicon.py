"""What words and phrases can mean: roles and names of the compiled tables, and the values of the vocabulary."""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import orjson

from siteglass.query.folding import compact_folded
from siteglass.query.natural.grammars import Grammar
from siteglass.query.natural.kinds import Role, TokenKind
from siteglass.query.natural.text import Token
from siteglass.query.natural.word_sets import word_sets
from siteglass.query.vocabulary import City, Vocabulary, vocabulary

ENGLISH = "en"
# Letters of these languages and of English texts about them; a word with another one, such as å or ř, is of none.
OWN_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789'’.-äöüßáíóúñàâçéèêëîïôœùûÿãõìòąćęłńśźż")
_NOT_READ = "other"
# So many unknown words are hardly all misspelt.
_MANY_UNKNOWN = 2
# What follows "e-": e-mail, e-commerce, e-shop.
_ELECTRONIC = ("mail", "commerce", "shop", "learning", "book", "bike", "business", "sport")
_POLISH, _WEAK_POLISH = "pl", "weak_pl"
# Names of products, categories and types are also found in other words than they are written in ("woo commerce").
_JOINED_WORDS = 4
# Shorter names of products are not written apart: "$500/mo on ads" is not Moon.
_SHORTEST_APART = 6
_WORDS_KEPT = 10_000
# No code of a state is longer.
_CODE = 3
# Looked up once: on Python 3.11 the member of an enum costs more than the rest of such a test.
_SIGN, _WITHOUT = TokenKind.SIGN, TokenKind.WITHOUT
# Roles that only tell what a word does to its neighbours, beside what it is.
HEAD_ROLES = frozenset((Role.SHOP_WORD, Role.SITE_WORD, Role.OFFERING_HEAD, Role.LABEL, Role.TRADE))
_PLURAL_KINDS = (Role.SERVICE_TYPE, Role.CATEGORY, Role.TECHNOLOGY)
# Kinds of words that a misspelt word is not taken for: they are short, many, and say little.
_NEVER_MEANT = frozenset(
    (
        Role.FUNCTION,
        Role.REQUESTS,
        Role.PAGE_NAME,
        Role.NUMBER_WORD,
        Role.UNIT,
        Role.MONTH,
        Role.INSTRUCTIONS,
        Role.JUDGEMENT,
        Role.AND,
        Role.OR,
    )
)

# "L.A." and "p.m." are not country codes.
_DOTTED = re.compile(r"[a-z]\.[a-z]")


@dataclass(frozen=True, slots=True)
class Sense:
    """One meaning of a phrase: its kind, and what it stands for."""

    kind: Role
    values: tuple[str, ...] = ()
    language: str = ""
    """The only language in whose sentences it counts: Dutch "of" is "or"."""


def own_kind(language: str, kind: str) -> str:
    """The kind of a sense that counts in one language only, as the tables write it."""
    return f"{language}:{kind}"


def _sense(kind: str, values: Iterable[str]) -> Sense:
    """A sense as the tables write it."""
    language, _, name = kind.rpartition(":")
    return Sense(Role(name), tuple(values), language)


def in_language(senses: Iterable[Sense], language: str) -> list[Sense]:
    """What a phrase can mean in a sentence of a language: its own meanings alone, if it has some there."""
    own = [replace(sense, language="") for sense in senses if sense.language == language]
    return own or [sense for sense in senses if not sense.language]


Matches = list[tuple[int, list[Sense]]]
"""The phrases that begin at a word: their length in words and what they can mean, the longest first."""


def print_of(word: str) -> int:
    """The checksum of a word in the list of known ones; one in 20,000 unknown words has that of a known one."""
    return zlib.crc32(word.encode())


@dataclass(frozen=True, slots=True)
class _Word:
    """What is known of a word: what it means by itself, and how long the phrases and names are that begin with it."""

    senses: list[Sense]
    phrase_words: int
    spoken_words: int
    begins_name: bool

    @property
    def most_words(self) -> int:
        return max(self.phrase_words, self.spoken_words, _JOINED_WORDS if self.begins_name else 1)


class Lexicon:
    """All phrases; looked up by the words of a sentence."""

    def __init__(self, content: dict[str, Any], known: Vocabulary) -> None:
        self._vocabulary = known
        senses = [_sense(kind, values) for kind, *values in content["senses"]]
        # Most phrases share their meanings with others, and so the list of them.
        shared: dict[tuple[int, ...], list[Sense]] = {}
        self._phrases: dict[str, list[Sense]] = {}
        for key, numbers in content["phrases"].items():
            several = tuple(numbers)
            self._phrases[key] = shared.get(several) or shared.setdefault(several, [senses[n] for n in numbers])
        self._longest_phrases: dict[str, int] = content["longest_phrases"]
        self._longest_names: dict[str, int] = content["longest_names"]
        self._joined = sorted(known.joined_names("technology", "category", "service_type"))
        self._joined_types = sorted(known.joined_names("category", "service_type"))
        self._codes = {code: Sense(Role.STATE, (state,)) for code, state in content["codes"].items()}
        self.english: dict[str, int] = {word: rank for rank, word in enumerate(content["english"])}
        """Everyday words of English, and how many are more frequent."""
        self.common: frozenset[str] = frozenset([*content["common"], *self.english])
        """Words that are used every day."""
        self._known = array("I", base64.b64decode(content["known"]))
        self._ordinary: frozenset[str] = (self.common | frozenset(content["ordinary"])) - frozenset(content["brands"])
        self.sets = word_sets(content["sets"])
        self.grammars = {language: Grammar(**known) for language, known in content["grammars"].items()}
        """Every language that is read."""
        self.beside_cities = {key: Sense(Role.CITY, tuple(city)) for key, city in content["beside_cities"].items()}
        """Words that are the name of a city beside another city."""
        self._votes: dict[str, list[str]] = content["votes"]
        # Sentences share most of their words with earlier ones.
        self._word = lru_cache(maxsize=_WORDS_KEPT)(self._look_up)
        known.cities_named("")  # sorted now, not while a request waits

    def telling_phrases(self) -> list[str]:
        """Phrases that say something about a lead."""
        telling = [key for key, senses in self._phrases.items() if not any(map(_is_never_meant, senses))]
        return [*telling, *self._vocabulary.joined_names("category", "service_type")]

    def is_word(self, word: str) -> bool:
        """Whether it is a word of one of the languages, and so not misspelt."""
        if word in self.common:
            return True
        near = bisect_left(self._known, print_of(word))
        return near < len(self._known) and self._known[near] == print_of(word)

    def begins_name(self, text: str) -> bool:
        """Whether the name of a product, category or service type begins with some words."""
        return _begins(self._joined, compact_folded(text))

    def is_ordinary(self, word: str) -> bool:
        """Whether a technology's name is first of all another word."""
        return word in self._ordinary

    def language(self, tokens: Sequence[Token], nouns: Iterable[str] = ()) -> str:
        """The language that most of the small words and of the nouns are of; English, if none is."""
        votes = Counter(language for at in range(len(tokens)) for language in self._votes_of(tokens, at))
        votes.update(nouns)
        del votes[_NOT_READ]
        if (weak := votes.pop(_WEAK_POLISH, 0)) and (weak > 1 or votes[_POLISH]):
            votes[_POLISH] += weak
        return max(votes, key=lambda language: (votes[language], language == ENGLISH), default=ENGLISH)

    def _votes_of(self, tokens: Sequence[Token], at: int) -> Sequence[str]:
        """The languages that a word is of: "e" in "e-mail" is not Portuguese, "non" in "non-US" not Italian."""
        if tokens[at].hyphen or (at and tokens[at - 1].hyphen):
            return ()
        electronic = tokens[at].key == "e" and at + 1 < len(tokens) and tokens[at + 1].key.startswith(_ELECTRONIC)
        return () if electronic else self._votes.get(tokens[at].key, ())

    def count_foreign(self, tokens: Iterable[Token]) -> int:
        """How many are small words of languages that are not read."""
        return sum(_NOT_READ in self._votes.get(token.key, ()) for token in tokens)

    def explains(self, language: str, tokens: Sequence[Token], foreign: int, unknown: int) -> bool:
        """Whether a language is that of a sentence in which so many words are of languages that are not read and so
        many are unknown: its small words are at least as many as the foreign ones, and more than one, or few words are
        unknown."""
        own = sum(language in self._votes_of(tokens, at) for at in range(len(tokens)))
        if foreign > own:
            return False
        return own > 1 or unknown == 0 or (unknown < _MANY_UNKNOWN and not foreign)

    def role(self, word: str, kind: Role) -> Sense | None:
        """The sense of that kind that a word has by itself."""
        for sense in self._phrases.get(word, ()):
            if sense.kind == kind and not sense.language:
                return sense
        return None

    def roles(self, word: str) -> frozenset[Role]:
        """What a word does in a sentence by itself; names of values are not roles."""
        return frozenset(sense.kind for sense in self._phrases.get(word, ()) if not sense.values)

    def state_of_code(self, code: str) -> Sense | None:
        """The state of the USA, Canada or Australia that a folded code stands for."""
        return self._codes.get(code.upper())

    def cities(self, name: str) -> list[City]:
        """Cities of a canonical name, the most populous first."""
        return self._vocabulary.cities_named(name)

    def matches(self, tokens: Sequence[Token], at: int) -> Matches:
        """Every phrase that begins at a word."""
        if tokens[at].kind == _SIGN:
            return []
        word = self._word(tokens[at].key)
        found = self._longer(tokens, at, word) if word.most_words > 1 else []
        code = self._code(tokens, at) if len(tokens[at].text) <= _CODE else None
        if word.senses or code:
            found.append((1, [*word.senses, code] if code else word.senses))
        return found

    def _longer(self, tokens: Sequence[Token], at: int, word: _Word) -> Matches:
        """The phrases of several words that begin at one."""
        end = _reach(tokens, at, word.most_words)
        joined_words = self._joined_words(tokens, at, end) if word.begins_name else 0
        found: Matches = []
        for length in range(min(end - at, max(word.phrase_words, word.spoken_words, joined_words)), 1, -1):
            if tokens[at + length - 1].kind == _SIGN:
                continue
            text = " ".join([token.key for token in tokens[at : at + length]])
            phrases = self._phrases.get(text, []) if length <= word.phrase_words else []
            senses = self._senses(text, phrases, spoken=length <= word.spoken_words, joined=length <= joined_words)
            if len(text) <= _SHORTEST_APART:
                senses = [sense for sense in senses if sense.kind != Role.TECHNOLOGY]
            if senses:
                found.append((length, senses))
        return found

    def _look_up(self, key: str) -> _Word:
        """What is known of a word by itself."""
        begins_name = _begins(self._joined, compact_folded(key).removesuffix("s"))
        senses = self._senses(key, self._phrases.get(key, []), spoken=True, joined=begins_name)
        phrase_words, spoken_words = self._longest_phrases.get(key, 1), self._longest_names.get(key, 1)
        return _Word(senses, phrase_words, spoken_words, begins_name)

    def _senses(self, text: str, phrases: list[Sense], *, spoken: bool, joined: bool) -> list[Sense]:
        senses = [*phrases, *self._values(text, spoken=spoken, joined=joined)]
        if joined and text.endswith("s") and len(text) > 4 and all(sense.kind in HEAD_ROLES for sense in senses):
            singular = self._values(text[:-1], spoken=False, joined=True)
            senses.extend(sense for sense in singular if sense.kind in _PLURAL_KINDS)
        return senses

    def _joined_words(self, tokens: Sequence[Token], at: int, end: int) -> int:
        """How many words, written as one, begin a name of a product, category or type."""
        text, keys = "", self._joined
        small = True
        for i in range(at, min(end, at + _JOINED_WORDS)):
            text += compact_folded(tokens[i].key)
            small = small and tokens[i].key in self._votes
            if i > at and (small or len(tokens[at].key) == 1) and not _begins(self._joined_types, text):
                return i - at  # "de no máximo" is not Deno
            stem = text.removesuffix("s")
            if not _begins(keys, stem):
                return i - at
        return min(end - at, _JOINED_WORDS)

    def _values(self, text: str, *, spoken: bool, joined: bool) -> list[Sense]:
        if _DOTTED.fullmatch(text):
            return []
        found: list[tuple[str, tuple[str, ...]]] = []
        if spoken:
            found.extend(self._vocabulary.spoken(text))
        if joined:
            found.extend(self._vocabulary.joined(text))
        return [Sense(Role(kind), values) for kind, values in found]

    def _code(self, tokens: Sequence[Token], at: int) -> Sense | None:
        """A state's code, if it is written in capitals or follows a city."""
        text, key = tokens[at].text, tokens[at].key
        code = self._codes.get(text.upper())
        capital = (text.isupper() and key not in self.sets.word_codes) or key in self.sets.initialisms
        return code if code and (capital or self._follows_city(tokens, at)) else None

    def _follows_city(self, tokens: Sequence[Token], at: int) -> bool:
        before = at - 1 if at and tokens[at - 1].kind == TokenKind.WORD else at - 2
        if before < 0 or tokens[before].kind != TokenKind.WORD:
            return False
        name = tokens[before].key
        if before and tokens[before - 1].kind == TokenKind.WORD and self._is_city(f"{tokens[before - 1].key} {name}"):
            return True
        return (name not in self.common or tokens[before].capital or at - before > 1) and self._is_city(name)

    def _is_city(self, name: str) -> bool:
        return any(kind == "city" for kind, _ in self._vocabulary.spoken(name))


def _is_never_meant(sense: Sense) -> bool:
    return sense.kind in _NEVER_MEANT and not sense.language


def _begins(keys: list[str], text: str) -> bool:
    """Whether one of the sorted keys begins with a text."""
    near = bisect_left(keys, text)
    return near < len(keys) and keys[near].startswith(text)


def _reach(tokens: Sequence[Token], at: int, most: int) -> int:
    """How far a phrase can reach: not across a sign, except for those that names have."""
    end = min(at + most, len(tokens))
    for i in range(at + 1, end):
        kind = tokens[i].kind
        if kind == _WITHOUT or (kind == _SIGN and tokens[i].key not in "&.+"):
            return i
    return end


def can_be_found(phrase: Sequence[Token]) -> bool:
    """Whether a phrase of the tables can be found in a sentence at all."""
    outer = [phrase[0], phrase[-1]] if phrase else []
    return (
        bool(outer) and all(t.kind != TokenKind.SIGN for t in outer) and _reach(phrase, 0, len(phrase)) == len(phrase)
    )


@cache
def lexicon() -> Lexicon:
    """The lexicon that is shipped; read at the first call."""
    packed = files("siteglass.query.natural").joinpath("phrases.json.gz").read_bytes()
    return Lexicon(orjson.loads(gzip.decompress(packed)), vocabulary())
