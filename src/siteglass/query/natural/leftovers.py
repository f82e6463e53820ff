"""What is left beside the keywords: words that help, words to ignore, words to report."""

from __future__ import annotations

from siteglass.query.natural.accounting import helps
from siteglass.query.natural.keywords import NO_VALUE, is_left
from siteglass.query.natural.kinds import DENYING, Role
from siteglass.query.natural.lexicon import OWN_LETTERS
from siteglass.query.natural.segments import Reading, Segment
from siteglass.query.natural.sentence import Sentence

# Kinds that are reported because no search can do what they ask, and why.
_REFUSED = {
    Role.SORTING: "a sentence cannot ask for an order; send `sort`",
    Role.DISTANCE: "a search knows no distances; the place is taken as it is",
    Role.COUNTING: "no search knows such a number; how many leads are shown is `limit`",
    Role.JUDGEMENT: "a lead has no field for this",
    Role.INSTRUCTIONS: "this is not a condition on a lead",
    Role.SOCIAL_IN_GENERAL: "name the network: a search asks for each by itself",
}
# Words that only help the next ones to say something.
_HELPING = frozenset(
    (
        Role.PLACE_PREPOSITION, Role.USING, Role.OFFERING, Role.SPENDING, Role.CRAWLED, Role.SINCE, Role.WITHIN_LAST,
        Role.LANGUAGE_MARKER, Role.SCORE, Role.LOAD_TIME, Role.BETWEEN, Role.GREATER, Role.LESS, Role.AT_LEAST,
        Role.AT_MOST, Role.EQUAL, Role.AROUND, Role.PER_MONTH,
    )
)  # fmt: skip
# Why words that may well be a condition became none.
_DENIES_NOTHING = "a denial of nothing that is known; nothing was excluded for it"
NOT_UNDERSTOOD = frozenset((NO_VALUE, _DENIES_NOTHING))
FOREIGN = (
    "not used, because Siteglass does not read this language; it reads English, German, Spanish, French, Portuguese, "
    "Italian, Dutch and Polish"
)
# Shorter words may be codes and abbreviations, which no list of words has.
_SHORT = 3


def refuse_foreign(sentence: Sentence) -> None:
    """Report the words of a sentence in a language that is not read: as keywords they would find nothing."""
    left = [part for part in sentence.parts if is_left(part)]
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


def refuse_orders(sentence: Sentence) -> None:
    """ "highest SEO score first": an order, and what it is by, up to the end of the clause."""
    for at, part in enumerate(sentence.parts):
        if part.kind == Role.SORTING and not part.used:
            end = at + 1
            while end < len(sentence.parts) and (
                sentence.parts[end].has(
                    Role.SCORE, Role.LOAD_TIME, Role.SPENDING, Role.FUNCTION, Role.SORTING, Role.RECENT
                )
                or is_left(sentence.parts[end])
            ):
                end += 1
            sentence.refuse([one for one in sentence.parts[at:end] if not one.used], _REFUSED[Role.SORTING])


def refuse_rest(sentence: Sentence) -> None:
    """Report what no search can do, and every denial that denies nothing."""
    for part in sentence.parts:
        if part.readings or part.refused:
            continue
        if part.kind in _REFUSED and not part.used:
            sentence.refuse(part.with_denial(), _REFUSED[part.kind])
        elif part.kind in DENYING and not part.used:
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
        elif following and part.has(*_HELPING) and helps(part, following) and part.key not in sentence.sets.people:
            for helper in [*waiting, part]:
                helper.readings = list(following)
            waiting = []
        elif following and part.has(Role.FUNCTION):
            waiting.append(part)
        else:
            following, waiting = [], []
    for at in range(1, len(parts) - 1):
        if not parts[at].readings and parts[at].has(Role.AND, Role.OR, Role.COMMA):
            shared = [one for one in parts[at - 1].readings if one in parts[at + 1].readings]
            parts[at].readings = shared
    for part in parts:
        for reading in part.readings:
            if part not in reading.parts:
                reading.parts.append(part)
