"""Wishes that no field of a lead answers: each is reported with its own message, and makes no condition.

The phrases are in scripts/language/wishes.toml; here is what is answered, and how far a wish reaches.
"""

from __future__ import annotations

import re

from siteglass.query.natural.kinds import ENTITIES, FLAGS, PLACES, Role, TokenKind
from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence

_NO_DATA = {
    "size": "how many people a company employs", "revenue": "revenue", "profit": "profits", "funding": "funding",
    "valuation": "what a company is worth", "growth": "growth", "hiring": "hiring", "layoffs": "layoffs",
    "people": "persons and their roles", "person_email": "addresses and numbers of persons",
    "founded": "when a company was founded", "intent": "buying plans",
    "renewal": "contracts", "traffic": "visitors", "followers": "followers", "engagement": "engagement",
    "reviews": "reviews and ratings", "ranking": "positions in search results", "backlinks": "links from other sites",
    "products": "the number of products", "orders": "orders", "prices": "prices", "stock": "stock",
    "hours": "opening hours", "customers": "the customers of a company", "investors": "owners and investors",
    "acquired": "acquisitions", "insolvent": "insolvency", "legal_form": "legal forms and registration numbers",
    "events": "events", "news": "news", "relocation": "moves and openings", "launch": "when a site was launched",
    "domain_age": "when a domain was registered", "awards": "awards", "budget": "budgets other than for ads",
    "pay": "pay",
}  # fmt: skip
_ANSWERS = {
    "near_me": "Siteglass does not know where you are; name the city, state or country.",
    "similar": "Siteglass cannot look for companies that are like another one; describe what they have in common.",
}
WISHES = {name: f"Siteglass has no data on {what}." for name, what in _NO_DATA.items()} | _ANSWERS
# Whatever these are about belongs to the wish: "hiring nurses".
_WHOLE_CLAUSE = frozenset(
    ("hiring", "similar", "intent", "founded", "ranking", "investors", "acquired", "events", "customers",
     "legal_form", "pay", "layoffs", "renewal")
)  # fmt: skip
# After these words the next condition begins.
_NEXT = (
    Role.COMMA,
    Role.BREAK,
    Role.BUT,
    Role.NEGATION,
    Role.EXCEPTION,
    Role.SORTING,
    Role.SPENDING,
    Role.CRAWLED,
    Role.REQUESTS,
)
_DOMAIN = re.compile(r"[\w-]+(\.[\w-]+)*\.[a-z]{2,}", re.IGNORECASE)
_HAD = FLAGS | {Role.CONTACT, Role.PAGE_WHOLE}
_COUNTING = (Role.NUMBER, Role.OPERATOR)
_COMPARING = frozenset(
    (
        Role.GREATER,
        Role.AT_LEAST,
        Role.LESS,
        Role.AT_MOST,
        Role.AROUND,
        Role.BETWEEN,
        Role.EQUAL,
        Role.FUNCTION,
        Role.USING,
    )
)


def refuse_wishes(sentence: Sentence) -> None:
    """Report every wish, with the number before it and, of some, the rest of the clause."""
    at = 0
    while at < len(sentence.parts):
        part = sentence.parts[at]
        wish = part.sense(Role.WISH) or _like_domain(sentence, at)
        if wish is None or part.used or not _is_meant(sentence, at):
            if wish is not None:
                _forget(part)
            at += 1
            continue
        name = wish.values[0]
        start, end = _start(sentence, at), clause_end(sentence, at, whole=name in _WHOLE_CLAUSE)
        sentence.refuse([part for part in sentence.parts[start:end] if not part.used], WISHES[name])
        at = end


def _like_domain(sentence: Sentence, at: int) -> Sense | None:
    """ "stores like gymshark.com"."""
    after = sentence.after(at)
    named = after is not None and len(after.tokens) == 1 and _DOMAIN.fullmatch(after.text) is not None
    return Sense(Role.WISH, ("similar",)) if named and sentence.parts[at].key == "like" else None


def _forget(part: Segment) -> None:
    """Leave a word its other meanings: "award-winning" is a keyword, "200 awards" is a wish."""
    part.only([sense for sense in part.senses if sense.kind != Role.WISH])
    if part.kind == Role.WISH:
        part.kind = Role.UNKNOWN


OTHER_TOPIC = "not used, because it is not about the leads; leave it out"
# A heading has at most so many words.
_HEADING = 7
_SENTENCE_ENDS = (".", ";", "\n", "!", "?", "|")
_DASHES = ("–", "—")


def refuse_topics(sentence: Sentence) -> None:
    """ "Salary: $60k plus commission.": a separate sentence about something else."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        begins = at == 0 or parts[at - 1].key in _SENTENCE_ENDS
        if begins and (source := _source_end(sentence, at)):
            sentence.refuse([one for one in parts[at:source] if not one.used], OTHER_TOPIC)
        end = _topic_end(sentence, at) if begins and not part.used else None
        if end is not None:
            stop = next((i for i in range(end, len(parts)) if _ends_topic(parts[i])), len(parts))
            sentence.refuse([one for one in parts[at:stop] if not one.used], OTHER_TOPIC)


def _source_end(sentence: Sentence, at: int) -> int:
    """ "From our CRM wiki:", "Spec from client:": where a heading ends that says where the text is from."""
    heading = sentence.parts[at : at + _HEADING]
    end = next((i for i, part in enumerate(heading) if part.key == ":"), 0)
    words = [word for part in heading[:end] for word in part.key.split()]
    own = not sentence.sets.own.isdisjoint(words)
    return at + end if end and own and not sentence.sets.sources.isdisjoint(words[:2]) else 0


def _ends_topic(part: Segment) -> bool:
    return part.key in _SENTENCE_ENDS or part.text in _DASHES


def _topic_end(sentence: Sentence, at: int) -> int | None:
    """Where the name of another topic ends that a sentence begins with."""
    name = ""
    for end in range(at, min(at + 3, len(sentence.parts))):
        name = f"{name} {sentence.parts[end].key}".strip()
        after = sentence.after(end)
        named = after is not None and after.key in (":", "=")
        if name in sentence.sets.topics_alone or (named and name in sentence.sets.topics):
            return end
    return None


def _is_meant(sentence: Sentence, at: int) -> bool:
    """Whether it is a wish, not a value in its place such as a technology after "using"; "products" need a number."""
    part = sentence.parts[at]
    if part.kind in ENTITIES or part.kind in _HAD or sentence.page_follows(at):
        return False
    counted = _start(sentence, at) < at and any(one.kind == Role.NUMBER for one in sentence.parts[max(0, at - 3) : at])
    return counted or part.key not in sentence.sets.counted_only


def _start(sentence: Sentence, at: int) -> int:
    """Where a number before the wish begins: "more than 20 employees", "20-100 ppl"."""
    start = at
    while start and (sentence.parts[start - 1].kind in _COUNTING or sentence.parts[start - 1].key in ("-", "–", "to")):
        start -= 1
    if start < at and start and not sentence.parts[start - 1].kinds.isdisjoint(_COMPARING - {Role.USING}):
        start -= 1
    return start


def clause_end(sentence: Sentence, at: int, *, whole: bool) -> int:
    """Where the wish ends: its phrase with a number after it, or all up to the next condition."""
    end = at + 1
    while end < len(sentence.parts) and (sentence.parts[end].kind in _COUNTING or sentence.parts[end].has(Role.UNIT)):
        end += 1
    if not whole:
        return end
    while end < len(sentence.parts) and not _begins_next(sentence, end):
        end += 1
    return end


def clause_start(sentence: Sentence, at: int) -> int:
    """Where the clause begins that a verb ends: "die | von Magento zu Shopify gewechselt sind"."""
    for start in range(at, 0, -1):
        before = sentence.parts[start - 1]
        if before.has(Role.COMMA, Role.BREAK) or not sentence.sets.relative.isdisjoint(before.key.split()):
            return start
    return at


def _begins_next(sentence: Sentence, at: int) -> bool:
    part = sentence.parts[at]
    joins = part.tokens[0].key in ("with", "and") or part.tokens[0].kind == TokenKind.WITH
    relative = not sentence.sets.relative.isdisjoint(part.key.split())
    return joins or relative or part.has(*_NEXT) or _placed(sentence, at)


def _placed(sentence: Sentence, at: int) -> bool:
    """ "hiring nurses | in Amsterdam"; a year is not a place."""
    part, after = sentence.parts[at], sentence.after(at)
    return part.has(Role.PLACE_PREPOSITION) and after is not None and _is_place(after)


def _is_place(part: Segment) -> bool:
    return part.kind in PLACES
