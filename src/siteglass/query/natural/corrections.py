""" "Dallas, no wait, Denver": what is said last counts."""

from __future__ import annotations

from collections.abc import Iterable

from siteglass.query.natural.kinds import ENTITIES, Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence, family

_REPLACED = "not used, because what follows corrects it"
# Signs and small words between a value and its correction.
_BETWEEN = (Role.COMMA, Role.BREAK, Role.FUNCTION, Role.PLACE_PREPOSITION, Role.USING, Role.CORRECTION)


def take_back(sentence: Sentence) -> None:
    """Drop a value that the words right after it replace by another one of the same family."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.used or not part.has(Role.CORRECTION):
            continue
        old = _value(parts, range(at - 1, -1, -1), denied=True)
        new = _value(parts, range(at + 1, len(parts)), denied=False)
        if old is not None and new is not None and family(parts[old]) == family(parts[new]):
            sentence.refuse(parts[old : at + 1], _REPLACED, settled=True)


def _value(parts: list[Segment], places: Iterable[int], *, denied: bool) -> int | None:
    """The first value in a direction, if only signs and small words are before it; "no, wait" has a denial, too."""
    for place in places:
        part = parts[place]
        if part.kind in ENTITIES:
            return None if part.used else place
        if not (part.has(*_BETWEEN) or (denied and part.has(Role.NEGATION))):
            return None
    return None
