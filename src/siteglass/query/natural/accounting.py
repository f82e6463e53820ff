"""The account of every word: it is part of a condition, empty, or reported. The last stage, so that no other stage can
drop a word silently."""

from __future__ import annotations

import re

from siteglass.query.natural.kinds import AFTER_NUMBERS, PLACES, Role
from siteglass.query.natural.segments import Reading, Segment
from siteglass.query.natural.sentence import Sentence

NOT_USED = "not used, because no condition of a search says it; leave it out, or send what it means as a filter"
_NUMBER = "not used, because no search knows such a number; how many leads are shown is `limit`"
ASIDE = "not used, because it is about you, not about the leads; leave it out"

_WORD = re.compile(r"\w")
# Roles of words that say nothing by themselves. Phrases among them that do are listed in `carry_meaning`.
_EMPTY = frozenset(
    (
        Role.FUNCTION, Role.REQUESTS, Role.GENERIC, Role.ABOUT_ME, Role.AND, Role.OR, Role.BUT, Role.COMMA, Role.BREAK,
        Role.USING, Role.USING_AFTER, Role.PLACE_PREPOSITION,
    )
)  # fmt: skip
_AMOUNTS = frozenset(("spends", "score", "load_time", "updated_within", "updated_after"))
_AGES = frozenset(("updated_within", "updated_after"))
_SPENDING = frozenset(("spends",))
_OFFERS = frozenset(("offers", "keywords", "service_type", "categories_uses", "lacks", "technology"))
# Words that say something only together with a condition, and the directives whose conditions these are.
_LEANING: dict[Role, frozenset[str]] = {
    Role.CRAWLED: _AGES, Role.SINCE: _AGES, Role.WITHIN_LAST: _AGES, Role.RECENT: _AGES, Role.MONTH: _AGES,
    Role.SPENDING: _SPENDING, Role.RUNS_ADS: _SPENDING, Role.PER_MONTH: _SPENDING, Role.PER_YEAR: _SPENDING,
    Role.SCORE: frozenset(("score",)), Role.LOAD_TIME: frozenset(("load_time",)),
    Role.OFFERING: _OFFERS, Role.OFFERING_AFTER: _OFFERS, Role.USING_AFTER: _OFFERS,
    Role.TOOL_NOUNS: _OFFERS - {"keywords", "service_type"},
    Role.PAGE_WORD: frozenset(("pages",)),
    Role.LANGUAGE_MARKER: frozenset(("lang", "country", "state", "city", "region", "subregion")),
    **dict.fromkeys(
        (Role.NUMBER_WORD, Role.UNIT, Role.GREATER, Role.AT_LEAST, Role.LESS, Role.AT_MOST, Role.AROUND, Role.BETWEEN,
         Role.EQUAL, *AFTER_NUMBERS), _AMOUNTS | {"has_phone", "has_email", "keywords"},
    ),
}  # fmt: skip


_BUSINESS = frozenset(("trade", "service_type", "offers", "keywords", "technology"))
_PLACED = frozenset(("country", "state", "city", "region", "subregion"))
# Nobody asks for fewer leads: "4 star hotels".
_FEWEST_WISHED = 5
# Tea and three: without their accents they are small words of other languages ("te", "très").
_HOMOGRAPHS = ("té", "tres", "três")
# Inside an amount, or between a label and its value: "min. 3k", "ads/month", "language: Spanish".
_SIGNS = (".", "/", ":")


def helps(part: Segment, readings: list[Reading]) -> bool:
    """Whether a word that only helps to say something can help to say one of these: "sell" says nothing of a place."""
    kinds = part.kinds & _LEANING.keys()
    if part.has(*_EMPTY) or not kinds:
        return True
    wanted = frozenset[str]().union(*(_LEANING[kind] for kind in kinds))
    return any(reading.directive in wanted for reading in readings)


def account(sentence: Sentence) -> None:
    """Give each word that is left to the condition it leans on, or pass it if it is empty, or report it."""
    for aside in sentence.asides:
        if any(not _accounted(part) and not part.has(*_EMPTY) for part in aside):
            settled = not _may_be_meant(sentence, aside)
            sentence.refuse([part for part in aside if not part.refused], ASIDE, settled=settled)
    for at, part in enumerate(sentence.parts):
        if not _accounted(part) and (not part.kinds.isdisjoint(_LEANING) or part.key in sentence.sets.taking):
            _lean(sentence, at)
    left: list[Segment] = []
    for at, part in enumerate(sentence.parts):
        if not _accounted(part) and not _is_empty(sentence, at):
            left.append(part)
        elif left:
            _report(sentence, left)
            left = []
    if left:
        _report(sentence, left)


def _report(sentence: Sentence, parts: list[Segment]) -> None:
    """One note for words side by side."""
    number = any(part.kind == Role.NUMBER for part in parts)
    sentence.refuse(parts, _NUMBER if number else NOT_USED, settled=number and _is_wished(sentence, parts))


def _is_wished(sentence: Sentence, parts: list[Segment]) -> bool:
    """ "100 plumbers", "top 50 agencies": so many leads are wanted."""
    *before, last = parts
    after = sentence.after(sentence.parts.index(last))
    counts = last.kind == Role.NUMBER and last.text.isdigit() and int(last.text) >= _FEWEST_WISHED
    if not counts or after is None or not all(part.has(Role.COUNTING, *_EMPTY) for part in before):
        return False
    return after.has(Role.GENERIC, Role.SHOP_WORD, Role.SITE_WORD) or any(
        reading.directive in _BUSINESS for reading in after.readings
    )


def _may_be_meant(sentence: Sentence, aside: list[Segment]) -> bool:
    """Whether what somebody seems to say about themselves may be the request: it names a business or a place, and
    the rest of the sentence has none."""
    said = {reading.directive for reading in sentence.readings}
    places = any(part.kind in PLACES for part in aside)
    return not said & _BUSINESS or (places and not said & _PLACED)


def _accounted(part: Segment) -> bool:
    return bool(part.readings) or part.refused or _WORD.search(part.text) is None


def _is_empty(sentence: Sentence, at: int) -> bool:
    part, before, after = sentence.parts[at], sentence.parts[at - 1] if at else None, sentence.after(at)
    if part.text.lower() in _HOMOGRAPHS and sentence.language != "fr":
        return False
    sets = sentence.sets
    if part.key in sets.carry_meaning or part.key in sets.taking or part.key in sets.people:
        return False
    if part.key in sentence.sets.wishes and before is not None:
        # "companies looking for an agency": the wish of a company, not a request
        return not (
            before.has(Role.GENERIC) or before.kind == Role.SERVICE_TYPE or before.key in sentence.sets.relative
        )
    polite = part.key in sentence.sets.closings or part.key in sentence.sets.openings
    if polite and (before is None or before.has(Role.BREAK, Role.COMMA)):
        return True
    if part.has(Role.LABEL) and after is not None and after.key.startswith((":", "=")):
        return True
    if part.has(Role.OFFERING) and all(sentence.words.role(token.key, Role.FUNCTION) for token in part.tokens):
        return True  # "that do not run ads"
    if part.kind == Role.NUMBER:  # "(1) business type", "2) location"
        return after is not None and after.key == ")" and (before is None or before.has(Role.BREAK))
    return part.has(*_EMPTY)


def _lean(sentence: Sentence, at: int) -> None:
    """Give a word to the condition right before or after it: "recently crawled", "2k a month", "an HubSpot tool"."""
    part = sentence.parts[at]
    tool = part.has(Role.TOOL_NOUNS)
    takes = part.key in sentence.sets.taking
    for step in (1,) if takes else (-1, 1):
        i = at + step
        while 0 <= i < len(sentence.parts) and not sentence.parts[i].readings:
            other = sentence.parts[i]
            joins = other.key in sentence.sets.naming if tool and step > 0 else other.has(Role.FUNCTION, *_LEANING)
            if other.refused or not (joins or other.has(Role.USING, Role.USING_AFTER) or other.key in _SIGNS):
                break
            i += step
        readings = sentence.parts[i].readings if 0 <= i < len(sentence.parts) else []
        if readings and (takes or helps(part, readings)):
            sentence.join(part, readings)
            return
