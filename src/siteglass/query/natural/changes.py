"""Technologies that sites began or stopped using: "recently added Klaviyo", "switched from Magento to Shopify".

The phrases are in scripts/language/changes.toml. A change is a verb, technologies beside it, and maybe a time: "in the
last 2 weeks", "since March". Without a time, each verb has its window.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from siteglass.query.criteria import Condition
from siteglass.query.directives import make_condition
from siteglass.query.natural.amounts import DAYS
from siteglass.query.natural.dates import find_dates
from siteglass.query.natural.kinds import ENTITIES, Role
from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.natural.tools import SITES, alternatives_in, list_from
from siteglass.query.natural.wishes import clause_end, clause_start
from siteglass.query.values import MAX_AGE_DAYS

Field = Literal["added", "dropped"]

WINDOWS: dict[Field, str] = {"added": "30d", "dropped": "90d"}
"""Since when, if the sentence does not say it."""
NO_TECHNOLOGY = "Siteglass knows when technologies were added or dropped, and none that it knows is named here."
EITHER = "a search cannot ask for this change or something else; search for each"

_RULE = "change"
# When a phrase of the table is a change: always, or only with a time.
_ALWAYS, _WITH_TIME = "always", "with_time"
_DENYING = (Role.NEGATION, Role.DOUBLE_NEGATION)
_SMALL = (Role.FUNCTION, Role.TOOL_NOUNS)
# May be between a verb or its technologies and a time: "within 30 days".
_BEFORE_TIMES = (Role.FUNCTION, Role.PLACE_PREPOSITION, Role.LANGUAGE_MARKER)
_VAGUE_DAYS = {Role.RECENT: 30, Role.THIS_WEEK: 7}
# One verb has at most so many lists: "switched from A or B to C".
_MOST_LISTS = 4
# A time has at most so many phrases.
_LONGEST_TIME = 6


_Group = tuple[Field, list[int]]
"""The places of the technologies of one condition, which are alternatives."""


@dataclass(frozen=True, slots=True)
class _Time:
    """When a change was: from the first phrase up to another. The window is empty for "recently"."""

    start: int
    end: int
    window: str


@dataclass(slots=True)
class _Change:
    """A verb and what it says: from the first phrase up to another."""

    at: int
    start: int
    end: int
    groups: list[_Group] = field(default_factory=list)
    time: _Time | None = None
    denial: int | None = None

    def take(self, start: int, end: int) -> None:
        self.start, self.end = min(self.start, start), max(self.end, end)

    @property
    def window(self) -> str:
        return self.time.window if self.time else ""


def read_changes(sentence: Sentence) -> None:
    """Write what sites began or stopped using, and report changes of anything but technologies. Changes that an "or"
    joins with something else are left to `alternatives`."""
    for some, is_open in _alternatives(sentence, _find(sentence)):
        if not is_open:
            _say(sentence, some)


def refuse_changes(sentence: Sentence) -> None:
    """Report the changes that are left."""
    for some, _ in _alternatives(sentence, _find(sentence)):
        parts = sentence.parts[some[0].start : some[-1].end]
        sentence.refuse([part for part in parts if not part.used], EITHER)


def open_changes(sentence: Sentence) -> Iterator[range]:
    """The places of each change that an "or" joins with something else."""
    for some, is_open in _alternatives(sentence, _find(sentence)):
        if is_open and len(some) == 1:
            yield range(some[0].start, some[0].end)


def _find(sentence: Sentence) -> list[_Change]:
    """The changes of technologies that are not written yet."""
    changes = []
    times = list(_times(sentence))
    for at, part in enumerate(sentence.parts):
        sense = part.sense(Role.CHANGE) or _denied_verb(sentence, part)
        if sense is None or part.used or part.kind in ENTITIES:
            continue
        name, when = sense.values
        change = _read(sentence, at, name, times)
        if change.groups and (when != _WITH_TIME or change.time):
            changes.append(change)
        elif when == _ALWAYS:
            _refuse(sentence, at)
        else:
            part.only([other for other in part.senses if other.kind != Role.CHANGE])
    return changes


def _denied_verb(sentence: Sentence, part: Segment) -> Sense | None:
    """ "haven't added": without a time, it is not used; with one, it may have been added before."""
    if len(part.tokens) == 1 or not part.has(*_DENYING):
        return None
    verbs = (" ".join(token.key for token in part.tokens[-count:]) for count in (1, 2))
    sense = next((sense for verb in verbs if (sense := sentence.words.role(verb, Role.CHANGE))), None)
    return None if sense is None else Sense(Role.CHANGE, (sense.values[0], _WITH_TIME))


def _refuse(sentence: Sentence, at: int) -> None:
    start, end = at, clause_end(sentence, at, whole=True)
    if start and sentence.parts[start - 1].has(Role.RECENT):
        start -= 1
    if sentence.grammar.verb_last and end == at + 1:
        start = clause_start(sentence, at)
    sentence.refuse([part for part in sentence.parts[start:end] if not part.used], NO_TECHNOLOGY)


def _read(sentence: Sentence, at: int, name: str, times: Sequence[_Time]) -> _Change:
    change = _Change(at, at, at + 1)
    if name == "switched":
        _read_switch(sentence, change)
    else:
        _read_technologies(sentence, change, "added" if name == "added" else "dropped")
    if change.groups:
        _read_time(sentence, change, times)
        _read_denial(sentence, change)
    return change


# --- technologies -------------------------------------------------------------------------------


def _read_technologies(sentence: Sentence, change: _Change, name: Field) -> None:
    """The list after the verb; in German and Dutch, before it."""
    first = _technology_from(sentence, change.at + 1)
    if first is None and sentence.grammar.verb_last:
        start = clause_start(sentence, change.at)
        first = next((i for i in range(start, change.at) if _is_free_technology(sentence.parts[i])), None)
    if first is not None:
        _take_list(sentence, change, name, first)


def _read_switch(sentence: Sentence, change: _Change) -> None:
    """ "switched from Magento to Shopify", "von Magento zu Shopify gewechselt": small words say which is which."""
    start = change.at
    if sentence.grammar.verb_last and _technology_from(sentence, change.at + 1, prepositions=True) is None:
        start = clause_start(sentence, change.at) - 1
    name = _direction(sentence, sentence.parts[start]) if start == change.at else None
    at = start + 1
    while at < len(sentence.parts) and len(change.groups) < _MOST_LISTS:
        part = sentence.parts[at]
        if said := _direction(sentence, part):
            name = said
        elif _is_free_technology(part) and name:
            at = _take_list(sentence, change, name, at)
            name = None
            continue
        elif at == change.at or (start == change.at and not part.has(*_SMALL)):
            return
        at += 1


def _direction(sentence: Sentence, part: Segment) -> Field | None:
    """Which end of a switch the words after a phrase name."""
    word = part.tokens[-1].key
    if part.key in sentence.sets.switch_from or word in sentence.sets.switch_from:
        return "dropped"
    return "added" if part.key in sentence.sets.switch_to or word in sentence.sets.switch_to else None


def _technology_from(sentence: Sentence, at: int, *, prepositions: bool = False) -> int | None:
    """Where the next technology is, if only small words are before it."""
    for i in range(at, len(sentence.parts)):
        part = sentence.parts[i]
        if _is_free_technology(part):
            return i
        if not part.has(*_SMALL) and not (prepositions and _direction(sentence, part)):
            return None
    return None


def _is_free_technology(part: Segment) -> bool:
    return part.kind == Role.TECHNOLOGY and not part.used


def _take_list(sentence: Sentence, change: _Change, name: Field, first: int) -> int:
    """Take the list of technologies that begins at a place, and return where it ends."""
    places, joints = list_from(sentence, first)
    count = next((n for n in range(1, len(places)) if not _is_member(sentence, change, places[n])), len(places))
    for group in alternatives_in(joints[: count - 1]):
        change.groups.append((name, [places[number] for number in group]))
    end = places[count - 1] + 1
    change.take(first, end)
    return end


def _is_member(sentence: Sentence, change: _Change, at: int) -> bool:
    """ "added Klaviyo, Shopify stores": a technology before a noun for sites begins something else."""
    after, last = sentence.after(at), sentence.parts[at].tokens[-1].key
    named = any(sentence.words.role(last, role) for role in SITES)
    return at != change.at and not named and not (after is not None and after.has(*SITES))


# --- times --------------------------------------------------------------------------------------


def _read_time(sentence: Sentence, change: _Change, times: Sequence[_Time]) -> None:
    """The time right after what is said so far, or right before it, or before the verb."""
    for time in times:
        if any(part.used for part in sentence.parts[time.start : time.end]):
            continue
        after = change.end <= time.start and _only(sentence, change.end, time.start, _BEFORE_TIMES)
        before = time.end <= change.start and _only(sentence, time.end, change.start, (Role.FUNCTION,))
        inside = change.start <= time.start < change.end
        if after or before or inside:
            change.time = time if change.time is None or not change.window else change.time
            change.take(time.start, time.end)


def _only(sentence: Sentence, start: int, end: int, kinds: Sequence[Role]) -> bool:
    """Whether all phrases of a range are small, and none begins another clause."""
    between = sentence.parts[start:end]
    relative = sentence.sets.relative
    return all(part.has(*kinds) and relative.isdisjoint(part.key.split()) for part in between)


def _times(sentence: Sentence) -> Iterator[_Time]:
    """Every time that a change may have: "in the last 2 weeks", "since March", "this year"."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.used:
            continue
        if days := next((days for role, days in _VAGUE_DAYS.items() if part.has(role)), 0):
            dated = part.has(Role.THIS_WEEK) or any(sentence.words.role(t.key, Role.UNIT) for t in part.tokens)
            yield _Time(at, at + 1, f"{days}d" if dated else "")
        elif part.has(Role.THIS_YEAR):
            yield _Time(at, at + 1, date(sentence.today.year, 1, 1).isoformat())
        elif part.has(Role.UNIT) and (time := _counted_days(sentence, at)):
            yield time
    for when, first, last in find_dates(sentence):
        since = first > 0 and parts[first - 1].has(Role.SINCE)
        if since or parts[first].key in sentence.sets.yesterday:
            yield _Time(first - since, last + 1, when.isoformat())


def _counted_days(sentence: Sentence, at: int) -> _Time | None:
    """ "in the last 2 weeks", "ces 3 derniers mois", "last quarter", "two weeks ago": a unit and what is before it."""
    unit = sentence.parts[at].sense(Role.UNIT)
    if unit is None or unit.values[0] not in DAYS:
        return None
    start, number, is_past = at, 1.0, False
    while start and at - start < _LONGEST_TIME:
        before = sentence.parts[start - 1]
        if (count := _number(before)) is not None and sentence.parts[start].kind != Role.NUMBER:
            number = count
        elif before.has(Role.WITHIN_LAST) or before.key in sentence.sets.within:
            is_past = True
        else:
            break
        start -= 1
    after = sentence.after(at)
    ago = after is not None and after.key in sentence.sets.ago
    days = max(1, math.ceil(number * DAYS[unit.values[0]]))
    return _Time(start, at + 1 + ago, f"{min(days, MAX_AGE_DAYS)}d") if is_past or ago else None


def _number(part: Segment) -> float | None:
    if part.kind == Role.NUMBER and part.amount:
        return part.amount.number
    return float(part.values[0]) if part.kind == Role.NUMBER_WORD else None


# --- conditions ---------------------------------------------------------------------------------


def _read_denial(sentence: Sentence, change: _Change) -> None:
    """ "have not added Klaviyo"."""
    if not sentence.parts[change.at].has(Role.CHANGE):
        change.denial = change.at
        return
    for i in range(change.at - 1, -1, -1):
        part = sentence.parts[i]
        if part.has(Role.NEGATION) and not part.used and not part.has(Role.CHANGE):
            change.denial = i
            change.take(i, change.at)
            return
        if not part.has(Role.FUNCTION) or not sentence.sets.relative.isdisjoint(part.key.split()):
            return


def _alternatives(sentence: Sentence, changes: Sequence[_Change]) -> Iterator[tuple[list[_Change], bool]]:
    """Changes that an "or" joins, together, and whether one joins them with something else."""
    joined: list[list[_Change]] = []
    for change in changes:
        if joined and _is_or(sentence, joined[-1][-1].end, change.start):
            joined[-1].append(change)
        else:
            joined.append([change])
    for some in joined:
        start, end = some[0].start, some[-1].end
        earlier = (sentence.parts[i] for i in range(start - 1, -1, -1))
        before = next((part for part in earlier if not part.has(Role.FUNCTION, Role.COMMA)), None)
        later = (sentence.parts[i] for i in range(end, len(sentence.parts)))
        after = next((part for part in later if not part.has(Role.COMMA)), None)
        yield some, any(beside is not None and beside.has(Role.OR) for beside in (before, after))


def _is_or(sentence: Sentence, start: int, end: int) -> bool:
    between = sentence.parts[start:end]
    return any(part.has(Role.OR) for part in between) and all(
        part.has(Role.OR, Role.COMMA, Role.FUNCTION) for part in between
    )


def _say(sentence: Sentence, changes: Sequence[_Change]) -> None:
    """One condition for each group of technologies; of several changes, a branch for each."""
    parts = sentence.parts
    if len(changes) > 1:
        whole = parts[changes[0].start : changes[-1].end]
        branches = [_conditions(sentence, change) for change in changes]
        notes = dict.fromkeys(_assumption(change, name) for change in changes for name, _ in change.groups)
        sentence.say_any(branches, whole, _RULE, assumption="; ".join(filter(None, notes)))
        return
    (change,) = changes
    members = [i for _, places in change.groups for i in places]
    shared = [parts[i] for i in range(change.start, change.end) if i not in members and not parts[i].used]
    for group in change.groups:
        name, places = group
        said = [*shared, *(parts[i] for i in places)]
        negated = change.denial is not None
        values = _values(sentence, change, group)
        sentence.say(name, values, said, _RULE, negated=negated, assumption=_assumption(change, name))


def _conditions(sentence: Sentence, change: _Change) -> list[Condition]:
    negated = change.denial is not None
    return [make_condition(group[0], _values(sentence, change, group), negated=negated) for group in change.groups]


def _values(sentence: Sentence, change: _Change, group: _Group) -> list[str]:
    name, places = group
    return [*(sentence.parts[i].values[0] for i in places), change.window or WINDOWS[name]]


def _assumption(change: _Change, name: Field) -> str:
    return "" if change.window else f"without a time, {name} is taken as in the last {WINDOWS[name][:-1]} days"
