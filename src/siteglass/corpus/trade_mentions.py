"""Trades that a text names, and whose they are: a mention is not an identity.

Trade words are found anywhere in a text, the longest first. The words around them, see `trade_context`, show those of
customers ("software for dentists"), of things ("dental supplies") and of the subject of an article.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from siteglass.corpus import trade_context as context
from siteglass.query.folding import compact, fold
from siteglass.query.trades import trades

OF_OTHERS = 3

_MOST_WORDS = 6
_START_CHARS = 6
_MIN_COMPOUND, _MIN_ENDING = 9, 5
_MIN_HOST_WORD = 5
_MIN_GOODS = 4
_SENTENCE_WORDS = 6
_NAME_CHARS = 60
_CUE_WORDS, _MIN_NAME = 4, 3

_TOKEN = re.compile(r"[^\W_]+|&|[,/+]|[|:;.!?()\[\]•·»«›‹…]|(?<= )-(?= )")
_WORD = re.compile(r"[^\W_]+")
_SERVICE_WORDS = 4
_ABOUT_WORDS = frozenset([phrase for phrase in context.ABOUT_TRADES if " " not in phrase])
_ABOUT_PHRASES = tuple([f" {phrase} " for phrase in context.ABOUT_TRADES if " " in phrase])
_WEAK = frozenset(",/+")
_STRONG = frozenset("|:;.!?()[]•·»«›‹…-")
_BREAKS = _WEAK | _STRONG
_AND = frozenset("&")
_JOINING = frozenset(["and", "y", "e", "i", "en"])
_JOINED = [["and"], ["&"], ["und"], ["et"], ["y"], ["e"], ["en"], ["i"], ["oraz"]]
_COMPOUNDING = frozenset({"de", "nl"})
_HEAD_FIRST = frozenset({"fr", "es", "pt", "it", "pl"})
# Two trades side by side of which both are meant: "Hotel Restaurant", "Bäckerei Konditorei".
_HOUSES = frozenset({"hospitality", "gastronomy", "food"})
_SHOPS_OF_ANYTHING = frozenset(
    {"online_shop", "convenience_store", "department_store", "discount_store", "thrift_store", "gift_shop", "copy_shop"}
)


class Mention(NamedTuple):
    """A trade in a text."""

    trade: str
    phrase: str
    """What a brand repeats, see `_phrase`; "" if nothing like it."""
    rank: int
    """0: it opens or closes a phrase, 1: inside of one, 2: in doubt, OF_OTHERS: it is not the site's own."""
    is_placed: bool = False
    """As in "Dentist in Leeds"."""
    is_identity: bool = False
    """As in "we are a family-run bakery"."""


class _Hit(NamedTuple):
    start: int
    end: int
    trade: str
    word: str


def is_about_trades(title: str) -> bool:
    """Whether a title is that of an article, a directory or a comparison."""
    tokens = _TOKEN.findall(fold(title))
    if not _ABOUT_WORDS.isdisjoint(tokens):
        return True
    spaced = f" {' '.join(tokens)} "
    return any(phrase in spaced for phrase in _ABOUT_PHRASES)


def names_software(text: str) -> bool:
    """Whether a text is about software: on the site of a company that sells it, its own."""
    return not context.SOFTWARE_WORDS.isdisjoint(_TOKEN.findall(fold(text)))


@cache
def trade_words(language: str) -> TradeWords:
    """Those of the language of a site; English ones if the tables do not have the language."""
    return TradeWords(language) if language in trades().languages else trade_words("en")


class TradeWords:
    """The trade words of a language."""

    def __init__(self, language: str) -> None:
        self._forms = trades().forms(language)
        self._english = trades().forms("en")
        self._is_head_first = language in _HEAD_FIRST
        self._min_compound = _MIN_COMPOUND if language in _COMPOUNDING else 1_000
        # No form begins with most words of a text: their first letters show it.
        keys = [*self._forms, *self._english]
        starts = {key[:length] for key in keys for length in range(1, _START_CHARS + 1)}
        self._starts = frozenset(starts)
        self._goods = dict(_goods(language))
        self._services = trades().services(language)
        self._with_services = frozenset([trade for some in self._services.values() for trade in some])

    def mentions(self, text: str, host: str) -> list[Mention]:
        """The trades that a text names, whoever has them; `host` is the site's, without its ending."""
        tokens = _TOKEN.findall(fold(text))
        hits = self._without_attributes(tokens, list(self._hits(tokens)))
        said = [_mention(tokens, hit, host) for hit in hits]
        for place in range(len(said) - 2, -1, -1):  # "restaurant and bar in Bristol": the place is that of both
            if said[place + 1].is_placed and tokens[hits[place].end : hits[place + 1].start] in _JOINED:
                said[place] = said[place]._replace(is_placed=True)
        return said

    def goods(self, text: str) -> list[Mention]:
        """The trades of shops that sell the goods a text names: "bicycles" are sold by a bicycle shop."""
        tokens = _TOKEN.findall(fold(text))
        words = [*tokens, *[left + right for left, right in pairwise(tokens)]]
        return [Mention(self._goods[word], "", 1) for word in words if word in self._goods]

    def services(self, text: str) -> dict[str, float]:
        """How many services and goods of each trade a text names; one that several trades have counts in part."""
        tokens = _WORD.findall(fold(text))
        said: set[str] = set()
        for count in range(1, _SERVICE_WORDS + 1):
            said.update(map("".join, zip(*[tokens[start:] for start in range(count)], strict=False)))
        found: dict[str, float] = {}
        # `intersection` would go through all services. Sorted: sums of fractions depend on their order.
        for key in sorted(said & self._services.keys()):
            for trade in self._services[key]:
                found[trade] = found.get(trade, 0) + 1 / len(self._services[key])
        return found

    def has_services(self, trade: str) -> bool:
        """Whether it is known what businesses of this trade do and sell."""
        return trade in self._with_services

    def of_host(self, host: str) -> set[str]:
        """As in "dachdeckerei-mueller" and "smithroofing"."""
        said: set[str] = set()
        for word in host.split("-"):
            starts = [word[start:] for start in range(len(word) - _MIN_HOST_WORD + 1)]
            ends = [word[:end] for end in range(len(word), _MIN_HOST_WORD - 1, -1)]
            part = next((part for part in (*starts, *ends) if part in self._forms), None)
            if part and part not in context.NAME_WORDS:
                said.add(self._forms[part])
        return said

    def of_names(self, names: Sequence[str]) -> set[str]:
        """Trades that are the whole of a name, such as a keyword or the last part of a path."""
        keys = [compact(name[:_NAME_CHARS]) for name in names]
        return {self._forms[key] for key in keys if key in self._forms}

    def of_words(self, text: str) -> set[str]:
        """Trades that single words of a text name, whoever has them."""
        words = set(_TOKEN.findall(fold(text))) - context.NAME_WORDS
        return {self._forms[word] for word in words if word in self._forms}

    def _hits(self, tokens: list[str]) -> Iterator[_Hit]:
        """The longest trade words from the left; they do not overlap."""
        starts, forms, long = self._starts, self._forms, self._min_compound
        end = 0
        for place, (token, following) in enumerate(zip(tokens, (*tokens[1:], ""), strict=False)):
            # A short word may begin many forms, and does so with what follows it only.
            start = token if len(token) >= _START_CHARS or following in _AND else token + following
            if start[:_START_CHARS] in starts or token in forms or len(token) >= long:
                hit = self._hit(tokens, place) if place >= end else None
                if hit is not None:
                    yield hit
                    end = hit.end

    def _hit(self, tokens: list[str], place: int) -> _Hit | None:
        key, hit = "", None
        for end in range(place, min(place + _MOST_WORDS, len(tokens))):
            token = tokens[end]
            if token in _AND:  # "bed & breakfast" is listed as "bed and breakfast", "bar & grill" without
                following = tokens[end + 1] if end + 1 < len(tokens) else ""
                key += "and" if f"{key}and{following}" in self._forms else ""
                continue
            key += token
            if token in _BREAKS or key[:_START_CHARS] not in self._starts:
                break
            # Other languages use English phrases, but a single word usually belongs to the language itself.
            trade = self._forms.get(key) or (self._english.get(key) if end > place else None)
            # "Steuerberater in Mainz" is not a Steuerberaterin.
            if trade and (end == place or token not in context.LINKS):
                hit = _Hit(place, end + 1, trade, key)
        if hit is None and len(tokens[place]) >= self._min_compound:
            return self._compound(tokens[place], place)
        return hit

    def _compound(self, word: str, place: int) -> _Hit | None:
        """A "Familienrestaurant" is a restaurant: German and Dutch words are what their ending is."""
        for start in range(3, len(word) - _MIN_ENDING + 1):
            ending = word[start:]
            if ending in context.VAGUE_ENDINGS:
                return None
            if ending in self._forms:
                return _Hit(place, place + 1, self._forms[ending], ending)
        return None

    def _without_attributes(self, tokens: list[str], hits: list[_Hit]) -> list[_Hit]:
        """Without trades that only describe another: "restaurant marketing agency", "association of dentists"."""
        dropped: set[int] = set()
        for number, (left, right) in enumerate(pairwise(hits)):
            between = tokens[left.end : right.start]
            if not between:
                if not {trades().top(left.trade), trades().top(right.trade)} <= _HOUSES:
                    dropped.add(number + 1 if self._is_head_first else number)
            elif context.LINKS.issuperset(between) and between[0] not in _JOINING:
                dropped.add(number + 1)
        return [hit for number, hit in enumerate(hits) if number not in dropped]


def _goods(language: str) -> Iterator[tuple[str, str]]:
    """Names of goods and the trade of a shop for them, from "bicycle store" and "tienda de bicicletas"."""
    befores, afters = context.SHOPS[language]
    forms = trades().forms(language)
    for key, trade in forms.items():
        if trade in _SHOPS_OF_ANYTHING or (trades().top(trade) != "retail" and not trade.endswith("_shop")):
            continue
        rests = [key.removeprefix(one) for one in befores if key.startswith(one)]
        rests += [key.removesuffix(one) for one in afters if key.endswith(one)]
        for rest in rests:
            for word in (rest, f"{rest}s") if language == "en" else (rest,):
                if len(rest) >= _MIN_GOODS and word not in forms and word not in context.NOT_GOODS:
                    yield word, trade


def _mention(tokens: list[str], hit: _Hit, host: str) -> Mention:
    begin = hit.start
    while begin and tokens[begin - 1] not in _STRONG:
        begin -= 1
    before = tokens[begin : hit.start]
    after = tokens[hit.end] if hit.end < len(tokens) else ""
    phrase = _phrase(before[-1] if before else "", hit.word, after)
    if after in context.THINGS_AFTER or _is_of_others(before, hit.word):
        return Mention(hit.trade, phrase, OF_OTHERS)
    # What follows the last comma: "Smith & Co, plumbers".
    part = before[max([place + 1 for place, token in enumerate(before) if token in _WEAK], default=0) :]
    is_opening = all(token in context.BEFORE_TRADE or token in _AND for token in part)
    is_closing = not after or after in _BREAKS or after in context.AFTER_TRADE or after in _AND
    if is_opening and not is_closing:  # "Publishers to testify against Apple" opens a sentence, and not a name
        following = tokens[hit.end : hit.end + _SENTENCE_WORDS]
        is_opening = len(following) < _SENTENCE_WORDS or not _STRONG.isdisjoint(following)
    if hit.word in context.NAME_WORDS or not context.WITH.isdisjoint(before):
        rank = 2
    else:
        rank = 0 if is_opening or is_closing else 1
    is_placed = rank == 0 and after in context.PLACE_WORDS and hit.end + 1 < len(tokens)
    return Mention(hit.trade, phrase, rank, is_placed, _is_identity(before, host))


def _phrase(before: str, word: str, after: str) -> str:
    """The word with its neighbour, where that may be a name: "Bluebonnet Roofing", "Hotel Grubenhof"."""
    if before and before not in _BREAKS and before not in context.BEFORE_TRADE and before not in context.LINKS:
        return f"{before} {word}"
    return f"{word} {after}" if after and after not in _BREAKS and after not in context.AFTER_TRADE else ""


def _is_of_others(before: list[str], word: str) -> bool:
    """Whether the words before a trade in its clause say that somebody or something else has it."""
    for place, token in enumerate(before):
        if token in context.OF_OTHERS and (place == 0 or before[place - 1] not in context.OWN_PLACES):
            return True
    if before and before[-1] == "best" and word.endswith("s"):
        return True
    near = len(before) - 1
    while near >= 0 and before[near] in context.LINKS:
        near -= 1
    return near >= 0 and before[near] in context.THINGS_BEFORE


def _is_identity(before: list[str], host: str) -> bool:
    """As in "we are a family-run bakery", and in "Reliable Rooter is a plumbing company" on reliablerooter.com."""
    for place in range(len(before) - 2, max(-1, len(before) - 3 - _CUE_WORDS), -1):
        if before[place + 1] in context.NOT_BETWEEN:
            return False
        cue = before[place], before[place + 1]
        if cue in context.FIRST_PERSON:
            return True
        name = before[place - 1] if place else ""
        if cue in context.THIRD_PERSON and len(name) >= _MIN_NAME and name in host:
            return True
    return False
