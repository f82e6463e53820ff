"""Numbers to conditions: what is counted, how it is compared, ranges, ages, dates."""

from __future__ import annotations

from dataclasses import replace

from siteglass.query.natural import numbers
from siteglass.query.natural.segments import ENTITIES
from siteglass.query.natural.sentence import (
    Sentence,
    compare,
)

_LAST = frozenset(["last", "past", "previous", "derniers", "dernieres", "letzten", "ultimos", "ultimas", "prior"])
_UNITS = frozenset(("s", "ms", "sec", "secs", "seconds", "second", "usd", "dollars", *numbers.DAYS))
_COMPARE = {
    "greater": ">", "at_least": ">=", "less": "<", "at_most": "<=", "equal": "=",
    "greater_after": ">", "at_least_after": ">=", "less_after": "<", "at_most_after": "<=",
}  # fmt: skip
_SIGNS = {">": ">", "<": "<", ">=": ">=", "<=": "<=", "=": "=", "≥": ">=", "≤": "<="}


class Amounts(Sentence):
    """Reads what numbers say."""

    def _dates(self) -> None:
        """ "since 1 September 2026", "since March 2026", "after 2026-09-01": a day, and all that stands for it."""
        for at, part in enumerate(self.parts):
            if part.key not in numbers.MONTHS or part.used:
                continue
            day, year, first, last = 1, self.today.year, at, at
            before, after = (self.parts[at - 1] if at else None), self._after(at)
            if before and before.amount and before.amount.number <= 31:
                day, first = int(before.amount.number), at - 1
            elif after and after.amount and after.amount.number <= 31:
                day, last = int(after.amount.number), at + 1
                after = self._after(last)
            if after and after.amount and 2000 <= after.amount.number <= 2100:
                year, last = int(after.amount.number), last + 1
            line = numbers.date_line(year, numbers.MONTHS[part.key], day)
            cue = self._near(first, ("since", "crawled", "greater"), back=4, ahead=0)
            if line and cue:
                self.found.add(line)
                for i in range(max(0, first - 2), last + 1):
                    if self.parts[i].has("since", "crawled", "function", "place_preposition") or i >= first:
                        self.parts[i].used = True

    def _numbers(self) -> None:
        self._number_words()
        for at, part in enumerate(self.parts):
            if part.kind == "number" and part.amount and not part.used:
                self._number(at, part.amount)

    def _number_words(self) -> None:
        for at, part in enumerate(self.parts):
            if part.kind == "number_word" and not part.used:
                end, number = at, 0.0
                while end < len(self.parts) and self.parts[end].kind == "number_word":
                    value = float(self.parts[end].values[0])
                    if value >= 100 and number:
                        number *= value
                    elif value >= 1000:
                        number = value
                    else:
                        number += value
                    self.parts[end].used = end > at
                    end += 1
                part.kind, part.amount = "number", numbers.Amount(number)
            elif part.kind == "number" and part.amount:
                after = self._after(at)
                if after and after.kind == "number_word" and float(after.values[0]) >= 1000:
                    part.amount = replace(part.amount, number=part.amount.number * float(after.values[0]))
                    after.used = True

    def _operator(self, at: int) -> tuple[str | None, int]:
        """The comparison before a number, and where it begins."""
        i = at - 1
        while i >= 0 and at - i <= 4:
            part = self.parts[i]
            if part.kind == "operator":
                return _SIGNS.get(part.tokens[0].text), i
            for sense in part.senses:
                if sense.kind in ("greater", "at_least", "less", "at_most", "equal", "around", "between"):
                    return _COMPARE.get(sense.kind, sense.kind), i
            if not part.has("function", "spending", "score", "load_time", "using") and part.kind != "unknown":
                break
            if part.kind == "number":
                break
            i -= 1
        return None, at

    def _number(self, at: int, amount: numbers.Amount) -> None:
        part = self.parts[at]
        after = self._after(at)
        if after is not None and after.key in _LAST:
            after = self._after(at + 1)
        unit = after.key if after else ""
        operator, begin = self._operator(at)
        end = at
        high: numbers.Amount | None = None
        # a range: "5 to 10", "5-10k", "between 5 and 10"
        mid, other = (self.parts[i] if i < len(self.parts) else None for i in (at + 1, at + 2))
        if mid and other and other.kind == "number" and other.amount:
            between = operator == "between" and mid.key in ("a", "y", "and", "und", "et", "e")
            if between or mid.key in ("-", "–", "to", "bis", "hasta", "ate"):
                high = other.amount
                end = at + 2
                unit_part = self._after(end)
                unit = unit_part.key if unit_part else ""
        tail = self._after(end)
        if tail is not None and tail.key in _UNITS:
            beyond = self._after(end + 1)
            if beyond is not None and (
                beyond.key == "+" or beyond.has("at_least_after", "at_most_after", "less_after", "greater_after")
            ):
                sense = next((s for s in beyond.senses if s.kind in _COMPARE and s.kind.endswith("_after")), None)
                operator = _COMPARE[sense.kind] if sense else ">="
                beyond.used = True
        if tail is not None:
            sense = next((s for s in tail.senses if s.kind in _COMPARE and s.kind.endswith("_after")), None)
            if sense:
                operator = _COMPARE[sense.kind]
                end += 1
        low = amount.number
        if high and high.number >= 1000 and low < 1000 and low < high.number / 100:
            low *= 1000 if high.number < 10**6 else 10**6
        if amount.or_more:
            operator = ">="
        line = self._number_line(at, end, operator, low, high, unit, amount)
        if line:
            self.found.add(line)
            for i in range(begin, end + 1):
                self.parts[i].used = True
        else:
            part.used = True

    def _number_line(
        self,
        at: int,
        end: int,
        operator: str | None,
        low: float,
        high: numbers.Amount | None,
        unit: str,
        amount: numbers.Amount,
    ) -> str | None:
        seconds = unit in ("s", "sec", "secs", "second", "seconds", "sekunden", "segundos", "secondes")
        millis = unit in ("ms", "milliseconds", "millis", "millisekunden")
        money = amount.money or unit in ("usd", "dollars", "dollar", "bucks", "eur", "euro", "euros", "gbp")
        if unit in ("employees", "people", "staff", "miles", "km", "leads", "results", "companies", "sites", "stores"):
            return None
        if unit in numbers.DAYS and not money and not self._near(at, ("spending",), back=3, ahead=3):
            days = round(low * numbers.DAYS[unit])
            if self._near(at, ("crawled", "recent"), back=8, ahead=6) or self._near(at, ("function",), back=2):
                if end + 1 < len(self.parts):
                    self.parts[end + 1].used = True
                self._use_near(at, ("crawled",))
                return f"{self._denied(at)}@updated_within({days}d)"
        if seconds or millis or (not money and self._near(at, ("load_time",), back=4, ahead=3)):
            scale = 1 if millis or (not seconds and low >= 100) else 1000
            if end + 1 < len(self.parts) and (seconds or millis):
                self.parts[end + 1].used = True
            self._use_near(at, ("load_time",))
            return compare("load_time", operator or ">", low * scale, None if high is None else high.number * scale)
        if not money and self._near(at, ("score",), back=5, ahead=3):
            self._use_near(at, ("score",))
            if low > 90 or low < 1:
                # directives know scores from 1 to 90 only; the filter knows all
                if 0 <= low <= 100 and high is None and operator in (">", "<", ">=", "<=", "=", None):
                    self.found.filters["seo_score"] = f"{operator or '='}{round(low)}"
                else:
                    self.found.unsupported.append("score outside 1 to 90")
                return None
            return compare("score", operator or "=", low, None if high is None else high.number)
        if money or self._near(at, ("spending", "per_month", "per_year"), back=7, ahead=7) or low >= 1000:
            if self._yearly(end):
                low, top = low / 12, None if high is None else high.number / 12
            else:
                top = None if high is None else high.number
            self._use_near(at, ("spending", "per_month", "per_year"))
            return compare("spends", operator or ">=", low, top)
        return None

    def _denied(self, at: int) -> str:
        """ "not crawled in the last 60 days": the denial belongs to the age."""
        for i in range(at - 1, max(-1, at - 6), -1):
            if self.parts[i].has("negation") and not self.parts[i].used:
                if not self.parts[i + 1].has("crawled"):
                    break
                self.parts[i].used = True
                return "!"
            if self.parts[i].kind in ENTITIES:
                break
        return ""

    def _yearly(self, end: int) -> bool:
        words = " ".join(part.key for part in self.parts[end + 1 : end + 5]).split()
        return bool(
            {"year", "yr", "yearly", "annually", "annual", "annum", "jahr", "jahrlich", "ano", "an", "anuales"}
            & set(words[:4])
        )
