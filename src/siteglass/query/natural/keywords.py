"""Left-over words to keywords: only where a noun phrase about the business or its pages is.

A run of left-over words becomes a keyword by its place in the sentence, never because it is left over:

- in quotes;
- the object of a verb such as "selling", or of "about": "stores selling maple syrup";
- beside the noun that says what is looked for: "emergency locksmiths", "tiendas de cosmética natural";
- in a list with such a run, or with a trade: "plumbers, roofers or chimney sweeps";
- as that noun itself, if nothing else says what is looked for: "escape rooms in Wales".

Everything else is chat, a purpose, a signature or a misspelling, and is reported as not used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from siteglass.query.natural.kinds import ENTITIES, PLACES, Role
from siteglass.query.natural.lexicon import ENGLISH
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence

# Why words that may well be a condition became none.
NO_VALUE = "no known value, so it cannot be excluded"
_WORD = re.compile(r"\w")
# How sure a keyword is by its reason: beside a noun or a verb of business, and elsewhere.
_CONFIDENCE = {"quoted": 0.97, "object": 0.97, "modifier": 0.97}
_LOOSE = 0.9
# What a noun phrase is built around.
_HEADS = frozenset(
    (
        Role.GENERIC,
        Role.SHOP_WORD,
        Role.SITE_WORD,
        Role.OFFERING_HEAD,
        Role.OFFERING_AFTER,
        Role.LAW_FIRM,
        Role.AGENCY_OF,
    )
)
# Between a noun and what it is about: "boutiques Shopify de bougies", "blogs en español sobre criptomonedas".
_BETWEEN = frozenset((*PLACES, Role.LANGUAGE, Role.SPOKEN, Role.TECHNOLOGY))
_MOST_LINKS = 4
# So far a trade is from a run that is in a list with it.
_NEAR = 6
# So many runs are looked at for the noun of the request.
_MOST_HEADS = 8


@dataclass(slots=True)
class _Run:
    """Left-over words side by side, by their numbers."""

    places: list[int]
    reason: str = ""
    """Why it is a keyword; nothing if it is not."""

    @property
    def first(self) -> int:
        return self.places[0]

    @property
    def last(self) -> int:
        return self.places[-1]


def read_keywords(sentence: Sentence) -> None:
    """Write one line for each phrase that is a keyword, or for a list with "or"."""
    runs = [run for some in _runs(sentence) if (run := _trimmed(sentence, some))]
    _Judge(sentence, runs).decide()
    kept = [run.places for run in runs if run.reason]
    sure = {run.first: _CONFIDENCE.get(run.reason, _LOOSE) for run in runs}
    for some in _alternatives(sentence, kept):
        parts = [sentence.parts[at] for phrase in some for at in phrase]
        texts = [" ".join(sentence.parts[at].meant for at in phrase) for phrase in some]
        sentence.say("keywords", texts, parts, "keyword", confidence=min(sure[phrase[0]] for phrase in some))


def is_left(part: Segment) -> bool:
    """Whether a word is of no known kind, and nothing was made of it."""
    plain = not part.used and part.kind == Role.UNKNOWN and all(sense.kind in ENTITIES for sense in part.senses)
    return plain and _WORD.search(part.text) is not None


def _runs(sentence: Sentence) -> list[list[int]]:
    """Left-over words, those side by side together; denied ones are reported here."""
    runs: list[list[int]] = []
    for at, part in enumerate(sentence.parts):
        if not is_left(part):
            inside = bool(runs) and runs[-1][-1] == at - 1
            linked = part.key in sentence.sets.inside_nouns and _noun_goes_on(sentence, at)
            if not inside or not (linked or (part.kind == Role.TOOL_NOUNS and not part.used)):  # "dental software"
                continue
        elif part.negated:
            sentence.refuse(part.with_denial(), NO_VALUE)
            continue
        elif part.key == "online" and (shop := _sells_online(sentence)):
            sentence.join(part, shop.readings)  # "online jewelry stores"
            continue
        if runs and runs[-1][-1] == at - 1:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _trimmed(sentence: Sentence, places: list[int]) -> _Run | None:
    """The run without chat and verbs at its ends: "hope u r well", "basically wedding florists". What is before a noun
    stays: "travel blogs", "roasted coffee"."""
    if any(token.quoted for at in places for token in sentence.parts[at].tokens):
        return _Run(places, "quoted")
    after = sentence.after(places[-1])
    if after is not None and after.key in (":", "="):
        return None  # "geo: Benelux", the name of a field
    modifies, sets = after is not None and is_head(after), sentence.sets
    start, end = 0, len(places)
    while start < end and sentence.parts[places[start]].key in sets.about:
        start += 1  # Dutch "voor" has no other role
    while end > start and _is_chat(sentence, places[end - 1], () if modifies else (sets.verbs, sets.participles)):
        end -= 1
    while start < end and _is_chat(sentence, places[start], (sets.verbs,) if end - start > 1 or not modifies else ()):
        start += 1
    return _Run(places[start:end]) if start < end else None


def _is_chat(sentence: Sentence, at: int, verbs: tuple[frozenset[str], ...]) -> bool:
    """Whether a word says nothing on a page: "hope", "idc", "Tuesday", a bare number."""
    part, sets = sentence.parts[at], sentence.sets
    if part.has(Role.FUNCTION):
        return True
    lists = (sets.unlikely, *((sets.chat, sets.first_names, *verbs) if sentence.language == ENGLISH else ()))
    return all(token.key.isdigit() or any(token.key in words for words in lists) for token in part.tokens)


def is_head(part: Segment) -> bool:
    """Whether a word says what is looked for, or is a noun of it such as "companies"."""
    return part.kind in (Role.TRADE, Role.SERVICE_TYPE) or part.has(*_HEADS)


class _Judge:
    """Decides which runs are keywords."""

    def __init__(self, sentence: Sentence, runs: list[_Run]) -> None:
        self._sentence = sentence
        self._parts = sentence.parts
        self._runs = runs

    def decide(self) -> None:
        for run in self._runs:
            run.reason = run.reason or self._by_neighbours(run)
        said = any(self._says_business(part) for part in self._parts)
        loose = [run for run in self._runs if not run.reason]
        if not said and not any(run.reason for run in self._runs):
            head = next((run for run in loose[:_MOST_HEADS] if self._is_noun(run)), None)
            if head is not None:
                head.reason = "head"
        self._spread()

    def _says_business(self, part: Segment) -> bool:
        if part.kind == Role.TECHNOLOGY:  # "Shopify stores"
            role = self._sentence.words.role
            return any(role(token.key, Role.SHOP_WORD) or role(token.key, Role.SITE_WORD) for token in part.tokens)
        return part.kind in (Role.TRADE, Role.SERVICE_TYPE, Role.LAW_FIRM, Role.AGENCY_OF) and bool(part.readings)

    def _by_neighbours(self, run: _Run) -> str:
        governor, after = self._governor(run.first), self._sentence.after(run.last)
        if governor is not None and governor.has(Role.OFFERING):
            return "object"
        if governor is not None and is_head(governor) and self._is_linked(governor, run):
            return "object"
        if after is not None and is_head(after):
            return "modifier"
        before = self._parts[run.first - 1] if run.first else None
        wares = before is not None and before.has(Role.SHOP_WORD) and len(run.places) > 1 and self._are_words(run)
        return "wares" if wares else ""  # "stores hydrogen water bottles"

    def _are_words(self, run: _Run) -> bool:
        words = [token.key for at in run.places for token in self._parts[at].tokens]
        return all(self._sentence.words.is_word(word) for word in words)

    def _governor(self, at: int) -> Segment | None:
        """The verb or noun that a run belongs to: articles, "of" and "about" are passed over, and what is said between
        a noun and its "of"."""
        linked = False
        for part in reversed(self._parts[max(0, at - _MOST_LINKS) : at]):
            words = set(part.key.split())
            linked = linked or bool(words & self._sentence.sets.about)
            between = linked and (part.kind in _BETWEEN or part.has(Role.PLACE_PREPOSITION))
            if not between and not words <= self._sentence.sets.noun_links:
                return part
        return None

    def _is_linked(self, noun: Segment, run: _Run) -> bool:
        """Whether an "of" or "about" is between a noun and a run; an adjective of Romance languages needs none."""
        between = self._parts[self._parts.index(noun) + 1 : run.first]
        if not between:
            return self._sentence.grammar.romance
        return any(set(part.key.split()) & self._sentence.sets.about for part in between)

    def _is_noun(self, run: _Run) -> bool:
        """Whether a run can be the noun of the request: nothing before it in its clause has said what that is, or what
        a site has."""
        for part in reversed(self._parts[: run.first]):
            if part.has(Role.BREAK):
                break
            if is_head(part) or part.has(Role.USING, Role.NEGATION, Role.SPENDING) or part.kind == Role.CONTACT:
                return False
        return True

    def _spread(self) -> None:
        """Runs in a list with a keyword or a trade are keywords, too."""
        for runs in (self._runs, self._runs[::-1]):
            for beside, run in pairwise([None, *runs]):
                if run is not None and not run.reason and (self._listed(run, beside) or self._beside_trade(run)):
                    run.reason = "listed"

    def _listed(self, run: _Run, other: _Run | None) -> bool:
        """Whether a run is in a list with a keyword right before or after it."""
        if other is None or not other.reason:
            return False
        first, second = (other, run) if other.last < run.first else (run, other)
        return self._sentence.joint(first.last, second.first) is not None

    def _beside_trade(self, run: _Run) -> bool:
        around = range(max(0, run.first - _NEAR), min(len(self._parts), run.last + _NEAR))
        trades = (at for at in around if self._parts[at].kind == Role.TRADE and self._parts[at].readings)
        return any(self._sentence.joint(min(at, run.last), max(at, run.first)) for at in trades)


def _alternatives(sentence: Sentence, phrases: list[list[int]]) -> list[list[list[int]]]:
    """Phrases that are joined by "or" together: "plumbers, electricians or roofers"."""
    made: list[list[list[int]]] = []
    commas: list[bool] = []
    for phrase in phrases:
        joint = sentence.joint(made[-1][-1][-1], phrase[0]) if made else None
        if joint in (Role.OR, Role.COMMA):
            made[-1].append(phrase)
            commas[-1] = joint == Role.COMMA and commas[-1]
        else:
            made.append([phrase])
            commas.append(True)
    split: list[list[list[int]]] = []
    for some, only_commas in zip(made, commas, strict=True):
        split.extend([[phrase] for phrase in some] if only_commas else [some])
    return split


def _sells_online(sentence: Sentence) -> Segment | None:
    return next((one for one in sentence.parts if one.kind == Role.SERVICE_TYPE and one.values == ("Ecommerce",)), None)


def _noun_goes_on(sentence: Sentence, at: int) -> bool:
    """Whether the noun phrase continues after a small word."""
    after = sentence.after(at)
    return sentence.grammar.romance and after is not None and is_left(after) and not after.negated
