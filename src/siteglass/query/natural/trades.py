"""Words for what a business is to `@trade`: "dentists", "roofing company", "agences immobilières"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from siteglass.query.natural.keywords import is_left
from siteglass.query.natural.kinds import Role, TokenKind
from siteglass.query.natural.lexicon import ENGLISH
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.natural.text import Token
from siteglass.query.trades import trades

# "shop for used cars and trucks"; longer names are hardly said.
_MOST_WORDS = 6
# Words that already say what the business is: "school". With a word for what it uses or offers, they keep that reading:
# "Shopify agencies", "SEO agencies", "payment providers".
_TYPES = frozenset((Role.SERVICE_TYPE, Role.AGENCY_OF, Role.LAW_FIRM))
_USED_OR_OFFERED = frozenset((Role.TECHNOLOGY, Role.CATEGORY))
# "agencys" for "agencies".
_PLURAL = re.compile(r"([b-df-hj-np-tv-z])ys\b")
# Words after a trade that do not name a product.
_ENDS = (Role.BREAK, Role.COMMA)
_TOWARDS = frozenset(("for", "to", "fur", "pour", "para", "per", "voor", "dla"))
# Shorter words are like words of other languages.
_SHORT = 4


def languages_of_nouns(tokens: Iterable[Token]) -> Iterator[str]:
    """The language of each word that names a trade in one language only: "piekarnie" is Polish."""
    for token in tokens:
        meanings = trades().meanings(token.key) if len(token.key) > _SHORT and token.kind == TokenKind.WORD else {}
        if len(meanings) == 1:
            yield from meanings


def find_trades(sentence: Sentence) -> list[tuple[list[int], str]]:
    """The longest phrases that name a trade: where their words are, and the trade."""
    found: list[tuple[list[int], str]] = []
    at = 0
    while at < len(sentence.parts):
        places, trade = ([], "") if _is_not_the_business(sentence, at) else _longest(sentence, at)
        if trade:
            found.append((places, trade))
        at += max(1, len(places))
    return [one for one in found if not _describes_next(sentence, one[0], found)]


def read_trades(sentence: Sentence) -> None:
    """Write what the business is; trades in a list are alternatives, since few sites are two of them."""
    found = find_trades(sentence)
    _deny_lists(sentence, found)
    for some in _lists(sentence, found):
        parts = [sentence.parts[place] for places, _ in some for place in places]
        negated = any(part.negated for part in parts)
        sentence.say("trade", [trade for _, trade in some], parts, "trade", negated=negated)
        for part in parts:
            part.kind = Role.TRADE  # "IT" of "IT services" is not Italy


def _is_not_the_business(sentence: Sentence, at: int) -> bool:
    """ "software for dentists", "shops with same-day delivery": its customers, or what it has."""
    before = sentence.parts[at - 1] if at else None
    if before is None:
        return False
    if before.has(Role.USING):
        return True
    seller = sentence.parts[at - 2] if at > 1 else None
    return (
        before.key in _TOWARDS
        and seller is not None
        and not (seller.used or seller.has(Role.REQUESTS, Role.GENERIC, Role.FUNCTION, Role.CONTACT))
        and (bool(seller.senses) or sentence.words.is_word(seller.key))  # "lookn for electricians"
    )


def _describes_next(sentence: Sentence, places: list[int], found: list[tuple[list[int], str]]) -> bool:
    """ "dental software companies", "aquarium plants": a trade before another noun only says which one is meant. A
    plural is a separate noun, and so is what is before a word for a place of business: "orthodontist offices"."""
    last, after = sentence.parts[places[-1]], sentence.after(places[-1])
    if after is None or sentence.language != ENGLISH or last.tokens[-1].key.endswith("s"):
        return False
    if any(places[-1] + 1 == others[0] for others, _ in found):
        return True
    word = after.tokens[0].key
    sets = sentence.sets
    no_products = (sets.business_nouns, sets.unlikely, sets.chat, sets.verbs, sets.participles, sets.first_names)
    known = sentence.words.is_word(word) and not any(word in words for words in no_products)
    return after.kind == Role.TOOL_NOUNS or (is_left(after) and not after.senses and known)


def _longest(sentence: Sentence, at: int) -> tuple[list[int], str]:
    """The segments from here on that name a trade, as many as can be, and the trade."""
    best: tuple[list[int], str] = ([], "")
    words, text = 0, ""
    for end in range(at, min(at + _MOST_WORDS, len(sentence.parts))):
        part = sentence.parts[end]
        words += len(part.tokens)
        if part.used or part.has(*_ENDS) or words > _MOST_WORDS:
            break
        word = _PLURAL.sub(r"\1ies", part.meant)
        text = f"{text} {word}".lstrip()
        meanings = trades().meanings_if_begun(text)
        if meanings is None:
            break
        outer = (part, sentence.parts[at])  # "roofers & plumbers" are two, though names may have an "&" inside
        if any(one.kind == Role.SIGN for one in outer):
            continue
        if meanings and (trade := _trade(sentence, sentence.parts[at : end + 1], text, meanings)):
            best = (list(range(at, end + 1)), trade)
    return best


def _trade(sentence: Sentence, window: Sequence[Segment], text: str, meanings: Mapping[str, str]) -> str:
    if any(part.kind in _USED_OR_OFFERED for part in window):
        return ""
    if all(part.kind in _TYPES or part.has(Role.GENERIC) for part in window):
        return ""
    if any(token.quoted for part in window for token in part.tokens):
        return ""
    if len(window) == 1 and window[0].kind != Role.UNKNOWN:
        return ""
    if own := meanings.get(sentence.language) or meanings.get(ENGLISH):
        return own
    if text in sentence.words.common and len(window) < len(sentence.parts):
        return ""
    # A word of another language; in a sentence that is not English, only of those that are hardly mistaken.
    english, grammars = sentence.language == ENGLISH, sentence.words.grammars
    found = {trade for language, trade in meanings.items() if english or grammars[language].distinct}
    return found.pop() if len(found) == 1 else ""


def _deny_lists(sentence: Sentence, found: list[tuple[list[int], str]]) -> None:
    """ "not dermatologists or plastic surgeons": what denies the first of a list denies all of it."""
    joints = [sentence.joint(first[-1], second[0]) for (first, _), (second, _) in pairwise(found)]
    for number, joint in enumerate(joints):
        denied, others = sentence.parts[found[number][0][-1]], found[number + 1][0]
        listed = joint in (Role.OR, Role.AND) or (joint == Role.COMMA and joints[number + 1 : number + 2] == [Role.OR])
        if listed and denied.negated and sentence.parts[others[0]].denied_by is None:
            for place in others:
                sentence.parts[place].negated, sentence.parts[place].denied_by = True, denied.denied_by


def _lists(sentence: Sentence, found: list[tuple[list[int], str]]) -> list[list[tuple[list[int], str]]]:
    """Trades side by side in a list, together."""
    lists: list[list[tuple[list[int], str]]] = []
    for one in found:
        before = lists[-1][-1][0][-1] if lists else None
        first = sentence.parts[one[0][0]]
        if before is not None and sentence.joint(before, one[0][0]) and sentence.parts[before].negated == first.negated:
            lists[-1].append(one)
        else:
            lists.append([one])
    return lists
