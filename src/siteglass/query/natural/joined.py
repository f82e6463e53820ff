"""What the phrases of a sentence ask about, so that it can be seen which of them an "or" joins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from siteglass.query.natural.changes import open_changes
from siteglass.query.natural.kinds import ENTITIES, FLAGS, Role
from siteglass.query.natural.sentence import Sentence, family
from siteglass.query.natural.trades import find_trades
from siteglass.query.natural.vague import VAGUE

# Words before a thing that belong to it, and words between an "or" and what it joins.
LEADING = (
    Role.FUNCTION, Role.USING, Role.USING_AFTER, Role.PLACE_PREPOSITION, Role.LANGUAGE_MARKER, Role.SPENDING,
    Role.GREATER, Role.AT_LEAST, Role.LESS, Role.AT_MOST, Role.NEGATION, Role.CRAWLED, Role.BETWEEN, Role.AROUND,
    Role.OFFERING, Role.SCORE, Role.LOAD_TIME,
)  # fmt: skip
# Words after a thing that belong to it.
TRAILING = (
    Role.UNIT, Role.SPENDING, Role.PER_MONTH, Role.PER_YEAR, Role.PAGE_WORD, Role.LOAD_TIME, Role.GENERIC,
    Role.USING_AFTER,
)  # fmt: skip
_COUNTED = {Role.SCORE: "score", Role.LOAD_TIME: "load_time", Role.SPENDING: "spends", Role.CRAWLED: "updated_within"}
_UNITS = {"second": "load_time", "millisecond": "load_time", "usd": "spends", "other_currency": "spends"}
_BUILT: dict[str, str] = {
    Role.TECHNOLOGY: "tool",
    Role.CATEGORY: "tool",
    Role.SERVICE_TYPE: "business",
    Role.TRADE: "business",
    Role.LAW_FIRM: "business",
}
_NEAR = 5


def last_before(places: Sequence[int], at: int) -> int:
    """The last of these places before one; -1 if there is none."""
    earlier = bisect_left(places, at)
    return places[earlier - 1] if earlier else -1


class Things:
    """The things of a sentence: phrases that ask for something."""

    def __init__(self, sentence: Sentence) -> None:
        self._sentence = sentence
        self._parts = sentence.parts
        self._asked: dict[int, str] = {}
        """What phrases ask about, as far as somebody wanted to know: an "or" looks at the same ones as the next."""
        self._first_listed: dict[int, int] = {}
        self._denials: dict[int, bool] = {}
        """Whether things are denied whose words before end at a place."""

    def forget(self) -> None:
        """Look at all phrases again: some were used."""
        self._asked.clear()
        self._first_listed.clear()
        self._denials.clear()

    @cached_property
    def trades(self) -> dict[int, list[int]]:
        """Every word that names a trade, with all words of its name."""
        return {place: places for places, _ in find_trades(self._sentence) for place in places}

    @cached_property
    def changes(self) -> dict[int, Sequence[int]]:
        """Every phrase of a change of technologies that an "or" joins with something else, with all of the change."""
        return {place: places for places in open_changes(self._sentence) for place in places}

    def whole(self, at: int) -> Sequence[int]:
        """All phrases of the thing that a phrase is part of."""
        return self.changes.get(at) or self.trades.get(at) or (at,)

    def asked(self, at: int) -> str:
        """What a phrase asks about: two of the same are alternatives of one line."""
        self._sentence.steps.take()
        if (known := self._asked.get(at)) is None:
            known = self._asked[at] = self._find_asked(at)
        return known

    def _find_asked(self, at: int) -> str:
        part = self._parts[at]
        if part.used:
            return ""
        if at in self.changes:
            return Role.CHANGE
        if at in self.trades:
            return Role.TRADE
        if part.kind in (Role.TECHNOLOGY, Role.CATEGORY, Role.LAW_FIRM):
            return part.kind
        if part.kind in ENTITIES:
            return Role.LANGUAGE if part.kind == Role.SPOKEN else family(part)
        if part.kind in FLAGS or part.kind == Role.CONTACT:
            return f"{part.kind[:4]} {part.values}"
        if part.kind in VAGUE:
            return VAGUE[part.kind].directive
        if part.kind == Role.NUMBER:
            return self._counted(at)
        return "page" if part.kind in (Role.PATH, Role.PAGE_WHOLE) else ""

    def _counted(self, at: int) -> str:
        """The field that a number is about."""
        amount = self._parts[at].amount
        if amount and amount.currency:
            return "spends"
        after = self._sentence.after(at)
        unit = after.sense(Role.UNIT) if after else None
        if unit and unit.values[0] in _UNITS:
            return _UNITS[unit.values[0]]
        for part in reversed(self._parts[max(0, at - _NEAR) : at]):
            if field := next((field for kind, field in _COUNTED.items() if part.has(kind)), ""):
                return field
            if part.has(Role.OR, Role.BREAK):
                break
        return Role.NUMBER

    def thing(self, at: int, step: int) -> int | None:
        """The thing right before or after a joint."""
        i = at + step
        while 0 <= i < len(self._parts):
            part = self._parts[i]
            if self.asked(i):
                return i
            trailing = step < 0 and (part.has(*TRAILING) or (part.has(Role.COMMA) and i == at - 1))
            if not part.has(*LEADING) and not trailing:
                return None
            i += step
        return None

    def first_listed(self, at: int) -> int:
        """The first of the things of one kind that "or" joins up to a place: "HubSpot or Drift"."""
        chain = [at]
        while chain[-1] not in self._first_listed and (before := self._listed_before(chain[-1])) is not None:
            chain.append(before)
        first = self._first_listed.get(chain[-1], chain[-1])
        self._first_listed |= dict.fromkeys(chain, first)
        return first

    def _listed_before(self, at: int) -> int | None:
        """The thing that an "or" joins to the one at a place, if it is of the same kind."""
        joint = self.whole(at)[0] - 1
        while joint > 0 and self._parts[joint].has(Role.FUNCTION, Role.USING) and not self.asked(joint):
            joint -= 1
        before = self.thing(joint, -1) if joint > 0 and self._parts[joint].has(Role.OR) else None
        return before if before is not None and self.asked(before) == self.asked(at) else None

    def built(self, at: int) -> str:
        """What two sides of the same structure have at the same place."""
        asked = self.asked(at)
        return "had" if asked.startswith(("flag", "cont")) else _BUILT.get(asked, asked)

    def things_in(self, start: int, end: int) -> Iterator[int]:
        taken: Sequence[int] = ()
        for i in range(start, end):
            shop = i > start and self._parts[i].has(Role.SHOP_WORD) and self._parts[i - 1].kind == Role.TECHNOLOGY
            if i not in taken and self.asked(i) and not shop:  # "Shopify stores" are one thing
                yield i
            taken = self.changes.get(i, self.trades.get(i, taken))

    def denied(self, at: int) -> bool:
        """ "without A or B" means neither, which can be said of all but flags."""
        if self._parts[at].kind in FLAGS and last_before(self._neithers, at) < 0:
            return False
        walked = []
        for i in range(at - 1, -1, -1):
            denied = self._denials[i] if i in self._denials else self._denies(i)
            if denied is not None:
                break
            walked.append(i)
        else:
            denied = False
        self._denials |= dict.fromkeys(walked, denied)
        return denied

    def _denies(self, at: int) -> bool | None:
        """Whether a phrase denies things after it; None: what is before it decides."""
        part = self._parts[at]
        if part.has(Role.NEGATION, Role.EXCEPTION):
            return True
        if set(part.key.split()) & self._sentence.sets.relative:
            return False  # "no LinkedIn that have an email or a phone"
        if part.has(Role.FUNCTION, Role.AND, Role.OR, Role.COMMA, Role.USING) or self.asked(at):
            return None
        return False

    @cached_property
    def _neithers(self) -> list[int]:
        return [i for i, part in enumerate(self._parts) if part.key in self._sentence.sets.neither]
