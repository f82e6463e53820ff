"""A sentence while it is read: its segments, what was found in them so far, and how to look around."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from siteglass.errors import Problem, QueryError
from siteglass.query.criteria import Clause
from siteglass.query.directives import make_any_of, make_condition
from siteglass.query.natural.grammars import Grammar
from siteglass.query.natural.kinds import FLAGS, PAGES, PLACES, Role
from siteglass.query.natural.lexicon import Lexicon
from siteglass.query.natural.segments import Reading, Segment
from siteglass.query.natural.word_sets import WordSets
from siteglass.query.values import ValueProblem
from siteglass.query.vocabulary import vocabulary

_THINGS = FLAGS | PAGES | {Role.CONTACT, Role.PATH}


TOO_LONG = (
    "interpreting it takes too many steps, because it repeats or lists too much; shorten it, or send filters such as "
    "`country` and `technologies`. Nothing was charged"
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Words that were understood to ask for what no search can do, or that were not understood."""

    parts: tuple[Segment, ...]
    why: str
    settled: bool = False
    """Whether it is certain that the words say nothing of the leads, which leaves no doubt."""


class Steps:
    """How often the stages may still look around in a sentence. It bounds the time, and does not depend on it."""

    __slots__ = ("left",)

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self) -> None:
        """Count a step; raises QueryError if it is one too many."""
        self.left -= 1
        if self.left < 0:
            raise QueryError([Problem("query", TOO_LONG)])


@dataclass
class Sentence:
    """What every stage works on."""

    parts: list[Segment]
    words: Lexicon
    today: date
    language: str
    steps: Steps
    """Shared with the branches of alternatives."""
    readings: list[Reading] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    asides: list[list[Segment]] = field(default_factory=list)
    """What the person asking says about themselves."""
    dangling_denial: bool = False
    """Something was denied, and nothing is known that it could be."""
    foreign: bool = False
    """No language that is read explains the words."""
    sets: WordSets = field(init=False)
    """Short lists of words that single rules turn on."""

    grammar: Grammar = field(init=False)

    def __post_init__(self) -> None:
        self.sets = self.words.sets
        self.grammar = self.words.grammars[self.language]

    def say(
        self, directive: str, values: Iterable[str], parts: Iterable[Segment], rule: str, *, negated: bool = False,
        confidence: float = 1.0, assumption: str = "",
    ) -> None:  # fmt: skip
        """Note the condition of a directive with some values."""
        try:
            clauses: tuple[Clause, ...] = (make_condition(directive, values, negated=negated),)
        except ValueProblem:
            clauses = ()
        self.note(Reading(clauses, list(parts), rule, confidence, assumption, directive))

    def say_any(
        self, branches: Iterable[Iterable[Clause]], parts: Iterable[Segment], rule: str, *, negated: bool = False,
        confidence: float = 1.0, assumption: str = "",
    ) -> None:  # fmt: skip
        """Note alternatives."""
        try:
            clauses: tuple[Clause, ...] = (make_any_of(branches, negated=negated),)
        except ValueProblem:
            clauses = ()
        self.note(Reading(clauses, list(parts), rule, confidence, assumption))

    def note(self, reading: Reading) -> None:
        """Note what some words say. Words that deny one of them belong to it; words that were refused do not."""
        whole = [part for part in reading.parts if not part.refused]
        for part in whole:  # grows while it is walked: what denies a denial belongs to it too
            if part.denied_by is not None and part.denied_by not in whole:
                whole.append(part.denied_by)
        reading.parts = whole
        self.readings.append(reading)
        for part in whole:
            part.used = True
            part.readings.append(reading)

    def join(self, part: Segment, readings: Iterable[Reading]) -> None:
        """Count a word to conditions that other words say."""
        part.used = True
        for reading in readings:
            if reading not in part.readings:
                part.readings.append(reading)
            if part not in reading.parts:
                reading.parts.append(part)

    def refuse(self, parts: Iterable[Segment], why: str, *, settled: bool = False) -> None:
        """Note words that become nothing, and why; words of a condition are left out."""
        whole = tuple(part for part in parts if not part.readings)
        self.refused.append(Refused(whole, why, settled))
        for part in whole:
            part.used = part.refused = True

    def before(self, at: int) -> Segment | None:
        """The segment before, without words that mean nothing by themselves."""
        self.steps.take()
        for part in reversed(self.parts[:at]):
            if not (
                part.has(Role.FUNCTION)
                and part.kind == Role.UNKNOWN
                and not part.has(Role.USING, Role.PLACE_PREPOSITION)
            ):
                return part
        return None

    def after(self, at: int) -> Segment | None:
        return self.parts[at + 1] if at + 1 < len(self.parts) else None

    def beside(self, at: int, step: int) -> Segment | None:
        """The next member of the list that a segment is in (joined by and, or, a comma): before (-1) or after (1)."""
        self.steps.take()
        i, joined = at + step, False
        while 0 <= i < len(self.parts) and abs(i - at) <= 4:
            part = self.parts[i]
            if part.has(Role.AND, Role.OR, Role.COMMA):
                joined = True
            elif not part.has(Role.FUNCTION, Role.PLACE_PREPOSITION, Role.LANGUAGE_MARKER) or part.kind in PLACES:
                return part if joined else None
            i += step
        return None

    def countries_of(self, part: Segment) -> set[str]:
        """The countries that a place of that name can be in, the likeliest of cities only; none of regions."""
        known = vocabulary()
        if part.kind in (Role.COUNTRY, Role.NATIONALITY, Role.GROUP):
            return set(part.values)
        if part.kind == Role.STATE:
            return {known.country_alpha3(value.partition("-")[0]) or "" for value in part.values if "-" in value}
        return {city.country for city in self.words.cities(part.values[0])[:1]} if part.kind == Role.CITY else set()

    def page_follows(self, at: int) -> bool:
        after = self.after(at)
        return after is not None and after.has(Role.PAGE_WORD)

    def near(self, at: int, kinds: Sequence[Role], *, back: int = 6, ahead: int = 6) -> bool:
        """Whether a word of these kinds is near, in the same part of the sentence."""
        self.steps.take()
        for i in range(at - 1, max(-1, at - 1 - back), -1):
            part = self.parts[i]
            if part.has(Role.BREAK) or (part.kind == Role.NUMBER and i < at - 3):
                break
            if part.has(*kinds):
                return True
        for i in range(at + 1, min(len(self.parts), at + 1 + ahead)):
            part = self.parts[i]
            if part.has(Role.BREAK, Role.COMMA) or (part.has(Role.AND) and not part.has(*kinds)):
                break
            if part.has(*kinds):
                return True
        return False

    def around(self, at: int, kinds: Sequence[Role]) -> list[Segment]:
        """All words of these kinds near a number: they say what it counts."""
        self.steps.take()
        near = self.parts[max(0, at - 8) : at + 8]
        return [part for part in near if part.has(*kinds) and not part.refused]

    def joint(self, first: int, second: int) -> Role | None:
        """How two segments are joined, if nothing else is between them."""
        self.steps.take()
        inside = self.parts[first + 1 : second]
        between = [
            part for part in inside if part.has(Role.AND, Role.OR) or not part.has(Role.FUNCTION, Role.TOOL_NOUNS)
        ]
        if not between or not all(
            part.has(Role.AND, Role.OR, Role.COMMA) or (part.kind == Role.UNKNOWN and part.has(Role.USING))
            for part in between
        ):
            return None
        between = [part for part in between if part.key not in self.sets.group_openers]
        if not between:
            return Role.AND
        if any(part.has(Role.OR) for part in between):
            return Role.OR
        return Role.AND if any(part.has(Role.AND) for part in between) else Role.COMMA


def family(part: Segment) -> str:
    """Kinds that one negation can cover together."""
    kind = part.kind
    if kind in PLACES:
        return "place"
    if kind in (Role.TECHNOLOGY, Role.CATEGORY):
        return "tool"
    if kind in _THINGS:
        return "thing"
    return kind
