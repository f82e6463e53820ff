"""Wishes about numbers: score, money, load time, and how long ago."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from random import Random

from testing.sentences.wishes import Wish
from testing.sentences.words import Language

# A year's amount is divided by twelve, and "around" is a fifth to either side (rule 6).
MONTHS = 12
OPERATORS = (">", ">=", "<", "<=", "-")
SCORES = range(10, 90, 5)
DOLLARS = (500, 750, 1_000, 1_500, 2_000, 2_500, 3_000, 5_000, 7_500, 8_000, 10_000, 12_000, 15_000, 20_000, 50_000)
DOLLARS_A_YEAR = (12_000, 24_000, 30_000, 50_000, 60_000, 100_000, 120_000, 250_000)
MILLISECONDS = (1_500, 2_000, 2_500, 3_000, 3_500, 4_000, 5_000, 6_000, 8_000)
DATES = tuple(date(2026, month, day) for month in (2, 3, 5, 6, 8, 9, 10) for day in (10, 15, 20))


def _formats(number: float, spoken: Language, templates: Sequence[str]) -> dict[str, str]:
    """The number in every template that can say it; the key is the template."""
    numbers = spoken.numbers
    plain = f"{number:g}".replace(".", numbers["decimal"]) if number < 1_000 else f"{number:.0f}"
    made = {"plain": plain, "grouped": f"{number:,.0f}".replace(",", numbers["group"]) if number >= 1_000 else plain}
    if number >= 1_000 and number % 500 == 0:
        made["k"] = f"{number / 1_000:g}".replace(".", numbers["decimal"])
    names = {template: re.findall(r"\{(\w+)\}", template) for template in templates}
    return {
        template: template.format(**made) for template in templates if all(name in made for name in names[template])
    }


def compared(
    spoken: Language, operator: str, numbers: Sequence[float], templates: Sequence[str]
) -> dict[str, list[str]]:
    """Every way to say a comparison, by its place in the sentence: behind a noun, behind a verb, as a sign."""
    first, last = (_formats(number, spoken, templates) for number in (numbers[0], numbers[-1]))
    ways: dict[str, list[str]] = {}
    for slot, table in spoken.tables["compare"].items():
        made = []
        for template in table.get(operator, ()):
            for form in first:
                if form not in last or ("+" in template and "|" in form):
                    continue
                made.append(
                    template.format(
                        n=last[form].replace("|", ""), a=first[form].split("|")[0], b=last[form].replace("|", "")
                    )
                )
        if made:
            ways[slot] = made
    return ways


def _operator(draw: Random, known: Sequence[int]) -> tuple[str, list[int]]:
    operator = draw.choice(OPERATORS)
    return operator, sorted(draw.sample(list(known), 2)) if operator == "-" else [draw.choice(list(known))]


def _gold(directive: str, operator: str, numbers: Sequence[int]) -> str:
    return f"@{directive}({numbers[0]}-{numbers[1]})" if operator == "-" else f"@{directive}({operator}{numbers[0]})"


def _tags(operator: str) -> tuple[str, ...]:
    return ("range",) if operator == "-" else ()


def score(draw: Random, spoken: Language) -> Wish:
    """A score in numbers."""
    operator, numbers = _operator(draw, SCORES)
    ways = compared(spoken, operator, numbers, ["{plain}"])
    return Wish("score", "score", (_gold("score", operator, numbers),), given=ways, tags=_tags(operator))


def load_time(draw: Random, spoken: Language) -> Wish:
    """A load time, in seconds or milliseconds."""
    operator, numbers = _operator(draw, MILLISECONDS)
    if draw.random() < 0.8:
        ways = compared(spoken, operator, [number / 1_000 for number in numbers], spoken.numbers["seconds"])
    else:
        ways = compared(spoken, operator, numbers, spoken.numbers["milliseconds"])
    return Wish("load_time", "load_time", (_gold("load_time", operator, numbers),), given=ways, tags=_tags(operator))


def spends(draw: Random, spoken: Language) -> Wish:
    """Money: a month, a year, about so much, or in another currency."""
    kind = draw.choices(("month", "year", "around", "currency"), (6, 2, 1, 1))[0]
    operator, numbers = _operator(draw, DOLLARS_A_YEAR if kind == "year" else DOLLARS)
    meant = [round(number / MONTHS) for number in numbers] if kind == "year" else numbers
    gold = _gold("spends", operator, meant)
    if kind == "around":
        operator, numbers = "~", [draw.choice([number for number in DOLLARS if number % 500 == 0])]
        gold = _gold("spends", "-", [numbers[0] * 4 // 5, numbers[0] * 6 // 5])
    ways = compared(spoken, operator, numbers, spoken.numbers["other_money" if kind == "currency" else "dollars"])
    given = ways | {"per": spoken.numbers["year" if kind == "year" else "month"]}
    wish = Wish("spends", "spends", (gold,), given=given, tags=_tags(operator))
    return replace(wish, hard=kind != "month", tags=(*wish.tags, kind)) if kind != "month" else wish


def age(draw: Random, spoken: Language, *, negated: bool) -> Wish:
    """Crawled within so many days, weeks or months."""
    numbers = spoken.numbers
    unit, days = draw.choice([("days", 1), ("weeks", 7), ("months", 30)])
    if not numbers[unit]:
        unit, days = "days", 1
    count = draw.choice((7, 10, 14, 30, 45, 60, 90) if unit == "days" else (2, 3, 4, 6))
    templates = [numbers[unit]] if isinstance(numbers[unit], str) else numbers[unit]
    spelled = [str(count), *([numbers["words"][str(count)]] if unit != "days" else [])]
    given = {"age": [template.format(n=number) for template in templates for number in spelled]}
    gold = f"{'!' if negated else ''}@updated_within({count * days}d)"
    return Wish("age", "not_age" if negated else "age", (gold,), given=given, negative=negated, tags=("recency",))


def since(draw: Random, spoken: Language) -> Wish:
    """Crawled since a date."""
    day = draw.choice(DATES)
    month = spoken.numbers["month_names"][day.month - 1]
    ways = [form.format(d=day.day, month=month, y=day.year, iso=day.isoformat()) for form in spoken.numbers["dates"]]
    return Wish("age", "since", (f"@updated_after({day.isoformat()})",), given={"date": ways}, tags=("recency",))
