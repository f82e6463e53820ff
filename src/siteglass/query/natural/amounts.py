"""Numbers to conditions: what is counted, how it is compared, ranges, ages."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from siteglass.query.criteria import Condition
from siteglass.query.fields import ASKED
from siteglass.query.natural.keywords import is_left
from siteglass.query.natural.kinds import ENTITIES, Role
from siteglass.query.natural.quantities import LARGE, PERIODS, SIGNS, Quantity, read_quantity, spell_out
from siteglass.query.natural.segments import Reading, Segment
from siteglass.query.natural.sentence import Sentence
from siteglass.query.values import comparison

DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 90, "year": 365}
_DOLLARS = frozenset(("$", "US$"))
_INVERSE = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}
_AROUND = 0.2
_SPENDING = (Role.SPENDING, Role.RUNS_ADS, Role.NO_ADS)
# What a number before which one of these is said is about.
_SEARCHABLE = (*_SPENDING, Role.SCORE, Role.LOAD_TIME, Role.CRAWLED, Role.RECENT, Role.WITHIN_LAST, Role.SINCE)
NO_NUMBER = "no search knows such a number; how many leads are shown is `limit`"
# Scores that directives know.
_SCORES = (1, 90)
_OUTER_SCORE = "filter seo_score"


class Compared(NamedTuple):
    """A number of a field, compared as in a directive."""

    directive: str
    value: str
    negated: bool


def read_numbers(sentence: Sentence) -> None:
    """Write what every number says."""
    spell_out(sentence)
    _last_unit(sentence)
    for at, part in enumerate(sentence.parts):
        if part.kind == Role.NUMBER and part.amount and not part.used:
            quantity = read_quantity(sentence, at, part.amount)
            if not _write(sentence, at, quantity):
                part.used = True


def _last_unit(sentence: Sentence) -> None:
    """ "in the last fortnight": one of them."""
    for at, part in enumerate(sentence.parts):
        after = sentence.after(at)
        unit = after.sense(Role.UNIT) if after is not None else None
        counted = at > 0 and sentence.parts[at - 1].kind == Role.NUMBER
        if not part.has(Role.WITHIN_LAST) or counted or part.used or after is None or unit is None:
            continue
        if unit.values[0] in DAYS and sentence.near(at, (Role.CRAWLED,), back=4, ahead=4):
            days = math.ceil(DAYS[unit.values[0]])
            cues = [one for one in sentence.around(at, (Role.CRAWLED,)) if not one.readings]
            sentence.say("updated_within", [f"{days}d"], [*cues, part, after], "amount")


def _write(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """Say what a number means; False if it means nothing that can be searched."""
    after = sentence.after(quantity.last)
    said = sentence.parts[quantity.first : quantity.last + 1]
    counted = after.tokens[0].key if after else ""
    if other := _other_money(sentence, quantity):
        sentence.refuse([*other, *said], "only what is spent on ads is known")
        return True
    if _is_year(sentence, at, quantity):
        sentence.refuse(said, "no field of a lead has such a year")
        return True
    if counted in sentence.sets.counted:
        sentence.refuse([*said, *([after] if after else [])], f"no search can count {counted}")
        return True
    if counted in sentence.sets.results and not quantity.money:
        return False
    if things := _things_counted(sentence, quantity):
        sentence.refuse([*said, *things], NO_NUMBER)
        return True
    return (
        _age(sentence, at, quantity)
        or _load_time(sentence, at, quantity)
        or _score(sentence, at, quantity)
        or _spending(sentence, at, quantity)
    )


def _near(sentence: Sentence, quantity: Quantity, kinds: tuple[Role, ...], *, back: int, ahead: int) -> bool:
    """Whether a word of these kinds is near an amount, the hyphen of a range passed over."""
    before = sentence.near(quantity.first, kinds, back=back, ahead=0)
    return before or sentence.near(quantity.last, kinds, back=0, ahead=ahead)


def _things_counted(sentence: Sentence, quantity: Quantity) -> list[Segment]:
    """ "3 locations", "25,000 monthly pageviews", "rated over 4.5": what a number counts, if it is not ad spending."""
    if sentence.near(quantity.first, _SEARCHABLE, back=4, ahead=0):
        return []
    end = quantity.last + 1
    while end < len(sentence.parts) and sentence.parts[end].has(*PERIODS):
        end += 1
    after = sentence.parts[end] if end < len(sentence.parts) else None
    if after is not None and not after.used and after.has(Role.COUNTING, Role.WISH) and not after.has(*_SEARCHABLE):
        return sentence.parts[quantity.last + 1 : end + 1]
    if after is not None and is_left(after) and not quantity.unit and not quantity.money and _has(sentence, quantity):
        return sentence.parts[quantity.last + 1 : end + 1]
    start = quantity.first - 1
    while start > 0 and sentence.parts[start].has(Role.FUNCTION) and not sentence.parts[start].has(Role.COUNTING):
        start -= 1
    before = sentence.parts[start] if start >= 0 else None
    named = before is not None and not before.used and before.has(Role.COUNTING, Role.WISH)
    return sentence.parts[start : quantity.first] if named and not quantity.unit else []


def _has(sentence: Sentence, quantity: Quantity) -> bool:
    """ "law firms with over 20 lawyers": the number is of what a site has, not of the leads."""
    before = sentence.parts[quantity.first - 1] if quantity.first else None
    return before is not None and before.has(Role.USING) and not before.has(Role.REQUESTS)


def _other_money(sentence: Sentence, quantity: Quantity) -> list[Segment]:
    """ "revenue over $1m": money that is not spent on ads."""
    after = sentence.parts[quantity.last + 1 : quantity.last + 4]
    stop = next((number for number, part in enumerate(after) if part.has(Role.BREAK)), len(after))
    near = [*sentence.parts[max(0, quantity.first - 3) : quantity.last + 1], *after[:stop]]
    return [part for part in near if not part.readings and sentence.sets.other_money & set(part.key.split())]


def _is_year(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """ "founded in 2019"."""
    amount = sentence.parts[at].amount
    plain = amount is not None and not amount.scaled and not quantity.money and quantity.high is None
    said = sentence.near(
        at, (Role.SPENDING, Role.PER_MONTH, Role.PER_YEAR, Role.LOAD_TIME, Role.SCORE), back=7, ahead=7
    )
    return plain and 1900 <= quantity.low <= 2100 and not quantity.unit and quantity.operator is None and not said


def _say(
    sentence: Sentence, at: int, quantity: Quantity, compared: Compared, about: tuple[Role, ...], *,
    assumption: str = "", confidence: float = 1.0,
) -> bool:  # fmt: skip
    """Say the condition, with the number and the words around that tell what it counts."""
    near = sentence.around(at, about) if about else []
    parts = sentence.parts[quantity.first : quantity.last + 1]
    own = [part for part in near if part not in parts and not part.readings]
    if quantity.denial is not None:
        own.append(quantity.denial)
    sentence.say(
        compared.directive, [compared.value], [*own, *parts], "amount", negated=compared.negated,
        assumption=assumption, confidence=confidence,
    )  # fmt: skip
    return True


def _compared(directive: str, quantity: Quantity, default: str, scale: float = 1.0) -> Compared:
    """The comparison; a denied comparison is turned round, so that "not over 5" is "at most 5"."""
    low, high, operator = quantity.low * scale, quantity.high, quantity.operator or default
    negated = quantity.denial is not None
    if high is not None:
        return Compared(directive, f"{round(low)}-{round(high * scale)}", negated)
    if operator == "around":
        return Compared(directive, f"{round(low * (1 - _AROUND))}-{round(low * (1 + _AROUND))}", negated)
    operator = ">=" if operator == "between" else operator
    if negated and operator in _INVERSE:
        negated, operator = False, _INVERSE[operator]
    return Compared(directive, f"{operator}{round(low)}", negated)


def _age(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    if quantity.unit not in DAYS or quantity.money or sentence.near(at, (Role.SPENDING,), back=3, ahead=3):
        return False
    said = sentence.near(at, (Role.CRAWLED, Role.RECENT), back=8, ahead=6)
    if not said and not sentence.near(at, (Role.FUNCTION, Role.WITHIN_LAST), back=2, ahead=1):
        return False
    days = max(1, math.ceil(quantity.low * DAYS[quantity.unit]))
    denial = _denial(sentence, at, quantity.last)
    if denial is not None:
        sentence.parts[at].denied_by = denial
    after = sentence.after(quantity.last)
    ago = after is not None and after.key in sentence.sets.ago and quantity.operator in (">", ">=")
    compared = Compared("updated_within", f"{days}d", ago != (denial is not None))
    return _say(sentence, at, quantity, compared, (Role.CRAWLED,))


def _denial(sentence: Sentence, at: int, last: int) -> Segment | None:
    """ "not crawled in the last 60 days": the denial belongs to the age."""
    for i in range(at - 1, max(-1, at - 6), -1):
        part = sentence.parts[i]
        if part.has(Role.NEGATION, Role.EXCEPTION) and not part.used:
            between = [other for other in sentence.parts[i + 1 : at] if not other.has(Role.FUNCTION, Role.WITHIN_LAST)]
            said = sentence.near(at, (Role.CRAWLED,), back=0, ahead=4) if not between else between[0].has(Role.CRAWLED)
            return part if said else None
        if part.kind in ENTITIES:
            break
    after = [part for part in sentence.parts[last + 1 : last + 5] if not part.has(Role.FUNCTION)]
    if len(after) > 1 and after[0].has(Role.NEGATION) and after[1].has(Role.CRAWLED):
        return after[0]  # "in den letzten sechs Monaten nicht aktualisiert"
    return None


def _load_time(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    seconds, millis = quantity.unit in ("second", "minute"), quantity.unit == "millisecond"
    if quantity.money or not (seconds or millis or _near(sentence, quantity, (Role.LOAD_TIME,), back=4, ahead=3)):
        return False
    scale = 1 if millis or (not seconds and quantity.low >= 100) else 60_000 if quantity.unit == "minute" else 1_000
    return _say(sentence, at, quantity, _compared("load_time", quantity, ">", scale), (Role.LOAD_TIME,))


def _score(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    if quantity.money or not _near(sentence, quantity, (Role.SCORE,), back=5, ahead=3):
        return False
    low = quantity.low
    if _SCORES[0] <= low <= _SCORES[1] and (quantity.high is None or quantity.high <= _SCORES[1]):
        _say(sentence, at, quantity, _compared("score", quantity, "="), (Role.SCORE,))
        _absorb(sentence, at, _beside(sentence, quantity, "seo_structured_data"))  # "pontuação SEO"
        return True
    parts = [*sentence.around(at, (Role.SCORE,)), *sentence.parts[quantity.first : quantity.last + 1]]
    operator = quantity.operator or "="
    if quantity.denial is not None:
        parts.append(quantity.denial)
        operator = _INVERSE.get(operator, "")
    if 0 <= low <= 100 and quantity.high is None and operator in SIGNS:
        _say_outer_score(sentence, operator, round(low), parts)
    else:
        sentence.refuse(parts, "a score beyond 90 is asked for by the filters `min_score` and `max_score`")
    return True


def _say_outer_score(sentence: Sentence, operator: str, score: int, parts: list[Segment]) -> None:
    """Say a score that no directive can, but a filter. It takes one comparison only: of several, the last counts."""
    clause = Condition("score", (comparison(operator, score, ASKED["score"].ask.bounds),))
    for reading in sentence.readings:
        if reading.rule == _OUTER_SCORE:
            reading.clauses = (clause,)
    sentence.note(Reading((clause,), parts, _OUTER_SCORE, directive="score"))


def _spending(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """Money is ad spending if a word near it says so, or if nothing else is said of it ("$1k+, WooCommerce")."""
    ads = _beside(sentence, quantity, "advertising")
    said = bool(ads) or _near(sentence, quantity, _SPENDING, back=7, ahead=7)
    if not said and not (_reads_as_money(sentence, at, quantity) and _stands_alone(sentence, quantity)):
        return False
    notes = []
    confidence = 1.0
    if not said and not quantity.money:
        notes.append("a number without a unit is taken as US dollars a month")
        confidence = 0.6
    if _yearly(sentence, quantity):
        quantity = replace(quantity, low=quantity.low / 12, high=quantity.high and quantity.high / 12)
        notes.append("an amount a year is divided by 12")
    if quantity.unit == "other_currency" or (quantity.currency and quantity.currency not in _DOLLARS):
        notes.append("spending is known in US dollars; the number is taken as it is, not converted")
        confidence = 0.5
    if quantity.operator == "around":
        notes.append("around is 20 % below to 20 % above")
    about = (Role.SPENDING, Role.PER_MONTH, Role.PER_YEAR)
    compared = _compared("spends", quantity, ">=")
    _say(sentence, at, quantity, compared, about, assumption="; ".join(notes), confidence=confidence)
    _absorb(sentence, at, ads)
    return True


def _reads_as_money(sentence: Sentence, at: int, quantity: Quantity) -> bool:
    """Whether a number may be an amount: it has a currency, or is large, a month's, and compared or written as 5k."""
    amount = sentence.parts[at].amount
    written = amount is not None and (amount.scaled or quantity.operator is not None or quantity.high is not None)
    monthly = sentence.parts[quantity.last].has(*PERIODS) or _near(sentence, quantity, PERIODS, back=0, ahead=2)
    return quantity.money or (monthly and written and quantity.low >= LARGE)


def _stands_alone(sentence: Sentence, quantity: Quantity) -> bool:
    """Whether no noun or verb beside an amount says what it is for: "tickets over $500", "charging $90 an hour"."""
    before = sentence.parts[max(0, quantity.first - 2) : quantity.first]
    beside = [*before, *sentence.parts[quantity.last + 1 : quantity.last + 3]]
    return not any(is_left(part) or part.has(Role.OFFERING, Role.ABOUT_ME, Role.COUNTING, Role.WISH) for part in beside)


def _beside(sentence: Sentence, quantity: Quantity, category: str) -> list[Segment]:
    """ "ads below 800", "20k ads": advertising beside an amount is what it is spent on, no software."""
    near = [*sentence.parts[max(0, quantity.first - 2) : quantity.first], *sentence.parts[quantity.last + 1 :][:4]]
    return [part for part in near if part.kind == Role.CATEGORY and part.values == (category,)]


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
        if part.has(Role.THIS_YEAR, Role.SINCE, Role.BREAK):
            continue
        if part.has(Role.PER_YEAR):
            return True
        for token in part.tokens:
            unit = words.role(token.key, Role.UNIT)
            if (unit and unit.values == ("year",)) or words.role(token.key, Role.PER_YEAR):
                return True
    return False
