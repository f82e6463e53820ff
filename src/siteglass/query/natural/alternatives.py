"""Alternatives of different kinds: "a phone number or an email", "agencies in Madrid or SaaS companies in Lisbon".

An "or" between two values of one field needs nothing: they share a line. Otherwise each side is a branch of `@any`. A
branch is a run of phrases, read by the same stages as a whole sentence. How far a branch reaches:

- one thing on each side, with the small words before it: "use Pipedrive | lack a CRM";
- after a comma, the clause up to the next one: "on Webflow, | on Gatsby with Contentful";
- two sides of the same structure, with all that repeats: "Shopify stores in Italy | Magento stores in Spain".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise

from siteglass.query.criteria import Clause, Condition
from siteglass.query.filters import directive_can_say
from siteglass.query.natural.accounting import NOT_USED
from siteglass.query.natural.joined import LEADING, TRAILING, Things, last_before
from siteglass.query.natural.keywords import is_left
from siteglass.query.natural.kinds import PLACES, Role
from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.segments import Reading, Segment
from siteglass.query.natural.sentence import Sentence

EITHER = "a search cannot ask for one of these two things; search for each"
_BETWEEN_LOADS = (Role.LOAD_TIME, Role.FUNCTION)
# What may join the things of one side.
_LINKS = (Role.AND, Role.USING, Role.PLACE_PREPOSITION, Role.NEGATION, Role.EXCEPTION, Role.OFFERING)
_EITHER = frozenset(("either", "entweder", "soit", "ofwel"))
# So many items of a list have several things, if each item is a side.
_SEVERAL = 2
_INNER = frozenset((Role.STATE, Role.CITY))
# What a denial before an "or" denies, too: what a site has, and good qualities. "Not secure or slow" denies one thing.
_BAD = frozenset((Role.FLAG_BAD, Role.SLOW, Role.VERY_SLOW, Role.POOR_SEO))
_SHARING = frozenset((Role.TECHNOLOGY, Role.CATEGORY, Role.FLAG_GOOD, Role.FAST, Role.GOOD_SEO, Role.EXCELLENT_SEO))
# So many things a side of an "or" between whole phrases has at most, and so many words before it are looked at.
_MOST_IN_BUNDLE = 6
_MOST_AWAY = 30
# So many words a list of whole phrases has before its "or".
_MOST_LISTED = 90
# Nobody says more groups of alternatives in a sentence; each is read by itself.
MAX_GROUPS = 8

Stages = Callable[[Sentence], None]
"""What reads the conditions of a sentence or of a branch."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A branch: from one phrase up to another, and a denial that it shares with the branch before."""

    start: int
    end: int
    denial: Segment | None = None


def read_alternatives(sentence: Sentence, stages: Stages) -> None:
    """Write every group of alternatives that one line cannot say."""
    places = {part.kind in _INNER for part in sentence.parts if part.kind in PLACES}
    if len(places) < 2 and not any(part.has(Role.OR) for part in sentence.parts):
        return
    finder, groups = _Finder(sentence), 0
    for at, part in enumerate(sentence.parts):
        if groups < MAX_GROUPS and finder.joins(at) and not part.used and (sides := finder.sides(at)):
            _write(sentence, sides, stages)
            finder.forget()
            groups += 1


def _write(sentence: Sentence, sides: Sequence[_Side], stages: Stages) -> None:
    """Read each branch by itself, and join them."""
    whole = sentence.parts[sides[0].start : sides[-1].end]
    branches, read = [], []
    for side in sides:
        parts = sentence.parts[side.start : side.end]
        if side.denial is not None:
            parts = [Segment(side.denial.tokens, [Sense(Role.NEGATION)], kind=Role.NEGATION), *parts]
        branch = replace(sentence, parts=parts, readings=[], refused=[], asides=[])
        stages(branch)
        if left := [part for part in parts if is_left(part)]:
            branch.refuse(left, NOT_USED)
        branches.append([reading for reading in branch.readings if _can_be_branch(reading)])
        read.extend(branch.readings)
        sentence.refused.extend(branch.refused)
    for part in whole:
        part.readings = []
    if not all(branches):
        sentence.refuse(whole, EITHER)
        return
    if lacking := _lacking_one(branches):
        sentence.say("lacks", lacking, whole, "alternatives")  # its values are alternatives
        return
    notes = "; ".join(dict.fromkeys(reading.assumption for reading in read if reading.assumption))
    sure = min(reading.confidence for reading in read)
    sentence.say_any(map(_together, branches), whole, "alternatives", confidence=sure, assumption=notes)


def _lacking_one(branches: Sequence[Sequence[Reading]]) -> list[str]:
    """ "lack payments or lack analytics": the categories, if each branch lacks some and asks nothing else."""
    clauses = [clause for branch in branches for reading in branch for clause in reading.clauses]
    if len(clauses) != len(branches):
        return []
    plain = [one for one in clauses if isinstance(one, Condition) and one.field == "lacks" and not one.negated]
    return [str(value) for one in plain for value in one.values] if len(plain) == len(clauses) else []


def _can_be_branch(reading: Reading) -> bool:
    """Whether `@any` may have it in a branch: not a score that no directive can say."""
    return all(map(directive_can_say, reading.clauses))


def _together(branch: Sequence[Reading]) -> list[Clause]:
    """The conditions of a branch; none if no search can say one of them."""
    sayable = all(reading.clauses for reading in branch)
    return [clause for reading in branch for clause in reading.clauses] if sayable else []


class _Finder(Things):
    """Finds what an "or" joins."""

    def joins(self, at: int) -> bool:
        """Whether a phrase is an "or" between two things; an "and" is one between places of different size."""
        part = self._parts[at]
        opens = part.key in self._sentence.sets.group_openers
        return part.has(Role.OR, Role.AND) and not opens and part.key not in self._sentence.sets.nor

    def sides(self, at: int) -> list[_Side]:
        """The branches that the "or" at a place joins; none if one line can say them."""
        if self._parts[at].has(Role.OR) and (
            sides := self._brackets(at) or self._listed_bundles(at) or self._relative(at) or self._either(at)
        ):
            return sides
        left, right = self.thing(at, -1), self.thing(at, 1)
        if left is None or right is None:
            return []
        if not self._parts[at].has(Role.OR):
            return self._two(at, left, right) if self._places_differ(left, right) else []
        if self._parts[at].key in self._sentence.sets.unless:
            return [_Side(self._start(left), self._without_comma(at)), _Side(at + 1, self._clause_end(at))]
        if bundle := self._bundle(at) or self._businesses(at) or self._pairs(at):
            return bundle
        if clause := self._clause(at, left, right):
            return clause
        if self._denied_apart(left, at, right):
            return self._two(at, left, right)
        first, second = self.asked(left), self.asked(right)
        if first == second or {first, second} <= {"place", Role.LANGUAGE}:
            return self._two(at, left, right) if self._places_differ(left, right) else []
        if self.denied(left) and not self._own_verb(at, right):
            return []  # "without a phone or a CRM" means neither
        return self._two(at, left, right)

    # --- what is joined ---------------------------------------------------------------------------

    def _places_differ(self, left: int, right: int) -> bool:
        """ "Berlin or anywhere in Austria": one line for countries and one for cities would ask for both."""
        first, second = self._parts[left], self._parts[right]
        if not {first.kind, second.kind} <= PLACES or (first.kind in _INNER) == (second.kind in _INNER):
            return False
        inner, outer = (first, second) if first.kind in _INNER else (second, first)
        listed = [other for other in (self._sentence.beside(left, -1), self._sentence.beside(right, 1)) if other]
        if any(other.kind in PLACES for other in listed) or first.negated or second.negated or self.denied(left):
            return False
        return not self._lies_in(inner, outer)

    def _lies_in(self, inner: Segment, outer: Segment) -> bool:
        countries = self._sentence.countries_of(inner)
        return bool(countries & set(outer.values)) or outer.kind in (Role.REGION, Role.SUBREGION)

    # --- how far a branch reaches -----------------------------------------------------------------

    def _start(self, at: int) -> int:
        """Where the words before a thing begin that belong to it."""
        start = self.whole(at)[0]
        while start and self.built(at) == "business" and self.built(start - 1) == "tool":
            start -= 1  # "Magento stores"
        while start and self._leads(start - 1):
            start -= 1
        return start

    def _leads(self, at: int) -> bool:
        part = self._parts[at]
        opens = part.key in self._sentence.sets.group_openers
        opens = opens and not (at and self._parts[at - 1].has(Role.NEGATION))  # "missing either A or B"
        own = opens or (self._is_relative(at) and not part.has(Role.NEGATION))  # "that have no" denies the thing
        return part.has(*LEADING) and not own and not self.asked(at) and not part.used

    def _end(self, at: int) -> int:
        """Where the words after a thing end that belong to it."""
        end = self.whole(at)[-1] + 1
        if self.built(at) == "tool" and end < len(self._parts) and self.built(end) == "business":
            return end + 1  # "SEO agencies"
        number = self._parts[at].kind == Role.NUMBER
        while end < len(self._parts) and not self.asked(end) and not self._parts[end].used:
            part = self._parts[end]
            small = number and part.has(Role.FUNCTION, Role.PLACE_PREPOSITION) and self._trails(end + 1)
            if not part.has(*TRAILING) and not small:
                break
            end += 1
        return end

    def _trails(self, at: int) -> bool:
        return at < len(self._parts) and self._parts[at].has(*TRAILING, *_BETWEEN_LOADS) and not self.asked(at)

    def _two(self, at: int, left: int, right: int) -> list[_Side]:
        """One thing on each side, and further ones joined by "or" or a comma."""
        first = _Side(self._start(self.first_listed(left)), at)
        shared = self._shared_denial(left, at, right)
        sides = [*self._things_before(first.start), first, _Side(at + 1, self._end(right), shared)]
        sides = [replace(side, end=self._without_comma(side.end)) for side in sides]
        while (end := sides[-1].end) < len(self._parts) and self._parts[end].has(Role.OR):
            further = self.thing(end, 1)
            if further is None:
                break
            sides.append(_Side(end + 1, self._end(further), shared))
        return sides

    def _without_comma(self, end: int) -> int:
        return end - 1 if self._parts[end - 1].has(Role.COMMA) else end

    def _things_before(self, start: int) -> list[_Side]:
        """ "a phone, an email or a Facebook page": things before a comma."""
        sides: list[_Side] = []
        while start > 1 and self._parts[start - 1].has(Role.COMMA):
            thing = self.thing(start - 1, -1)
            if thing is None or not self.asked(thing).startswith(("flag", "cont")):
                break
            sides.insert(0, _Side(self._start(thing), start - 1))
            start = sides[0].start
        return sides

    def _shared_denial(self, left: int, at: int, right: int) -> Segment | None:
        """ "missing a sitemap or a robots.txt", "not secure or fast": the denial of the first is that of the second."""
        part, other = self._parts[left], self._parts[right]
        if any(between.has(Role.NEGATION, Role.USING) for between in self._parts[at + 1 : right]):
            return None
        if other.kind not in _SHARING and other.kind not in (Role.FLAG_NOUNS, Role.CONTACT):
            return None
        role = self._sentence.words.role
        if part.kind in _BAD and (said := [token for token in part.tokens if role(token.key, Role.NEGATION)]):
            return Segment(said[:1], [Sense(Role.NEGATION)])
        if part.kind not in _SHARING and part.kind != Role.FLAG_NOUNS:
            return None
        for before in reversed(self._parts[:left]):
            if before.has(Role.NEGATION):
                return before
            if not before.has(Role.FUNCTION, Role.USING) and before.key not in self._sentence.sets.group_openers:
                return None
        return None

    def _clause(self, at: int, left: int, right: int) -> list[_Side]:
        """ "on Webflow, or on Gatsby with Contentful"."""
        if not self._parts[at - 1].has(Role.COMMA):
            return []
        end = self._clause_end(at)
        own = self._parts[at + 1].has(Role.USING, Role.PLACE_PREPOSITION, Role.OFFERING)
        tools = [i for i in self.things_in(at + 1, end) if self.built(i) == "tool"]
        with_tool = self.built(left) == "tool" and tools[:1] == [right] and self._linked(tools)
        if not (own or with_tool):
            return []
        if sum(1 for i in range(right, end) if self.asked(i)) < 2:
            return []
        return [_Side(self._start(left), at - 1), _Side(at + 1, end)]

    def _bundle(self, at: int) -> list[_Side]:
        """ "Shopify stores in Italy or Magento stores in Spain": both sides say the same things in the same order."""
        end = at - 1 if self._parts[at - 1].has(Role.COMMA) else at
        start = max(self._clause_start(end), at - _MOST_AWAY)
        before = list(self.things_in(start, end))[-_MOST_IN_BUNDLE:]
        after = list(islice(self.things_in(at + 1, self._clause_end(at)), _MOST_IN_BUNDLE))
        for count in range(min(len(before), len(after)), 1, -1):
            first, second = before[-count:], after[:count]
            kinds = [self.built(i) for i in second]
            same = kinds == [self.built(i) for i in first] and kinds[0] in ("tool", "business")
            placed = kinds[-1] in ("place", "business")
            if same and (placed or self._linked_equally(first, second)):
                last = self._end(second[-1])
                continues = not placed and kinds[0] == "business" and last < len(self._parts)
                if continues and self._parts[last].has(Role.AND):
                    last = self._clause_end(at)  # "car rentals with no sitemap and no Facebook"
                return [_Side(first[0], end), _Side(at + 1, last)]
        return []

    def _businesses(self, at: int) -> list[_Side]:
        """ "hotels without a booking calendar or restaurants with no sitemap": each side names a business and more."""
        end = self._without_comma(at)
        after = list(islice(self.things_in(at + 1, self._clause_end(at)), _MOST_IN_BUNDLE))
        if len(after) < 2 or not self._names_business(after[self._is_placed_business(after[0])]):
            return []
        before = list(self.things_in(max(self._sentence_start(at), at - _MOST_AWAY), end))
        named = [i for i in before if self._names_business(i)]
        if not named or named[-1] == before[-1]:
            return []
        start = self._start(named[-1])
        if start and self._is_placed_business(start - 1):
            start -= 1
        return [_Side(start, end), _Side(at + 1, self._clause_end(at))]

    def _is_placed_business(self, at: int) -> bool:
        """ "Vienna hotels": a place right before a kind of business."""
        return self.built(at) == "place" and at + 1 < len(self._parts) and self._names_business(at + 1)

    def _names_business(self, at: int) -> bool:
        """ "restaurants", "Magento stores", "real estate companies"."""
        after = self._sentence.after(at)
        kind = self.built(at)
        return kind == "business" or (kind == "tool" and after is not None and after.has(Role.GENERIC, Role.SHOP_WORD))

    def _pairs(self, at: int) -> list[_Side]:
        """ "spend over 15k and no CRM, or spend below 1k and a slow site": two clauses that join things by "and"."""
        if not self._parts[at - 1].has(Role.COMMA):
            return []
        sides = [_Side(self._sentence_start(at), at - 1), _Side(at + 1, self._clause_end(at))]
        for side in sides:
            inside = self._parts[side.start : side.end]
            things = [self.built(i) for i in self.things_in(side.start, side.end)]
            if len(things) < 2 or not any(part.has(Role.AND) for part in inside) or {"business", "place"} & {*things}:
                return []
            if any(part.has(Role.COMMA) for part in inside):
                return []
        return sides

    def _linked(self, tools: Sequence[int]) -> bool:
        """ "Adobe Experience Manager with Marketo"."""
        return len(tools) > 1 and any(part.has(Role.USING) for part in self._parts[tools[0] + 1 : tools[1]])

    def _either(self, at: int) -> list[_Side]:
        """ "either no H1 and no meta description, or a score under 30": all from "either" on is the first side."""
        start = self._sentence_start(at)
        opens = [i for i in range(max(start, at - _MOST_AWAY), at) if self._parts[i].key in _EITHER]
        if not opens or not self._parts[at - 1].has(Role.COMMA):
            return []
        sides = [_Side(opens[-1] + 1, at - 1), _Side(at + 1, self._clause_end(at))]
        things = [list(self.things_in(side.start, side.end)) for side in sides]
        return sides if all(things) and len(things[0]) > 1 else []

    def _listed_bundles(self, at: int) -> list[_Side]:
        """ "Shopify stores with Gorgias, Magento stores with Zendesk, or anything on Wix": each item is a side, if all
        begin with the same kind of thing and one has several."""
        if not self._parts[at - 1].has(Role.COMMA):
            return []
        start = self._sentence_start(at)
        commas = [i for i in range(start, at) if self._parts[i].has(Role.COMMA)] if at - start <= _MOST_LISTED else []
        if len(commas) < 2:
            return []
        bounds = [*pairwise([start, *(i + 1 for i in commas)]), (at + 1, self._clause_end(at) + 1)]
        items = [(list(self.things_in(first, last - 1)), last - 1) for first, last in bounds]
        kinds = {self.built(things[0]) if things else "" for things, _ in items}
        several = sum(len(things) > 1 for things, _ in items)
        if len(kinds) > 1 or not kinds <= {"tool", "business"} or several < _SEVERAL:
            return []
        return [_Side(things[0], end) for things, end in items]

    def _relative(self, at: int) -> list[_Side]:
        """ "that spend over 2k, or that use Mailchimp but don't run ads": two separate clauses."""
        if not self._parts[at - 1].has(Role.COMMA) or at + 1 >= len(self._parts) or not self._is_relative(at + 1):
            return []
        left = [i for i in range(max(self._sentence_start(at), at - _MOST_AWAY), at) if self._is_relative(i)]
        if not left:
            return []
        following = range(at + 1, len(self._parts))
        end = next((i for i in following if self._parts[i].has(Role.BREAK, Role.COMMA)), len(self._parts))
        sides = [_Side(left[-1], at - 1), _Side(at + 1, end)]
        return sides if all(list(self.things_in(side.start, side.end)) for side in sides) else []

    def _is_relative(self, at: int) -> bool:
        return not self._sentence.sets.relative.isdisjoint(self._parts[at].key.split())

    def _sentence_start(self, at: int) -> int:
        """Where the sentence or request begins that a place is in."""
        return last_before(self._sentence_ends, at) + 1

    def _linked_equally(self, first: Sequence[int], second: Sequence[int]) -> bool:
        """ "React and Stripe or Vue and PayPal", "Wix with Stripe or Wix with PayPal": the words between are the same,
        and no denial before the first reaches all."""
        links = [
            [frozenset(kind for kind in _LINKS for part in self._parts[i + 1 : j] if part.has(kind)) for i, j in pairs]
            for pairs in (pairwise(first), pairwise(second))
        ]
        return links[0] == links[1] and all(links[0]) and not self.denied(first[0])

    def _brackets(self, at: int) -> list[_Side]:
        """ "(WordPress and no SSL) or (Wix and slow)"."""
        parts = self._parts
        if not 0 < at < len(parts) - 1 or parts[at - 1].key != ")" or parts[at + 1].key != "(":
            return []
        opens = next((i for i in range(at - 2, -1, -1) if parts[i].key == "("), None)
        closes = next((i for i in range(at + 2, len(parts)) if parts[i].key == ")"), None)
        return [_Side(opens + 1, at - 1), _Side(at + 2, closes)] if opens is not None and closes is not None else []

    def _clause_start(self, at: int) -> int:
        return max(last_before(self._clause_ends, at), last_before(self._sentence_ends, at)) + 1

    def _clause_end(self, at: int) -> int:
        later = bisect_right(self._clause_ends, at)
        return self._clause_ends[later] if later < len(self._clause_ends) else len(self._parts)

    @cached_property
    def _sentence_ends(self) -> list[int]:
        """Where sentences and requests end. As below: found once, since every "or" looks for the nearest."""
        return [i for i, part in enumerate(self._parts) if part.has(Role.BREAK, Role.REQUESTS)]

    @cached_property
    def _clause_ends(self) -> list[int]:
        return [i for i in range(len(self._parts)) if self._ends_clause(i)]

    def _ends_clause(self, at: int) -> bool:
        """A comma, or a "but"; "but not" only denies what follows."""
        part = self._parts[at]
        return part.has(Role.COMMA, Role.BREAK) or (part.has(Role.BUT) and not part.has(Role.NEGATION, Role.EXCEPTION))

    # --- separate sides ------------------------------------------------------------------------------

    def _denied_apart(self, left: int, at: int, right: int) -> bool:
        """ "lack payments or lack analytics", "no calendar or no https": a denial on each side; one is enough."""
        if not {self.built(left), self.built(right)} <= {"tool", "had"}:
            return False
        own = any(part.has(Role.NEGATION) for part in self._parts[at + 1 : right]) or self._holds_denial(right)
        return own and (self._holds_denial(left) or any(part.has(Role.NEGATION) for part in self._said_of(left)))

    def _holds_denial(self, at: int) -> bool:
        role = self._sentence.words.role
        return self._parts[at].kind in _BAD and role(self._parts[at].tokens[0].key, Role.NEGATION) is not None

    def _said_of(self, at: int) -> Sequence[Segment]:
        """The words before a thing that belong to it."""
        return self._parts[self._start(at) : at]

    def _own_verb(self, at: int, right: int) -> bool:
        """ "not using Shopify or based in Texas": what follows the "or" is separate."""
        between = [part for part in self._parts[at + 1 : right] if not part.has(Role.FUNCTION)]
        own = (Role.USING, Role.PLACE_PREPOSITION, Role.OFFERING)
        return right in self.changes or any(part.has(*own) for part in between)
