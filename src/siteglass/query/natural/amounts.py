"""Numbers to conditions: what is counted, how it is compared, ranges, ages."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from siteglass.query.natural import numbers
from siteglass.query.natural.lexicon import ROMANCE
from siteglass.query.natural.segments import BEHIND_NUMBERS, ENTITIES, Segment
from siteglass.query.natural.sentence import Sentence

_COMPARE = {
    "greater": ">", "at_least": ">=", "less": "<", "at_most": "<=", "equal": "=", "around": "around",
    "between": "between", "greater_after": ">", "at_least_after": ">=", "less_after": "<", "at_most_after": "<=",
    "around_after": "around",
}  # fmt: skip
_BEFORE = tuple(kind for kind in _COMPARE if kind not in BEHIND_NUMBERS)
_SIGNS = {">": ">", "<": "<", ">=": ">=", "<=": "<=", "=": "=", "≥": ">=", "≤": "<="}
_DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90, "year": 365}
_MONEY_UNITS = ("usd", "other_currency")
_DOLLARS = frozenset(("$", "US$"))
_INVERSE = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
# What may stand between a denial and the amount it denies.
_BEFORE_AMOUNTS = ("function", "spending", "score", "load_time", "using", "crawled", "since")
# A number without a unit is money from here on: scores and seconds are smaller.
_LARGE = 1_000
_AROUND = 0.2
# Scores that directives know.
_SCORES = (1, 90)


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


def read_numbers(sentence: Sentence) -> None:
    """Write what every number says."""
    _spelled_out(sentence)
    _last_unit(sentence)
    for at, part in enumerate(sentence.parts):
        if part.kind == "number" and part.amount and not part.used:
            quantity = _quantity(sentence, at, part.amount)
            if not _write(sentence, at, quantity):
                part.used = True


def _last_unit(sentence: Sentence) -> None:
    """ "in the last fortnight": one of them."""
    for at, part in enumerate(sentence.parts):
        after = sentence.after(at)
        unit = after.sense("unit") if after is not None else None
        counted = at > 0 and sentence.parts[at - 1].kind == "number"
        if not part.has("within_last") or counted or part.used or after is None or unit is None:
            continue
        if unit.values[0] in _DAYS and sentence.near(at, ("crawled",), back=4, ahead=4):
            days = math.ceil(_DAYS[unit.values[0]])
            cues = [one for one in sentence.around(at, ("crawled",)) if not one.readings]
            sentence.say(f"@updated_within({days}d)", [*cues, part, after], "amount")


def _spelled_out(sentence: Sentence) -> None:
    """ "five thousand", "2 million"."""
    parts = sentence.parts
    for at, part in enumerate(parts):
        if part.kind == "number_word" and not part.used:
            end, number = at, 0.0
            while end < len(parts) and parts[end].kind == "number_word":
                value = float(parts[end].values[0])
                if value >= 100 and number:
                    number *= value
                elif value >= _LARGE:
                    number = value
                else:
                    number += value
                parts[end].used = end > at
                end += 1
            part.kind, part.amount = "number", numbers.Amount(number)
        elif part.kind == "number" and part.amount:
            after = sentence.after(at)
            if after and after.kind == "number_word" and float(after.values[0]) >= _LARGE:
                number = part.amount.number * float(after.values[0])
                part.amount = replace(part.amount, number=number, scaled=True)
                after.used = True


def _quantity(sentence: Sentence, at: int, amount: numbers.Amount) -> Quantity:
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
    if high is not None and not amount.scaled and low < high / 100 and high >= _LARGE:
        low *= 1_000 if high < 10**6 else 10**6  # 5-10k
    tail = _skip_small(sentence, last)
    unit = _unit(sentence, tail)
    if not unit and begin < at:
        unit = money
    elif unit:
        last = tail
        tail = _skip_small(sentence, last)
    behind = parts[tail] if tail < len(parts) else None
    comparison = behind.sense(*BEHIND_NUMBERS) if behind else None
    if comparison:
        operator, last = _COMPARE[comparison.kind], tail
    elif unit and behind and behind.key == "+":
        operator, last = ">=", tail
    elif amount.or_more:
        operator = ">="
    return Quantity(first, last, low, high, operator, unit, currency, denied_amount(sentence, first))


def denied_amount(sentence: Sentence, first: int) -> Segment | None:
    """ "don't spend more than 5k": the denial that reaches an amount."""
    for part in reversed(sentence.parts[max(0, first - 5) : first]):
        if part.has("negation", "no_ads") and not part.used:
            return part
        if not part.has(*_BEFORE_AMOUNTS):
            return None
    return None


def _comparison_before(sentence: Sentence, at: int) -> tuple[str | None, int]:
    """The comparison before a number, and where it begins."""
    for i in range(at - 1, max(-1, at - 5), -1):
        part = sentence.parts[i]
        if part.kind == "operator":
            return _SIGNS.get(part.tokens[0].text), i
        sense = part.sense(*_BEFORE)
        if sense:
            return _COMPARE[sense.kind], i
        if part.kind == "number" or (
            part.kind != "unknown" and not part.has("function", "spending", "score", "load_time", "using")
        ):
            break
    return None, at


def _range_top(sentence: Sentence, at: int, operator: str | None) -> tuple[int, numbers.Amount] | None:
    """The end of a range such as "5 to 10", "5-10k", "between 5 and 10": where it stands, and the number."""
    parts = sentence.parts
    for middle in (at + 1, at + 2):  # a unit may stand between: "1 s to 3 s"
        if middle + 1 >= len(parts) or (middle == at + 2 and not parts[at + 1].has("unit")):
            break
        joint, end = parts[middle], middle + 1
        if parts[end].kind != "number" and end + 1 < len(parts) and parts[end].has("function", "unit"):
            end += 1  # "entre les 5 et les 10", "USD 1,000 and USD 2,500"
        between = operator == "between" and joint.key in sentence.sets["between_joints"]
        between = between or (joint.key == "a" and sentence.language in ROMANCE)  # "de 25 à 80"
        other = parts[end].amount
        if (between or joint.key in sentence.sets["range_joints"]) and parts[end].kind == "number" and other:
            return end, other
    return None


def _skip_small(sentence: Sentence, at: int) -> int:
    """The place behind, words such as "last" passed over."""
    behind = at + 1
    if behind < len(sentence.parts) and sentence.parts[behind].has("within_last"):
        behind += 1
    return behind


def _unit(sentence: Sentence, at: int) -> str:
    if at >= len(sentence.parts):
        return ""
    sense = sentence.parts[at].sense("unit")
    return sense.values[0] if sense else ""


def _write(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """Say what a number means; False if it means nothing that can be searched."""
    behind = sentence.after(quantity.last)
    said = sentence.parts[quantity.first : quantity.last + 1]
    counted = behind.tokens[0].key if behind else ""
    if other := _other_money(sentence, quantity):
        sentence.refuse([*other, *said], "only what is spent on ads is known")
        return True
    if _is_year(sentence, at, quantity):
        sentence.refuse(said, "no field of a lead tells such a year")
        return True
    if counted in sentence.sets["counted"]:
        sentence.refuse([*said, *([behind] if behind else [])], f"no search can count {counted}")
        return True
    if counted in sentence.sets["results"] and not quantity.money:
        return False
    return (
        _age(sentence, at, quantity)
        or _load_time(sentence, at, quantity)
        or _score(sentence, at, quantity)
        or _spending(sentence, at, quantity)
    )


def _other_money(sentence: Sentence, quantity: Quantity) -> list[Segment]:
    """ "revenue over $1m": money that is not spent on ads."""
    behind = sentence.parts[quantity.last + 1 : quantity.last + 4]
    stop = next((number for number, part in enumerate(behind) if part.has("break")), len(behind))
    near = [*sentence.parts[max(0, quantity.first - 3) : quantity.last + 1], *behind[:stop]]
    return [part for part in near if not part.readings and sentence.sets["other_money"] & set(part.key.split())]


def _is_year(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """ "founded in 2019"."""
    amount = sentence.parts[at].amount
    plain = amount is not None and not amount.scaled and not quantity.money and quantity.high is None
    said = sentence.near(at, ("spending", "per_month", "per_year", "load_time", "score"), back=7, ahead=7)
    return plain and 1900 <= quantity.low <= 2100 and not quantity.unit and quantity.operator is None and not said


def _say(
    sentence: Sentence, at: int, quantity: Quantity, line: str, about: tuple[str, ...], *, assumption: str = "",
    confidence: float = 1.0,
) -> bool:  # fmt: skip
    """Write the line, with the number and the words around that tell what it counts."""
    near = sentence.around(at, about) if about else []
    parts = sentence.parts[quantity.first : quantity.last + 1]
    own = [part for part in near if part not in parts and not part.readings]
    if quantity.denial is not None:
        own.append(quantity.denial)
    sentence.say(line, [*own, *parts], "amount", assumption=assumption, confidence=confidence)
    return True


def _compared(directive: str, quantity: Quantity, default: str, scale: float = 1.0) -> str:
    """The line; a denied comparison is turned round, so that "not over 5" is "at most 5"."""
    low, high, operator = quantity.low * scale, quantity.high, quantity.operator or default
    sign = "" if quantity.denial is None else "!"
    if high is not None:
        return f"{sign}@{directive}({round(low)}-{round(high * scale)})"
    if operator == "around":
        return f"{sign}@{directive}({round(low * (1 - _AROUND))}-{round(low * (1 + _AROUND))})"
    operator = ">=" if operator == "between" else operator
    if sign and operator in _INVERSE:
        sign, operator = "", _INVERSE[operator]
    return f"{sign}@{directive}({operator}{round(low)})"


def _age(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    if quantity.unit not in _DAYS or quantity.money or sentence.near(at, ("spending",), back=3, ahead=3):
        return False
    said = sentence.near(at, ("crawled", "recent"), back=8, ahead=6)
    if not said and not sentence.near(at, ("function", "within_last"), back=2, ahead=1):
        return False
    days = max(1, math.ceil(quantity.low * _DAYS[quantity.unit]))
    denial = _denial(sentence, at, quantity.last)
    if denial is not None:
        sentence.parts[at].denied_by = denial
    after = sentence.after(quantity.last)
    ago = after is not None and after.key in sentence.sets["ago"] and quantity.operator in (">", ">=")
    sign = "!" * (ago != (denial is not None))
    return _say(sentence, at, quantity, f"{sign}@updated_within({days}d)", ("crawled",))


def _denial(sentence: Sentence, at: int, last: int) -> Segment | None:
    """ "not crawled in the last 60 days": the denial belongs to the age."""
    for i in range(at - 1, max(-1, at - 6), -1):
        part = sentence.parts[i]
        if part.has("negation", "exception") and not part.used:
            between = [other for other in sentence.parts[i + 1 : at] if not other.has("function", "within_last")]
            said = sentence.near(at, ("crawled",), back=0, ahead=4) if not between else between[0].has("crawled")
            return part if said else None
        if part.kind in ENTITIES:
            break
    behind = [part for part in sentence.parts[last + 1 : last + 5] if not part.has("function")]
    if len(behind) > 1 and behind[0].has("negation") and behind[1].has("crawled"):
        return behind[0]  # "in den letzten sechs Monaten nicht aktualisiert"
    return None


def _load_time(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    seconds, millis = quantity.unit in ("second", "minute"), quantity.unit == "millisecond"
    if quantity.money or not (seconds or millis or sentence.near(at, ("load_time",), back=4, ahead=3)):
        return False
    scale = 1 if millis or (not seconds and quantity.low >= 100) else 60_000 if quantity.unit == "minute" else 1_000
    return _say(sentence, at, quantity, _compared("load_time", quantity, ">", scale), ("load_time",))


def _score(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    if quantity.money or not sentence.near(at, ("score",), back=5, ahead=3):
        return False
    low = quantity.low
    if _SCORES[0] <= low <= _SCORES[1] and (quantity.high is None or quantity.high <= _SCORES[1]):
        _say(sentence, at, quantity, _compared("score", quantity, "="), ("score",))
        _absorb(sentence, at, _beside(sentence, quantity, "seo_structured_data"))  # "pontuação SEO"
        return True
    parts = [*sentence.around(at, ("score",)), *sentence.parts[quantity.first : quantity.last + 1]]
    operator = quantity.operator or "="
    if quantity.denial is not None:
        parts.append(quantity.denial)
        operator = _INVERSE.get(operator, "")
    if 0 <= low <= 100 and quantity.high is None and operator in _SIGNS:
        sentence.filter("seo_score", f"{operator}{round(low)}", parts)
    else:
        sentence.refuse(parts, "a score beyond 90 is asked for by the filters `min_score` and `max_score`")
    return True


def _spending(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    about = ("spending", "per_month", "per_year")
    ads = _beside(sentence, quantity, "advertising")
    said = quantity.money or bool(ads) or sentence.near(at, about, back=7, ahead=7)
    if not said and (quantity.low < _LARGE or not _reads_as_money(sentence, at, quantity)):
        return False
    notes = []
    confidence = 1.0 if said else 0.6
    if not said:
        notes.append("a number without a unit is taken as US dollars a month")
    if _yearly(sentence, quantity):
        quantity = replace(quantity, low=quantity.low / 12, high=quantity.high and quantity.high / 12)
        notes.append("an amount a year is divided by 12")
    if quantity.unit == "other_currency" or (quantity.currency and quantity.currency not in _DOLLARS):
        notes.append("spending is known in US dollars; the number is taken as it is, not converted")
        confidence = 0.5
    if quantity.operator == "around":
        notes.append("around is 20 % below to 20 % above")
    line = _compared("spends", quantity, ">=")
    _say(sentence, at, quantity, line, about, assumption="; ".join(notes), confidence=confidence)
    _absorb(sentence, at, ads)
    return True


def _reads_as_money(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """Whether a bare number may be an amount: it is compared or written as 5k, and nothing is counted by it."""
    amount, after = sentence.parts[at].amount, sentence.after(quantity.last)
    counts = after is not None and after.kind == "unknown" and not after.senses
    written = amount is not None and amount.scaled
    return not counts and (written or quantity.operator is not None or quantity.high is not None)


def _beside(sentence: Sentence, quantity: Quantity, category: str) -> list[Segment]:
    """ "ads below 800", "20k ads": advertising beside an amount is what it is spent on, no software."""
    near = [*sentence.parts[max(0, quantity.first - 2) : quantity.first], *sentence.parts[quantity.last + 1 :][:4]]
    return [part for part in near if part.kind == "category" and part.values == (category,)]


def _absorb(sentence: Sentence, at: int, parts: list[Segment]) -> None:
    """Count words to the condition that a number made."""
    for part in parts:
        part.used = True
        part.readings = list(sentence.parts[at].readings)


def _yearly(sentence: Sentence, quantity: Quantity) -> bool:
    """Whether a year is said near the amount, also inside a longer phrase ("a year on ads")."""
    words = sentence.words
    before = sentence.parts[max(0, quantity.first - 5) : quantity.first]
    for part in [*before, *sentence.parts[quantity.last : quantity.last + 5]]:
        if part.has("this_year", "since", "break"):
            continue
        if part.has("per_year"):
            return True
        for token in part.tokens:
            unit = words.role(token.key, "unit")
            if (unit and unit.values == ("year",)) or words.role(token.key, "per_year"):
                return True
    return False
