"""The requests that are driven: seeded, skewed as real use is, over everything the catalogue offers.

A search starts at a value drawn by rank, so that few values are requested often and many rarely. It takes its other
conditions from a lead that has this value, so that it finds something. Fields and filters come from the catalogue: a
new row is drawn too.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from siteglass.corpus.lead import Lead
from siteglass.errors import BadRequest
from siteglass.index.documents import facts
from siteglass.leads.requests import read_search
from siteglass.query.body import read_meaning
from siteglass.query.field import Filter, Form, Kind, SearchableField
from siteglass.query.fields import ASKED, ENRICH_FIELDS, SEARCH_SELECTABLE
from siteglass.query.values import moment_text
from siteglass.query.vocabulary import vocabulary
from testing.reference_scan import number_of

Item = TypeVar("Item")

DAY_MS = 86_400_000
AGES_DAYS = (7, 14, 30, 60, 90, 180, 365, 730)
HOLDERS_KEPT = 200
# How often a field is asked for, against 1 for those that are not named.
FIELD_WEIGHTS = {
    "country": 10,
    "technologies": 9,
    "keywords": 9,
    "has_email": 7,
    "city": 5,
    "state": 4,
    "categories_uses": 4,
    "score": 4,
    "language": 3,
    "spending": 3,
    "has_phone": 3,
    "no_generic_emails": 3,
}
CONDITIONS = {1: 35, 2: 33, 3: 20, 4: 8, 5: 4}
SORTS = {None: 60, "-score": 12, "-crawled_at": 9, "-spending": 9, "score": 5, "domain": 5}
LIMITS = {None: 45, 20: 35, 100: 20}
SELECTS = {"three": 50, "default": 30, "all": 20}
# Page numbers; 70 % are first pages.
PAGES = {1: 70, 2: 17, 3: 7, 4: 4, 5: 2}
BACKWARD_SHARE = 0.15  # of the pages after the second, how many are reached by `previous`
EXCLUDED_SHARE = 0.15
FILTER_SHARE = 0.6  # of the conditions that a body filter can say
SENTENCE_SHARE = 0.06

_WORDS = re.compile(r"[^\W\d_]{4,}")
_PLAIN = re.compile(r"[A-Za-z0-9/ .+_-]+")


@dataclass(frozen=True, slots=True)
class Search:
    """A first page's body, and which page of it is wanted."""

    body: dict[str, Any]
    page: int = 1
    backward: bool = False
    """Reached by `previous` from the page after it."""


@dataclass(frozen=True, slots=True)
class _Condition:
    asked: SearchableField
    texts: tuple[str, ...]
    negated: bool = False


class Mix:
    """Draws searches and enrichments; the same leads and seed give the same ones."""

    def __init__(self, leads: Sequence[Lead], seed: int) -> None:
        self._leads = leads
        self._random = random.Random(seed)
        self._ranked: dict[str, list[str]] = {}
        self._holders: dict[tuple[str, str], list[int]] = defaultdict(list)
        counts: dict[str, Counter[str]] = {name: Counter() for name in ASKED}
        self._now_ms = time.time_ns() // 1_000_000
        self._categories = sorted({category for lead in leads for category in lead.categories_uses})
        for number, lead in enumerate(leads):
            for name, asked in ASKED.items():
                for text in self._held(lead, asked):
                    counts[name][text] += 1
                    if len(self._holders[name, text]) < HOLDERS_KEPT:
                        self._holders[name, text].append(number)
        self._ranked = {name: [text for text, _ in found.most_common()] for name, found in counts.items() if found}

    def searches(self) -> Iterator[Search]:
        """Distinct searches without end."""
        seen: set[bytes] = set()
        while True:
            body = self._body()
            page = self._weighted(PAGES)
            backward = page > 2 and self._random.random() < BACKWARD_SHARE
            key = orjson.dumps([body, page, backward], option=orjson.OPT_SORT_KEYS)
            if key not in seen and _is_valid(body, self._now_ms):
                seen.add(key)
                yield Search(body, page, backward)

    def enrichments(self, domains: int) -> Iterator[dict[str, Any]]:
        """Bodies of enrichments of so many domains: most known, some as an address, some unknown."""
        while True:
            chosen = self._random.sample(self._leads, domains)
            body: dict[str, Any] = {"domains": [self._domain(lead.domain) for lead in chosen]}
            if self._random.random() < 0.5:
                body["select"] = ["domain", *self._random.sample(ENRICH_FIELDS[1:], 2)]
            yield body

    def _domain(self, domain: str) -> str:
        chance = self._random.random()
        if chance < 0.07:
            return f"unknown-{self._random.randrange(10**9)}.example"
        return f"https://www.{domain}/" if chance < 0.12 else domain

    # --- a search ---------------------------------------------------------------------------------

    def _body(self) -> dict[str, Any]:
        conditions = self._conditions()
        body: dict[str, Any] = {}
        lines: list[str] = []
        sentence = self._random.random() < SENTENCE_SHARE
        for condition in conditions:
            filters = condition.asked.ask.filters
            if filters and not condition.negated and (sentence or self._random.random() < FILTER_SHARE):
                filter_ = self._random.choice(filters)
                body[self._either(filter_.name, filter_.alias)] = self._filter_value(condition, filter_)
            elif not sentence:
                lines.append(self._directive(condition))
        if sentence:
            body["query"] = self._words()
        if lines:
            body["wrapped_query"] = "\n".join(lines)
        shape = {"sort": self._weighted(SORTS), "limit": self._weighted(LIMITS)}
        body |= {name: value for name, value in shape.items() if value is not None}
        match self._weighted(SELECTS):
            case "three":
                body["select"] = ["domain", *self._random.sample(SEARCH_SELECTABLE[1:], 2)]
            case "all":
                body["select"] = list(SEARCH_SELECTABLE)
        return body

    def _conditions(self) -> list[_Condition]:
        names = self._fields(self._weighted(CONDITIONS))
        first = ASKED[names[0]]
        text = self._by_rank(self._ranked[first.name])
        anchor = self._leads[self._random.choice(self._holders[first.name, text])]
        made = [self._wider(_Condition(first, (text,)))]
        for name in names[1:]:
            asked, held = ASKED[name], self._held(anchor, ASKED[name])
            if self._random.random() < EXCLUDED_SHARE:
                other = self._by_rank(self._ranked[name])
                if other not in held and asked.ask.kind not in (Kind.NUMBER, Kind.TIME, Kind.AGE, Kind.CHANGE):
                    made.append(_Condition(asked, (other,), negated=True))
            elif held:
                made.append(self._wider(_Condition(asked, (self._random.choice(held),))))
        return made

    def _fields(self, count: int) -> list[str]:
        left = {name: FIELD_WEIGHTS.get(name, 1) for name in self._ranked}
        names: list[str] = []
        for _ in range(count):
            names.append(self._weighted(left))
            del left[names[-1]]
        return names

    def _wider(self, condition: _Condition) -> _Condition:
        """Sometimes with one or two alternatives."""
        several = condition.asked.ask.kind in (Kind.TERM, Kind.TEXT, Kind.PATH, Kind.LACKS)
        more = self._weighted({0: 75, 1: 15, 2: 10}) if several else 0
        others = [self._by_rank(self._ranked[condition.asked.name]) for _ in range(more)]
        return _Condition(condition.asked, tuple(dict.fromkeys((*condition.texts, *others))))

    # --- how conditions are written ---------------------------------------------------------------

    def _filter_value(self, condition: _Condition, filter_: Filter) -> Any:
        text = condition.texts[0]
        match filter_.form:
            case Form.SWITCH:
                return True
            case Form.MIN:
                return self._near(condition, below=True)
            case Form.MAX:
                return self._near(condition, below=False)
            case Form.SPAN:
                return f"{self._near(condition, below=True)}-{self._near(condition, below=False)}"
            case Form.COMPARISON:
                return self._comparison(condition)
            case Form.MANY:
                return list(condition.texts)
            case Form.ONE | Form.MOMENT:
                return text

    def _directive(self, condition: _Condition) -> str:
        ask = condition.asked.ask
        start = ("!@" if condition.negated else "@") + self._either(ask.directive, ask.alias)
        if ask.kind is Kind.FLAG:
            return start
        if ask.kind is Kind.NUMBER:
            return f"{start}({self._comparison(condition)})"
        return f"{start}({', '.join(_quoted(text) for text in condition.texts)})"

    def _comparison(self, condition: _Condition) -> str:
        below = self._random.random() < 0.5
        operators = (">", ">=", "greater than ") if below else ("<", "<=", "less than ")
        return f"{self._random.choice(operators)}{self._near(condition, below=below)}"

    def _near(self, condition: _Condition, *, below: bool) -> int:
        """A round number on one side of the lead's own, as people ask for them."""
        number, (low, high) = int(condition.texts[0]), _bounds(condition.asked)
        step: int = max(10, 10 ** (len(condition.texts[0]) - 1) // 2)
        rounded = number // step * step if below else number // step * step + step
        return max(low, min(high, rounded))

    # --- chance -----------------------------------------------------------------------------------

    def _weighted(self, weights: dict[Item, int]) -> Item:
        return self._random.choices(list(weights), list(weights.values()))[0]

    def _either(self, name: str, alias: str | None) -> str:
        return alias if alias and self._random.random() < 0.3 else name

    def _words(self) -> str:
        """One or two words that leads have, and that a search can use: others are refused."""
        while True:
            words = " ".join(self._by_rank(self._ranked["keywords"]) for _ in range(self._random.randint(1, 2)))
            if read_meaning({"query": words}, 0).criteria.conditions:
                return words

    def _by_rank(self, ranked: Sequence[str]) -> str:
        """Rank r with a chance in proportion to 1/r."""
        return ranked[min(len(ranked) - 1, int(len(ranked) ** self._random.random()) - 1)]

    # --- what a lead has --------------------------------------------------------------------------

    def _held(self, lead: Lead, asked: SearchableField) -> Sequence[str]:
        """The values of a field that find this lead, as a caller writes them."""
        ask = asked.ask
        match ask.kind:
            case Kind.FLAG:
                return ("yes",) if ask.index in facts(lead) else ()
            case Kind.NUMBER:
                number, (low, high) = number_of(lead, asked.name), _bounds(asked)
                return () if number is None or not low <= number <= high else (str(number),)
            case Kind.TIME:
                return (moment_text(lead.crawled_at_ms // DAY_MS * DAY_MS),)
            case Kind.AGE:
                age_ms = self._now_ms - lead.crawled_at_ms
                return tuple(f"{days}d" for days in AGES_DAYS if days * DAY_MS > age_ms)
            case Kind.CHANGE:
                return ()  # the demo leads have no history
            case Kind.TEXT:
                return (*lead.keywords, *(word.lower() for word in _WORDS.findall(lead.title)))
            case Kind.LACKS:
                used = lead.categories_uses
                return () if lead.technologies is None else tuple(c for c in self._categories if c not in used)
        match asked.name:
            case "region":
                found = vocabulary().region_of(lead.country)
                return (found,) if found else ()
            case "subregion":
                found = vocabulary().subregion_of(lead.country)
                return (found,) if found else ()
            case name:
                held = getattr(lead, name) or ()
                return (held,) if isinstance(held, str) else tuple(held)


def _bounds(asked: SearchableField) -> tuple[int, int]:
    return asked.ask.directive_bounds or asked.ask.bounds


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_valid(body: dict[str, Any], now_ms: int) -> bool:
    """Whether the service takes it: a state's code, say, may not be known in every country."""
    try:
        read_search(body, now_ms)
    except BadRequest:
        return False
    return True
