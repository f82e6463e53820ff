"""Numbers and ranges, with their comparison, unit and denial; what they are about is decided in `amounts`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from siteglass.query.natural import numbers
from siteglass.query.natural.kinds import AFTER_NUMBERS, Role
from siteglass.query.natural.segments import Segment
from siteglass.query.natural.sentence import Sentence

_COMPARE = {
    Role.GREATER: ">", Role.AT_LEAST: ">=", Role.LESS: "<", Role.AT_MOST: "<=", Role.EQUAL: "=", Role.AROUND: "around",
    Role.BETWEEN: "between", Role.GREATER_AFTER: ">", Role.AT_LEAST_AFTER: ">=", Role.LESS_AFTER: "<",
    Role.AT_MOST_AFTER: "<=", Role.AROUND_AFTER: "around",
}  # fmt: skip
_BEFORE = tuple(kind for kind in _COMPARE if kind not in AFTER_NUMBERS)
SIGNS = {">": ">", "<": "<", ">=": ">=", "<=": "<=", "=": "=", "≥": ">=", "≤": "<="}
_MONEY_UNITS = ("usd", "other_currency")
# What may be between a denial and the amount it denies.
_BEFORE_AMOUNTS = (Role.FUNCTION, Role.SPENDING, Role.SCORE, Role.LOAD_TIME, Role.USING, Role.CRAWLED, Role.SINCE)
# A number without a unit is money from here on: scores and seconds are smaller.
LARGE = 1_000
PERIODS = (Role.PER_MONTH, Role.PER_YEAR)


@dataclass(slots=True)
class Quantity:
    """A number or a range of the sentence, with all that belongs to it."""

    first: int
    last: int
    low: float
    high: float | None
    operator: str | None
    unit: str
    currency: str
    denial: Segment | None = None

    @property
    def money(self) -> bool:
        return bool(self.currency) or self.unit in _MONEY_UNITS


def spell_out(sentence: Sentence) -> None:
    """ "five thousand", "2 million"."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.kind == Role.NUMBER_WORD and not part.used:
            end, number = at, 0.0
            while end < len(parts) and parts[end].kind == Role.NUMBER_WORD:
                value = float(parts[end].values[0])
                if value >= 100 and number:
                    number *= value
                elif value >= LARGE:
                    number = value
                else:
                    number += value
                parts[end].used = end > at
                end += 1
            part.kind, part.amount = Role.NUMBER, numbers.Amount(number)
        elif part.kind == Role.NUMBER and part.amount:
            after = sentence.after(at)
            if after and after.kind == Role.NUMBER_WORD and float(after.values[0]) >= LARGE:
                number = part.amount.number * float(after.values[0])
                part.amount = replace(part.amount, number=number, scaled=True)
                after.used = True


def read_quantity(sentence: Sentence, at: int, amount: numbers.Amount) -> Quantity:
    parts = sentence.parts
    last, high, currency = at, None, amount.currency
    money = _unit(sentence, at - 1) if at else ""
    begin = at - 1 if money in _MONEY_UNITS else at
    operator, first = _comparison_before(sentence, begin)
    top = _range_top(sentence, at, operator)
    if top is not None:
        last, other = top
        high, currency = other.number, currency or other.currency
    low = amount.number
    if high is not None and not amount.scaled and low < high / 100 and high >= LARGE:
        low *= 1_000 if high < 10**6 else 10**6  # 5-10k
    tail = _skip_small(sentence, last)
    unit = _unit(sentence, tail)
    if not unit and begin < at:
        unit = money
    elif unit:
        last = tail
        tail = _skip_small(sentence, last)
    after = parts[tail] if tail < len(parts) else None
    comparison = after.sense(*AFTER_NUMBERS) if after else None
    if comparison:
        operator, last = _COMPARE[comparison.kind], tail
    elif unit and after and after.key == "+":
        operator, last = ">=", tail
    elif amount.or_more:
        operator = ">="
    last = _after_period(sentence, last)
    return Quantity(first, last, low, high, operator, unit, currency, denied_amount(sentence, first))


def _after_period(sentence: Sentence, last: int) -> int:
    """The last word of an amount, with the period that it is for: "5k/mo"."""
    period = sentence.parts[last + 2] if last + 2 < len(sentence.parts) else None
    slash = period is not None and sentence.parts[last + 1].key == "/" and period.has(*PERIODS)
    return last + 2 if slash else last


def denied_amount(sentence: Sentence, first: int) -> Segment | None:
    """ "don't spend more than 5k": the denial that reaches an amount."""
    for part in reversed(sentence.parts[max(0, first - 5) : first]):
        if part.has(Role.NEGATION, Role.NO_ADS) and not part.used:
            return part
        if not part.has(*_BEFORE_AMOUNTS):
            return None
    return None


def _comparison_before(sentence: Sentence, at: int) -> tuple[str | None, int]:
    """The comparison before a number, and where it begins."""
    for i in range(at - 1, max(-1, at - 5), -1):
        part = sentence.parts[i]
        if part.kind == Role.OPERATOR:
            return SIGNS.get(part.tokens[0].text), i
        sense = part.sense(*_BEFORE)
        if sense:
            return _COMPARE[sense.kind], i
        if part.kind == Role.NUMBER or (
            part.kind != Role.UNKNOWN
            and not part.has(Role.FUNCTION, Role.SPENDING, Role.SCORE, Role.LOAD_TIME, Role.USING)
        ):
            break
    return None, at


def _range_top(sentence: Sentence, at: int, operator: str | None) -> tuple[int, numbers.Amount] | None:
    """The end of a range such as "5 to 10", "5-10k", "between 5 and 10": where it is, and the number."""
    parts = sentence.parts
    for middle in (at + 1, at + 2):  # a unit may be between: "1 s to 3 s"
        if middle + 1 >= len(parts) or (middle == at + 2 and not parts[at + 1].has(Role.UNIT)):
            break
        joint, end = parts[middle], middle + 1
        if parts[end].kind != Role.NUMBER and end + 1 < len(parts) and parts[end].has(Role.FUNCTION, Role.UNIT):
            end += 1  # "entre les 5 et les 10", "USD 1,000 and USD 2,500"
        between = operator == "between" and joint.key in sentence.sets.between_joints
        between = between or (joint.key == "a" and sentence.grammar.romance)  # "de 25 à 80"
        other = parts[end].amount
        if (between or joint.key in sentence.sets.range_joints) and parts[end].kind == Role.NUMBER and other:
            return end, other
    return None


def _skip_small(sentence: Sentence, at: int) -> int:
    """The next place, without words such as "last"."""
    following = at + 1
    if following < len(sentence.parts) and sentence.parts[following].has(Role.WITHIN_LAST):
        following += 1
    return following


def _unit(sentence: Sentence, at: int) -> str:
    if at >= len(sentence.parts):
        return ""
    sense = sentence.parts[at].sense(Role.UNIT)
    return sense.values[0] if sense else ""
