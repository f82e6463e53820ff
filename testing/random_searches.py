"""Random searches drawn from what the demo leads hold, so that they find something; repeatable by seed."""

from __future__ import annotations

import random
import re

from siteglass.corpus.lead import Lead
from siteglass.query.criteria import AnyOf, Change, Clause, Condition, Criteria, Range, Value, criteria
from siteglass.query.field import Kind, SearchableField
from siteglass.query.fields import ASKED
from siteglass.query.technology_changes import decode_change
from siteglass.query.values import ValueProblem, read_value
from testing.reference_scan import number_of

_PLAIN_WORDS = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]{3,}){0,2}")


class Drawer:
    """Draws conditions and criteria."""

    def __init__(self, leads: list[Lead], seed: int) -> None:
        self.leads = leads
        self.random = random.Random(seed)

    def condition(self, name: str, negated: bool | None = None) -> Condition:
        """A condition on a field with one to three values that occur."""
        asked = ASKED[name]
        if negated is None:
            negated = self.random.random() < 0.3
        if asked.ask.kind is Kind.FLAG:
            return Condition(name, (), negated)
        values: list[Value] = []
        while not values:
            for _ in range(self.random.choice((1, 1, 1, 2, 3))):
                values.extend(self._value(asked))
        return Condition(name, tuple(values), negated)

    def criteria(self, most: int = 3) -> Criteria:
        """One to `most` random conditions."""
        return criteria(self._conditions(most))

    def with_alternatives(self) -> list[Clause]:
        """Up to two conditions, and one or two sets of alternatives, not brought into canonical form."""
        clauses: list[Clause] = [*(self._conditions(2) if self.random.random() < 0.5 else ())]
        clauses.extend(self._alternatives() for _ in range(self.random.choice((1, 1, 2))))
        return clauses

    def _alternatives(self) -> AnyOf:
        """Random branches; some repeat another one, or say more than it."""
        branches = [tuple(self._conditions(3)) for _ in range(self.random.randint(1, 4))]
        if self.random.random() < 0.25:
            branches.append((*self.random.choice(branches), *self._conditions(1)))
        if self.random.random() < 0.25:
            branches.append(self._bound_place())
        self.random.shuffle(branches)
        return AnyOf(tuple(branches), negated=self.random.random() < 0.3)

    def _bound_place(self) -> tuple[Condition, ...]:
        """A city in its own country."""
        lead = self.random.choice([lead for lead in self.leads if lead.city and lead.country])
        return Condition("country", (lead.country,)), Condition("city", read_value(ASKED["city"].ask, lead.city))

    def _conditions(self, most: int) -> list[Condition]:
        names = self.random.sample(sorted(set(ASKED) - {"updated_within"}), self.random.randint(1, most))
        return [self.condition(name) for name in names]

    def _value(self, asked: SearchableField) -> tuple[Value, ...]:
        lead, ask = self.random.choice(self.leads), asked.ask
        match ask.kind:
            case Kind.NUMBER:
                return self._range(number_of(lead, asked.name), ask.directive_bounds or ask.bounds)
            case Kind.TIME:
                return (lead.crawled_at_ms,)
            case Kind.CHANGE:
                return self._change(getattr(lead, asked.name))
            case Kind.TEXT:
                found = _PLAIN_WORDS.findall(" ".join((lead.title, lead.description, *lead.keywords)))
                texts = tuple(found)
            case _ if asked.name in ("region", "subregion"):
                from siteglass.query.vocabulary import vocabulary

                texts = tuple(vocabulary().values("region" if asked.name == "region" else "subregion"))
            case _ if asked.name == "state":
                from siteglass.query.vocabulary import vocabulary

                alpha2 = vocabulary().country_alpha2(lead.country) if lead.country else None
                texts = (lead.state, f"{alpha2}-{lead.state}") if lead.state and alpha2 else ()
            case _:
                held = getattr(lead, "categories_uses" if asked.name == "lacks" else asked.name) or ()
                texts = (held,) if isinstance(held, str) else held
        if not texts:
            return ()
        try:
            return read_value(ask, self.random.choice(texts), quoted=True)
        except ValueProblem:
            return ()

    def _change(self, numbers: tuple[int, ...]) -> tuple[Value, ...]:
        """A change that a lead has, from a day around its own on; of a lead without any, that of a common product."""
        technology, day = decode_change(self.random.choice(numbers)) if numbers else ("Klaviyo", 20_000)
        return (Change(technology, day + self.random.randint(-2, 2), fixed=True),)

    def _range(self, number: int | None, bounds: tuple[int, int]) -> tuple[Value, ...]:
        if number is None or not bounds[0] <= number <= bounds[1]:
            return ()
        other = min(bounds[1], number + self.random.randint(0, max(10, number)))
        return (
            self.random.choice(
                (
                    Range(number, None, above=True),
                    Range(None, number, below=True),
                    Range(number, None),
                    Range(None, number),
                    Range(number, number),
                    Range(number, other),
                )
            ),
        )
