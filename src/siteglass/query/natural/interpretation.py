"""What a sentence means, with the reasons: which words became which condition, and what became of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from siteglass.errors import QueryError
from siteglass.query.criteria import Clause, Criteria, criteria, merge
from siteglass.query.directives import print_condition, size_problem
from siteglass.query.filters import describe_clause, directive_can_say, write_filters
from siteglass.query.natural import town_sizes
from siteglass.query.natural.kinds import ENTITIES, PLACES, Role, TokenKind
from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.places import cities_of
from siteglass.query.natural.reading import Words, read
from siteglass.query.natural.scope import INDIFFERENT
from siteglass.query.natural.second_look import Said, Suspicion, look_again
from siteglass.query.natural.segments import Reading, Segment
from siteglass.query.natural.sentence import Refused, Steps
from siteglass.query.natural.text import Token
from siteglass.query.vocabulary import vocabulary

MAX_ALTERNATIVES = 3
# Each is a reading of the whole sentence.
MAX_TRIED = 8
CHARS_PER_UNIT = 200
"""A query takes one unit of the rate limit for so many characters begun."""
# A unit is to cost at most 20 ms of a processor. Sentences that people write take at most 40 of these steps, lists that
# join 1,000 characters of names by "or" about 1,700.
STEPS_PER_UNIT = 2_000
# Below it a search in strict mode is refused.
LOW_CONFIDENCE = 0.6
_CORRECTED = 0.8
_AMBIGUOUS = 0.8
# Of a name with two kinds of meaning, by kind: how sure the first is against the second. A town called Chile is seldom
# meant, and who means the state of Dublin finds the city in it.
_MARGINS = {
    (Role.COUNTRY, Role.CITY): 0.97,
    (Role.COUNTRY, Role.STATE): 0.97,
    (Role.REGION, Role.CITY): 0.97,
    (Role.GROUP, Role.CITY): 0.97,
    (Role.CITY, Role.STATE): 0.97,
    (Role.STATE, Role.CITY): 0.97,
    (Role.STATE, Role.COUNTRY): 0.97,
    (Role.NATIONALITY, Role.LANGUAGE): 0.95,
    (Role.LANGUAGE, Role.NATIONALITY): 0.95,
    (Role.SERVICE_TYPE, Role.CATEGORY): 0.95,
    (Role.CATEGORY, Role.TECHNOLOGY): 0.95,
    (Role.CATEGORY, Role.SERVICE_TYPE): 0.95,
    (Role.CATEGORY, Role.COUNTRY): 0.97,
    (Role.TECHNOLOGY, Role.SERVICE_TYPE): 0.95,
    (Role.TECHNOLOGY, Role.COUNTRY): 0.97,
    (Role.TECHNOLOGY, Role.CITY): 0.95,
    (Role.CITY, Role.TECHNOLOGY): 0.95,
    (Role.STATE, Role.NATIONALITY): 0.95,
    (Role.GROUP, Role.SUBREGION): 0.97,
}
_UNSUPPORTED = 0.9
_DANGLING_DENIAL = 0.5
_FOREIGN = 0.5
# "IT companies": less than LOW_CONFIDENCE, because Italy is hardly meant.
_DOUBTFUL_CODE = 0.5
# Shorter words are codes, not cities.
_CODE = 3
TOO_LARGE = "the search would be larger than one may be"
_KIND_NAMES = {
    Role.COUNTRY: "the country", Role.STATE: "the state", Role.CITY: "the city", Role.REGION: "the region",
    Role.SUBREGION: "the region", Role.GROUP: "the group of countries", Role.NATIONALITY: "the country",
    Role.LANGUAGE: "the language", Role.SPOKEN: "the language", Role.TECHNOLOGY: "the technology",
    Role.CATEGORY: "the kind of software", Role.SERVICE_TYPE: "the kind of business",
}  # fmt: skip


def units_of(query: str) -> int:
    """How many units of the rate limit reading a query takes."""
    return max(1, -(-len(query) // CHARS_PER_UNIT))


@dataclass(frozen=True, slots=True)
class Span:
    """Words of the query, from one character up to another."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Understood:
    """A condition, the words that say it, the rule that read them, and how sure that is."""

    directive: str
    words: tuple[Span, ...]
    rule: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about some words."""

    words: tuple[Span, ...]
    message: str
    excludes: bool = False
    """Whether the words exclude something."""
    settled: bool = False
    """Whether it is certain that the words say nothing of the leads: no reason to doubt the reading."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A misspelt word, and what it was taken for."""

    word: Span
    to: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of some words, and the whole search it would be."""

    words: tuple[Span, ...]
    reading: str
    directives: tuple[str, ...]
    model: str = ""
    """The language model that reads it so; none, if our rules offer it."""


class Interpretation:
    """The meaning of one sentence. What only an explanation needs is worked out when it is asked for."""

    def __init__(self, query: str, words: Words, today: date) -> None:
        self.query = query
        self._words = words
        self._today = today
        self._sentence = read(words, today, self._steps())
        self.criteria, self._left_out = _gather(self._sentence.readings)
        self.directives = _directives(self.criteria)

    def _steps(self) -> Steps:
        """So many as the length of the query allows, as it pays units of the rate limit by length."""
        return Steps(STEPS_PER_UNIT * units_of(self.query))

    @cached_property
    def filters(self) -> dict[str, Any]:
        """The filter that says what no directive can: a score near 0 or 100."""
        outer = (clause for clause in self.criteria.conditions if not directive_can_say(clause))
        return write_filters(Criteria(tuple(outer)))

    @cached_property
    def confidence(self) -> float:
        """How sure the whole reading is, from 0 to 1."""
        sure = min((self._sure(reading) for reading in self._sentence.readings), default=1.0)
        sure *= _UNSUPPORTED ** min(3, self._unsupported_count)
        sure *= _DANGLING_DENIAL if self._sentence.dangling_denial else 1.0
        sure *= _FOREIGN if self._sentence.foreign else 1.0
        return round(min([sure, *(one.confidence for one in self._suspicions)]), 2)

    @cached_property
    def _suspicions(self) -> list[Suspicion]:
        """What a second look doubts, apart from words that are reported anyhow."""
        read = [Said(clause, _places(known.words)) for clause, known in self.understood.items()]
        notes = [Said(None, _places(note.words), note.excludes or note.settled) for note in self.unsupported]
        return look_again(self.query, self._words.language, [*read, *notes])

    @cached_property
    def doubted(self) -> tuple[Note, ...]:
        """Words that may have been misread."""
        return tuple(
            Note((Span(self.query[one.start : one.end], one.start, one.end),), one.message, one.excludes)
            for one in self._suspicions
        )

    @property
    def _unsupported_count(self) -> int:
        return sum(not one.settled for one in self._sentence.refused) + len(self._left_out)

    @property
    def conditions(self) -> tuple[Understood, ...]:
        """Every condition with the words that say it."""
        return tuple(self.understood.values())

    @cached_property
    def understood(self) -> dict[Clause, Understood]:
        """Each condition, and how it was read."""
        said = [reading for reading in self._sentence.readings if reading not in self._left_out]
        read: dict[Clause, Understood] = {}
        for clause, origins in merge(clause for reading in said for clause in reading.clauses).items():
            readings = [reading for reading in said if any(one in origins for one in reading.clauses)]
            read[clause] = self._understood(describe_clause(clause), readings)
        return read

    def _understood(self, directive: str, readings: Sequence[Reading]) -> Understood:
        sure = min((self._sure(reading) for reading in readings), default=1.0)
        rule = ", ".join(dict.fromkeys(reading.rule for reading in readings))
        words = self._spans(part for reading in readings for part in reading.parts)
        return Understood(directive, words, rule, round(sure, 2))

    def _sure(self, reading: Reading) -> float:
        sure = reading.confidence
        if any(token.corrected for part in reading.parts for token in part.tokens):
            sure *= _CORRECTED
        sure *= min((self._margin(part) for part in reading.parts), default=1.0)
        if any(self._doubtful(part) for part in reading.parts):
            sure *= _DOUBTFUL_CODE
        return sure

    def _margin(self, part: Segment) -> float:
        """How sure the meaning of a word is against the next likely one."""
        if part.kind in PLACES and self._is_settled(part):
            return 1.0
        known = {} if part.key in self._sentence.sets.us_states_first else _MARGINS
        others = (known.get((part.kind, sense.kind), _AMBIGUOUS) for sense, _ in self._other_senses(part))
        near = (_AMBIGUOUS for _, share in self._namesakes(part) if share >= town_sizes.NEAR_SHARE)
        return min((*others, *near), default=1.0)

    def _is_settled(self, part: Segment) -> bool:
        """Whether another place of the sentence says which of several a name means: "Perth, Scotland"."""
        own = self._sentence.countries_of(part)
        mine = own.union(city.country for city in cities_of(self._sentence, part)) & self._countries
        return any(self._placed[country] > (country in own) for country in mine)

    @cached_property
    def _placed(self) -> Counter[str]:
        """How many of the places that are said can be in each country."""
        places = (part for part in self._sentence.parts if part.kind in PLACES and part.readings)
        return Counter(country for part in places for country in self._sentence.countries_of(part))

    @cached_property
    def _countries(self) -> frozenset[str]:
        """The countries that are searched."""
        return frozenset(str(value) for one in self.criteria.plain if one.field == "country" for value in one.values)

    def _doubtful(self, part: Segment) -> bool:
        """Whether a code of a country is rather the ordinary word: it is in no list, and a noun follows."""
        if part.kind != Role.COUNTRY or part.key not in self._sentence.sets.doubtful_codes:
            return False
        at = self._sentence.parts.index(part)
        before, after = self._sentence.parts[at - 1] if at else None, self._sentence.after(at)
        placed = before is not None and before.has(Role.PLACE_PREPOSITION, Role.AND, Role.OR, Role.COMMA)
        return (
            not placed
            and after is not None
            and (after.has(Role.GENERIC) or after.kind in (Role.SERVICE_TYPE, Role.UNKNOWN))
        )

    @cached_property
    def assumptions(self) -> tuple[Note, ...]:
        """What was taken for granted."""
        return tuple(
            Note(self._spans(reading.parts), reading.assumption)
            for reading in self._sentence.readings
            if reading.assumption and reading not in self._left_out
        )

    @cached_property
    def corrections(self) -> tuple[Correction, ...]:
        """Misspelt words."""
        wrong = {token.start: token for token in self._words.tokens if token.corrected}
        return tuple(Correction(self._span(token, token), token.key) for token in wrong.values())

    @cached_property
    def unsupported(self) -> tuple[Note, ...]:
        """Words that ask for what no search can do, or that were not understood."""
        refused = [Note(self._spans(one.parts), one.why, _excludes(one), one.settled) for one in self._sentence.refused]
        return (*refused, *(Note(self._spans(reading.parts), TOO_LARGE) for reading in self._left_out))

    @cached_property
    def ignored(self) -> tuple[Span, ...]:
        """Words that say nothing about a lead."""
        spans = [span for one in self.conditions for span in one.words]
        spans.extend(span for note in self.unsupported for span in note.words)
        accounted = {(span.start, span.end) for span in spans}
        left = [
            token
            for part in self._sentence.parts
            for token in part.tokens
            if token.kind != TokenKind.SIGN and not any(start <= token.start < end for start, end in accounted)
        ]
        return self._spans_of(left)

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """Other readings of ambiguous words."""
        made: list[Alternative] = []
        seen = {self.directives}
        tried: set[tuple[str, Sense]] = set()
        for part in self._sentence.parts:
            namesakes = ((one, f"in {vocabulary().country_name(one.values[-1])}") for one, _ in self._namesakes(part))
            for sense, name in (*self._other_senses(part), *namesakes):
                if len(made) == MAX_ALTERNATIVES or len(tried) == MAX_TRIED:
                    return tuple(made)
                if (part.key, sense) in tried:
                    continue
                tried.add((part.key, sense))
                try:
                    other = read(self._words, self._today, self._steps(), {part.tokens[0].start: sense})
                except QueryError:  # this reading would take too many steps
                    continue
                directives = _directives(_gather(other.readings)[0])
                if directives not in seen:
                    seen.add(directives)
                    made.append(Alternative(self._spans([part]), f"{part.text}, {name}", directives))
        return tuple(made)

    def _other_senses(self, part: Segment) -> Iterator[tuple[Sense, str]]:
        """What an ambiguous word could mean as well."""
        if part.kind not in ENTITIES:
            tool = part.sense(Role.TECHNOLOGY)
            if tool and part.tokens[0].capital and any(reading.rule == "keyword" for reading in part.readings):
                yield tool, _KIND_NAMES[Role.TECHNOLOGY]
            return
        names = {_KIND_NAMES[part.kind]}
        if part.kind in (Role.COUNTRY, Role.STATE, Role.CITY):
            names.add(_KIND_NAMES[Role.LANGUAGE])  # a place is not a language, though some share a code
        for sense in part.senses:
            name = _KIND_NAMES.get(sense.kind, "")
            if name and name not in names and (sense.kind != Role.CITY or len(part.key) > _CODE):
                names.add(name)
                yield sense, name

    def _namesakes(self, part: Segment) -> Iterator[tuple[Sense, float]]:
        """Cities of the same name in other countries, with their share of the people of the one that was taken."""
        cities = cities_of(self._sentence, part) if part.kind == Role.CITY else []
        taken = next((city for city in cities if city.country in self._countries), None)
        seen = set(self._countries)
        for city in cities:
            large = taken and city.population >= max(town_sizes.NAMESAKE, taken.population * town_sizes.NAMESAKE_SHARE)
            if taken and large and city.country not in seen:
                seen.add(city.country)
                yield Sense(Role.CITY, (city.name, city.country)), city.population / max(1, taken.population)

    def _span(self, first: Token, last: Token) -> Span:
        return Span(self.query[first.start : last.end], first.start, last.end)

    def _spans(self, parts: Iterable[Segment]) -> tuple[Span, ...]:
        return self._spans_of(token for part in parts for token in part.tokens if token.kind != TokenKind.SIGN)

    def _spans_of(self, tokens: Iterable[Token]) -> tuple[Span, ...]:
        """Words side by side are one span."""
        spans: list[list[Token]] = []
        number = -1
        for start in sorted({token.start for token in tokens}):
            before, (number, token) = number, self._numbered[start]
            if spans and number == before + 1:
                spans[-1].append(token)
            else:
                spans.append([token])
        return tuple(self._span(some[0], some[-1]) for some in spans)

    @cached_property
    def _numbered(self) -> dict[int, tuple[int, Token]]:
        """Every word by where it begins, with its number in the query."""
        literal = [literal.token for literal in self._words.literals]
        once = {token.start: token for token in [*self._words.tokens, *literal]}
        return {start: (number, once[start]) for number, start in enumerate(sorted(once))}


def _excludes(refused: Refused) -> bool:
    return not refused.settled and refused.why != INDIFFERENT and any(part.excludes for part in refused.parts)


def _places(words: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    return tuple((span.start, span.end) for span in words)


def _gather(readings: Sequence[Reading]) -> tuple[Criteria, list[Reading]]:
    """The search that readings say, and those that it leaves out: no search can say them, or it would be too large."""
    kept = [reading for reading in readings if reading.clauses]
    whole = _whole(kept)
    if size_problem(whole):
        kept = _as_many_as_fit(kept)
        whole = _whole(kept)
    return whole, [reading for reading in readings if reading not in kept]


def _whole(readings: Iterable[Reading]) -> Criteria:
    return criteria(clause for reading in readings for clause in reading.clauses)


def _as_many_as_fit(readings: Iterable[Reading]) -> list[Reading]:
    """The readings without those that make the search too large, from the first on."""
    kept: list[Reading] = []
    search = Criteria()
    for reading in readings:
        larger = criteria([*search.conditions, *reading.clauses])
        if not size_problem(larger):
            kept.append(reading)
            search = larger
    return kept


def _directives(criteria: Criteria) -> tuple[str, ...]:
    return tuple(print_condition(clause) for clause in criteria.conditions if directive_can_say(clause))
