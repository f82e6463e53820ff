"""Alternatives of different kinds: "a phone number or an email", "agencies in Madrid or SaaS companies in Lisbon".

An "or" between two values of one field needs nothing: they share a line. Otherwise each side is a branch of `@any`. A
branch is a run of phrases, read by the same stages as a whole sentence. How far a branch reaches:

- one thing on each side, with the small words before it: "use Pipedrive | lack a CRM";
- after a comma, the clause up to the next one: "on Webflow, | on Gatsby with Contentful";
- two sides that are built alike, with all that repeats: "Shopify stores in Italy | Magento stores in Spain".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from siteglass.query.natural.lexicon import Sense
from siteglass.query.natural.segments import ENTITIES, PLACES, Segment
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.trades import find_trades
from siteglass.query.natural.vague import VAGUE

EITHER = "a search cannot ask for one of these two things; search for each"
# Words before a thing that belong to it, and words between an "or" and what it joins.
_LEADING = (
    "function", "using", "using_after", "place_preposition", "language_marker", "spending", "greater", "at_least",
    "less", "at_most", "negation", "crawled", "between", "around", "offering", "score", "load_time",
)  # fmt: skip
# Words after a thing that belong to it.
_TRAILING = ("unit", "spending", "per_month", "per_year", "page_word", "load_time", "generic", "using_after")
_BETWEEN_LOADS = ("load_time", "function")
_COUNTED = {"score": "score", "load_time": "load_time", "spending": "spends", "crawled": "updated_within"}
_UNITS = {"second": "load_time", "millisecond": "load_time", "usd": "spends", "other_currency": "spends"}
_BUILT = {"technology": "tool", "category": "tool", "service_type": "business", "trade": "business"}
_INNER = frozenset(("state", "city"))
_NEAR = 5
# What a denial before an "or" denies, too: what a site has, and good qualities. "Not secure or slow" denies one thing.
_BAD = frozenset(("flag_bad", "slow", "very_slow", "poor_seo"))
_SHARING = frozenset(("technology", "category", "flag_good", "fast", "good_seo", "excellent_seo"))
# So many things a side of an "or" between whole phrases has at most, and so many words before it are looked at.
_MOST_IN_BUNDLE = 6
_MOST_AWAY = 30
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
    if len(places) < 2 and not any(part.has("or") for part in sentence.parts):
        return
    finder, groups = _Finder(sentence), 0
    for at, part in enumerate(sentence.parts):
        if groups < MAX_GROUPS and finder.joins(at) and not part.used and (sides := finder.sides(at)):
            _write(sentence, sides, stages)
            groups += 1


def _write(sentence: Sentence, sides: Sequence[_Side], stages: Stages) -> None:
    """Read each branch by itself, and join them."""
    whole = sentence.parts[sides[0].start : sides[-1].end]
    branches, read = [], []
    for side in sides:
        parts = sentence.parts[side.start : side.end]
        if side.denial is not None:
            parts = [Segment(side.denial.tokens, [Sense("negation")], kind="negation"), *parts]
        branch = replace(sentence, parts=parts, readings=[], refused=[], filters={}, asides=[])
        stages(branch)
        branches.append(" ".join(reading.line for reading in branch.readings if reading.line))
        read.extend(branch.readings)
        sentence.refused.extend(branch.refused)
    for part in whole:
        part.readings = []
    if not all(branches):
        sentence.refuse(whole, EITHER)
        return
    notes = "; ".join(dict.fromkeys(reading.assumption for reading in read if reading.assumption))
    sure = min(reading.confidence for reading in read)
    line = f"@any[ {' | '.join(branches)} ]"
    sentence.say(line, whole, "alternatives", confidence=sure, assumption=notes)


class _Finder:
    """Finds what an "or" joins."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._parts = sentence.parts
        self._fields: dict[int, str] = {}
        """What each number is about, as far as it was asked."""

    @cached_property
    def _trades(self) -> dict[int, list[int]]:
        """Every word that names a trade, with all words of its name."""
        return {place: places for places, _ in find_trades(self._sentence) for place in places}

    def joins(self, at: int) -> bool:
        """Whether a phrase is an "or" between two things; an "and" is one between places of different size."""
        part = self._parts[at]
        opens = part.key in self._sentence.sets["group_openers"]
        return part.has("or", "and") and not opens and part.key not in self._sentence.sets["nor"]

    def sides(self, at: int) -> list[_Side]:
        """The branches that the "or" at a place joins; none if one line can say them."""
        left, right = self._thing(at, -1), self._thing(at, 1)
        if left is None or right is None:
            return []
        if not self._parts[at].has("or"):
            return self._two(at, left, right) if self._places_differ(left, right) else []
        if bundle := self._bundle(at):
            return bundle
        if clause := self._clause(at, left, right):
            return clause
        first, second = self._asked(left), self._asked(right)
        if first == second or {first, second} <= {"place", "language"}:
            return self._two(at, left, right) if self._places_differ(left, right) else []
        if self._denied(left) and not self._own_verb(at, right):
            return []  # "without a phone or a CRM" means neither
        return self._two(at, left, right)

    # --- what is joined ---------------------------------------------------------------------------

    def _asked(self, at: int) -> str:
        """What a phrase asks about: two of the same are alternatives of one line."""
        part = self._parts[at]
        if part.used:
            return ""
        if at in self._trades:
            return "trade"
        if part.kind in ("technology", "category"):
            return part.kind
        if part.kind in ENTITIES:
            return {"spoken": "language"}.get(part.kind, family(part))
        if part.kind.startswith(("flag", "contact")):
            return f"{part.kind[:4]} {part.values}"
        if part.kind in VAGUE:
            return VAGUE[part.kind].partition("(")[0].lstrip("!@")
        if part.kind == "number":
            if at not in self._fields:
                self._fields[at] = self._counted(at)
            return self._fields[at]
        return {"path": "page", "page_whole": "page"}.get(part.kind, "")

    def _counted(self, at: int) -> str:
        """The field that a number is about."""
        amount = self._parts[at].amount
        if amount and amount.currency:
            return "spends"
        after = self._sentence.after(at)
        unit = after.sense("unit") if after else None
        if unit and unit.values[0] in _UNITS:
            return _UNITS[unit.values[0]]
        for part in reversed(self._parts[max(0, at - _NEAR) : at]):
            if field := next((field for kind, field in _COUNTED.items() if part.has(kind)), ""):
                return field
            if part.has("or", "break"):
                break
        return "number"

    def _thing(self, at: int, step: int) -> int | None:
        """The thing right before or after a joint."""
        i = at + step
        while 0 <= i < len(self._parts):
            part = self._parts[i]
            if self._asked(i):
                return i
            trailing = step < 0 and (part.has(*_TRAILING) or (part.has("comma") and i == at - 1))
            if not part.has(*_LEADING) and not trailing:
                return None
            i += step
        return None

    def _places_differ(self, left: int, right: int) -> bool:
        """ "Berlin or anywhere in Austria": one line for countries and one for cities would ask for both."""
        first, second = self._parts[left], self._parts[right]
        if not {first.kind, second.kind} <= PLACES or (first.kind in _INNER) == (second.kind in _INNER):
            return False
        inner, outer = (first, second) if first.kind in _INNER else (second, first)
        listed = [other for other in (self._sentence.beside(left, -1), self._sentence.beside(right, 1)) if other]
        if any(other.kind in PLACES for other in listed) or first.negated or second.negated or self._denied(left):
            return False
        return not self._lies_in(inner, outer)

    def _lies_in(self, inner: Segment, outer: Segment) -> bool:
        countries = self._sentence.countries_of(inner)
        return bool(countries & set(outer.values)) or outer.kind in ("region", "subregion")

    # --- how far a branch reaches -----------------------------------------------------------------

    def _start(self, at: int) -> int:
        """Where the words before a thing begin that belong to it."""
        start = self._trades[at][0] if at in self._trades else at
        while start and self._built(at) == "business" and self._built(start - 1) == "tool":
            start -= 1  # "Magento stores"
        while start and self._leads(start - 1):
            start -= 1
        return start

    def _leads(self, at: int) -> bool:
        part = self._parts[at]
        own = (
            part.key in self._sentence.sets["group_openers"] or set(part.key.split()) & self._sentence.sets["relative"]
        )
        return part.has(*_LEADING) and not own and not self._asked(at) and not part.used

    def _end(self, at: int) -> int:
        """Where the words after a thing end that belong to it."""
        end = (self._trades[at][-1] if at in self._trades else at) + 1
        if self._built(at) == "tool" and end < len(self._parts) and self._built(end) == "business":
            return end + 1  # "SEO agencies"
        number = self._parts[at].kind == "number"
        while end < len(self._parts) and not self._asked(end) and not self._parts[end].used:
            part = self._parts[end]
            small = number and part.has("function", "place_preposition") and self._trails(end + 1)
            if not part.has(*_TRAILING) and not small:
                break
            end += 1
        return end

    def _trails(self, at: int) -> bool:
        return at < len(self._parts) and self._parts[at].has(*_TRAILING, *_BETWEEN_LOADS) and not self._asked(at)

    def _two(self, at: int, left: int, right: int) -> list[_Side]:
        """One thing on each side, and further ones joined by "or" or a comma."""
        first = _Side(self._start(left), at)
        shared = self._shared_denial(left, at, right)
        sides = [*self._listed_before(first.start), first, _Side(at + 1, self._end(right), shared)]
        sides = [replace(side, end=self._without_comma(side.end)) for side in sides]
        while (end := sides[-1].end) < len(self._parts) and self._parts[end].has("or"):
            further = self._thing(end, 1)
            if further is None:
                break
            sides.append(_Side(end + 1, self._end(further), shared))
        return sides

    def _without_comma(self, end: int) -> int:
        return end - 1 if self._parts[end - 1].has("comma") else end

    def _listed_before(self, start: int) -> list[_Side]:
        """ "a phone, an email or a Facebook page": things before a comma."""
        sides: list[_Side] = []
        while start > 1 and self._parts[start - 1].has("comma"):
            thing = self._thing(start - 1, -1)
            if thing is None or not self._asked(thing).startswith(("flag", "cont")):
                break
            sides.insert(0, _Side(self._start(thing), start - 1))
            start = sides[0].start
        return sides

    def _shared_denial(self, left: int, at: int, right: int) -> Segment | None:
        """ "missing a sitemap or a robots.txt", "not secure or fast": the denial of the first is that of the second."""
        part, other = self._parts[left], self._parts[right]
        if any(between.has("negation", "using") for between in self._parts[at + 1 : right]):
            return None
        if other.kind not in _SHARING and not other.kind.startswith(("flag_nouns", "contact")):
            return None
        role = self._sentence.words.role
        if part.kind in _BAD and (said := [token for token in part.tokens if role(token.key, "negation")]):
            return Segment(said[:1], [Sense("negation")])
        if part.kind not in _SHARING and not part.kind.startswith("flag_nouns"):
            return None
        for before in reversed(self._parts[:left]):
            if before.has("negation"):
                return before
            if not before.has("function", "using"):
                return None
        return None

    def _clause(self, at: int, left: int, right: int) -> list[_Side]:
        """ "on Webflow, or on Gatsby with Contentful"."""
        own = at + 1 < len(self._parts) and self._parts[at + 1].has("using", "place_preposition", "offering")
        if not self._parts[at - 1].has("comma") or not own:
            return []
        end = self._clause_end(at)
        if sum(1 for i in range(right, end) if self._asked(i)) < 2:
            return []
        return [_Side(self._start(left), at - 1), _Side(at + 1, end)]

    def _bundle(self, at: int) -> list[_Side]:
        """ "Shopify stores in Italy or Magento stores in Spain": both sides say the same things in the same order."""
        start = max(self._clause_start(at), at - _MOST_AWAY)
        before = list(self._things_in(start, at))[-_MOST_IN_BUNDLE:]
        after = list(islice(self._things_in(at + 1, self._clause_end(at)), _MOST_IN_BUNDLE))
        for count in range(min(len(before), len(after)), 1, -1):
            kinds = [self._built(i) for i in after[:count]]
            alike = kinds == [self._built(i) for i in before[-count:]]
            if alike and kinds[0] in ("tool", "business") and kinds[-1] in ("place", "business"):
                return [_Side(before[-count], at), _Side(at + 1, self._end(after[count - 1]))]
        return []

    def _built(self, at: int) -> str:
        """What two sides that are built alike have at the same place."""
        asked = self._asked(at)
        return {"technology": "tool", "category": "tool", "service_type": "business", "trade": "business"}.get(
            asked, asked
        )

    def _things_in(self, start: int, end: int) -> Iterator[int]:
        taken: Sequence[int] = ()
        for i in range(start, end):
            shop = i > start and self._parts[i].has("shop_word") and self._parts[i - 1].kind == "technology"
            if i not in taken and self._asked(i) and not shop:  # "Shopify stores" are one thing
                yield i
            taken = self._trades.get(i, taken)

    def _clause_start(self, at: int) -> int:
        start = at
        while start and not self._parts[start - 1].has("comma", "break", "but", "requests"):
            start -= 1
        return start

    def _clause_end(self, at: int) -> int:
        end = at + 1
        while end < len(self._parts) and not self._parts[end].has("comma", "break", "but"):
            end += 1
        return end

    # --- denials ----------------------------------------------------------------------------------

    def _denied(self, at: int) -> bool:
        """ "without A or B" means neither, which can be said of all but flags."""
        neither = any(part.key in self._sentence.sets["neither"] for part in self._parts[:at])
        if self._parts[at].kind.startswith("flag") and not neither:
            return False
        for i in range(at - 1, -1, -1):
            part = self._parts[i]
            if part.has("negation", "exception"):
                return True
            if not part.has("function", "and", "or", "comma", "using") and not self._asked(i):
                return False
        return False

    def _own_verb(self, at: int, right: int) -> bool:
        """ "not using Shopify or based in Texas": what stands after the "or" is said by itself."""
        between = [part for part in self._parts[at + 1 : right] if not part.has("function")]
        return any(part.has("using", "place_preposition", "offering") for part in between)
