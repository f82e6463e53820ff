"""What is left at the end: words to keywords, words that help, words to ignore, words to report."""

from __future__ import annotations

import re

from siteglass.query.natural.accounting import helps
from siteglass.query.natural.lexicon import OWN_LETTERS, ROMANCE
from siteglass.query.natural.segments import ENTITIES, Reading, Segment
from siteglass.query.natural.sentence import Sentence, line

_WORD = re.compile(r"\w")
# Kinds that are reported because no search can do what they ask, and why.
_REFUSED = {
    "sorting": "a sentence cannot ask for an order; send `sort`",
    "distance": "a search knows no distances; the place is taken as it is",
    "counting": "no search knows such a number; how many leads are shown is `limit`",
    "judgement": "a lead has no field for this",
    "instructions": "this is no condition on a lead",
    "social_in_general": "name the network: a search asks for each by itself",
}
# Words that only help the next ones to say something.
_HELPING = frozenset(
    (
        "place_preposition", "using", "offering", "spending", "crawled", "since", "within_last", "language_marker",
        "score", "load_time", "between", "greater", "less", "at_least", "at_most", "equal", "around", "per_month",
    )
)  # fmt: skip
# Why words that may well be a condition became none.
_NO_VALUE = "no known value, so it cannot be excluded"
_DENIES_NOTHING = "a denial of nothing that is known; nothing was excluded for it"
NOT_UNDERSTOOD = frozenset((_NO_VALUE, _DENIES_NOTHING))
FOREIGN = (
    "not used, because Siteglass does not read this language; it reads English, German, Spanish, French, Portuguese, "
    "Italian, Dutch and Polish"
)
# Shorter words may be codes and abbreviations, which no list of words has.
_SHORT = 3
_DENYING = ("negation", "exception", "negation_after", "exception_after", "double_negation")


def refuse_foreign(sentence: Sentence) -> None:
    """Report the words of a sentence in a language that is not read: as keywords they would find nothing."""
    left = [part for part in sentence.parts if _meaningful(part)]
    unread = [token for part in sentence.parts if not part.readings for token in part.tokens]
    tokens = [token for part in sentence.parts for token in part.tokens]
    words = [
        token
        for part in left
        for token in part.tokens
        if token.text[:1].islower() and not (token.quoted or token.corrected)
    ]
    unknown = sum(
        word.text.isalpha()
        and len(word.key) > _SHORT
        and not (sentence.words.is_word(word.key) or sentence.words.is_word(word.key.removesuffix("s")))
        for word in words
    )
    foreign = sentence.words.count_foreign(unread) + sum(not OWN_LETTERS.issuperset(word.text) for word in words)
    if left and not sentence.words.explains(sentence.language, tokens, foreign, unknown):
        sentence.refuse(left, FOREIGN)
        sentence.foreign = True


def read_keywords(sentence: Sentence) -> None:
    """Words that carry meaning and are no known value: one line for each phrase, or for a list with "or"."""
    phrases: list[list[int]] = []
    for at, part in enumerate(sentence.parts):
        if not _meaningful(part):
            if not (
                phrases
                and phrases[-1][-1] == at - 1
                and part.key in sentence.sets["inside_nouns"]
                and _noun_goes_on(sentence, at)
            ):
                continue
        elif part.negated:
            sentence.refuse(part.with_denial(), _NO_VALUE)
            continue
        elif part.key == "online" and (shop := _sells_online(sentence)):
            sentence.join(part, shop.readings)  # "online jewelry stores"
            continue
        if phrases and phrases[-1][-1] == at - 1:
            phrases[-1].append(at)
        else:
            phrases.append([at])
    for some in _alternatives(sentence, _likely(sentence, phrases)):
        parts = [sentence.parts[at] for phrase in some for at in phrase]
        texts = [" ".join(sentence.parts[at].meant for at in phrase) for phrase in some]
        sentence.say(line("keywords", texts), parts, "keyword", confidence=0.9)


def _likely(sentence: Sentence, phrases: list[list[int]]) -> list[list[int]]:
    """The phrases that a page may contain; the others are left, and reported as not used."""
    kept = []
    for phrase in phrases:
        words = [token.key for at in phrase for token in sentence.parts[at].tokens]
        asks = words[-1] in sentence.sets["others_asking"] and phrase[0] == 0  # "mike asked"
        quoted = any(token.quoted for at in phrase for token in sentence.parts[at].tokens)
        empty = all(word in sentence.sets["unlikely"] or word.isdigit() for word in words)
        if quoted or not (empty or asks or _is_name(sentence, phrase)):
            kept.append(phrase)
    return kept


def _is_name(sentence: Sentence, phrase: list[int]) -> bool:
    """ "Hi Sarah,", "Cheers, Tom", "fwd from Priya:": whoever is greeted, signs or sent it."""
    before, after = phrase[0] - 1, sentence.after(phrase[-1])
    signed = before > 0 and sentence.parts[before].has("comma", "break") and after is None
    greeting = sentence.parts[before - 1 if signed else before].key if before >= 0 else ""
    return greeting in sentence.sets["greetings"] and (after is None or after.has("comma", "break"))


def _alternatives(sentence: Sentence, phrases: list[list[int]]) -> list[list[list[int]]]:
    """Phrases that are joined by "or" together: "plumbers, electricians or roofers"."""
    made: list[list[list[int]]] = []
    commas: list[bool] = []
    for phrase in phrases:
        joint = sentence.joint(made[-1][-1][-1], phrase[0]) if made else None
        if joint in ("or", "comma"):
            made[-1].append(phrase)
            commas[-1] = joint == "comma" and commas[-1]
        else:
            made.append([phrase])
            commas.append(True)
    split: list[list[list[int]]] = []
    for some, only_commas in zip(made, commas, strict=True):
        split.extend([[phrase] for phrase in some] if only_commas else [some])
    return split


def _sells_online(sentence: Sentence) -> Segment | None:
    return next((one for one in sentence.parts if one.kind == "service_type" and one.values == ("Ecommerce",)), None)


def _noun_goes_on(sentence: Sentence, at: int) -> bool:
    """Whether the noun phrase goes on behind a small word."""
    after = sentence.after(at)
    return sentence.language in ROMANCE and after is not None and _meaningful(after) and not after.negated


def _meaningful(part: Segment) -> bool:
    plain = part.kind == "unknown" and not part.used and all(sense.kind in ENTITIES for sense in part.senses)
    return plain and _WORD.search(part.text) is not None


def refuse_orders(sentence: Sentence) -> None:
    """ "highest SEO score first": an order, and what it is by, up to the end of the clause."""
    for at, part in enumerate(sentence.parts):
        if part.kind == "sorting" and not part.used:
            end = at + 1
            while end < len(sentence.parts) and (
                sentence.parts[end].has("score", "load_time", "spending", "function", "sorting", "recent")
                or _meaningful(sentence.parts[end])
            ):
                end += 1
            sentence.refuse([one for one in sentence.parts[at:end] if not one.used], _REFUSED["sorting"])


def refuse_rest(sentence: Sentence) -> None:
    """Report what no search can do, and every denial that denies nothing."""
    for part in sentence.parts:
        if part.readings or part.refused:
            continue
        if part.kind in _REFUSED and not part.used:
            sentence.refuse(part.with_denial(), _REFUSED[part.kind])
        elif part.kind in _DENYING and not part.used:
            sentence.refuse([part], _DENIES_NOTHING)
            sentence.dangling_denial = True


def attach_helpers(sentence: Sentence) -> None:
    """Give small words to the condition they help to say: "in the", "using", "and" inside a list."""
    parts = sentence.parts
    following: list[Reading] = []
    waiting: list[Segment] = []
    for part in reversed(parts):
        if part.readings:
            following, waiting = part.readings, []
        elif part.refused:
            following, waiting = [], []
        elif following and part.has(*_HELPING) and helps(part, following) and part.key not in sentence.sets["people"]:
            for helper in [*waiting, part]:
                helper.readings = list(following)
            waiting = []
        elif following and part.has("function"):
            waiting.append(part)
        else:
            following, waiting = [], []
    for at in range(1, len(parts) - 1):
        if not parts[at].readings and parts[at].has("and", "or", "comma"):
            shared = [one for one in parts[at - 1].readings if one in parts[at + 1].readings]
            parts[at].readings = shared
    for part in parts:
        for reading in part.readings:
            if part not in reading.parts:
                reading.parts.append(part)
