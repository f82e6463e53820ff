"""A sentence while it is read: its segments, what was found in them so far, and how to look around."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from siteglass.query.natural.lexicon import Lexicon
from siteglass.query.natural.segments import PLACES, Segment

SHOP_WORDS = frozenset(
    (
        "store", "stores", "shop", "shops", "webshop", "webshops", "retailer", "retailers", "merchant", "merchants",
        "tienda", "tiendas", "boutique", "boutiques", "loja", "lojas", "onlineshop", "onlineshops",
    )
)  # fmt: skip
VAGUE = {
    "slow": "@load_time(>3000)", "very_slow": "@load_time(>5000)", "fast": "@load_time(<1500)",
    "poor_seo": "@score(<50)", "good_seo": "@score(>70)", "excellent_seo": "@score(>80)",
    "heavy_spender": "@spends(>10000)", "low_spender": "@spends(<1000)", "runs_ads": "@spends(>0)",
    "no_ads": "!@spends(>0)", "recent": "@updated_within(30d)", "this_week": "@updated_within(7d)",
}  # fmt: skip
US_STATES_FIRST = frozenset(("georgia", "washington", "new york"))


@dataclass
class Found:
    """What a sentence gave."""

    lines: list[str] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    filters: dict[str, str] = field(default_factory=dict)

    def add(self, line: str) -> None:
        if line not in self.lines:
            self.lines.append(line)


def family(part: Segment) -> str:
    """Kinds that one negation can cover together."""
    kind = part.kind
    if kind in PLACES:
        return "place"
    if kind in ("technology", "category"):
        return "tool"
    if kind.startswith(("flag", "contact", "page", "path")):
        return "thing"
    return kind


class Sentence:
    """What every stage works on."""

    def __init__(self, parts: list[Segment], lexicon: Lexicon, today: date) -> None:
        self.parts = parts
        self.lexicon = lexicon
        self.today = today
        self.found = Found()

    def _before(self, at: int) -> Segment | None:
        """The segment before, words without a meaning of their own passed over."""
        for part in reversed(self.parts[:at]):
            if not (part.has("function") and part.kind == "unknown" and not part.has("using", "place_preposition")):
                return part
        return None

    def _after(self, at: int) -> Segment | None:
        return self.parts[at + 1] if at + 1 < len(self.parts) else None

    def _page_follows(self, at: int) -> bool:
        after = self._after(at)
        return after is not None and after.has("page_word")

    def _near(self, at: int, kinds: Sequence[str], *, back: int = 6, ahead: int = 6) -> bool:
        for i in range(at - 1, max(-1, at - 1 - back), -1):
            if self.parts[i].has("break") or (self.parts[i].kind == "number" and i < at - 3):
                break
            if self.parts[i].has(*kinds):
                return True
        for i in range(at + 1, min(len(self.parts), at + 1 + ahead)):
            if self.parts[i].has("break", "comma"):
                break
            if self.parts[i].has(*kinds):
                return True
        return False

    def _use_near(self, at: int, kinds: Sequence[str]) -> None:
        for i in range(max(0, at - 8), min(len(self.parts), at + 8)):
            if self.parts[i].has(*kinds):
                self.parts[i].used = True

    def _joint(self, first: int, second: int) -> str | None:
        """How two segments are joined, if nothing else stands between them."""
        between = [
            part for part in self.parts[first + 1 : second] if not (part.has("function") and not part.has("and", "or"))
        ]
        if not between or not all(
            part.has("and", "or", "comma") or (part.kind == "unknown" and part.has("using")) for part in between
        ):
            return None
        if any(part.has("or") for part in between):
            return "or"
        return "and" if any(part.has("and") for part in between) else "comma"


def quoted(value: str) -> str:
    return f'"{value}"' if re.search(r'[,()"]', value) else value


def compare(directive: str, operator: str, low: float, high: float | None) -> str:
    if high is not None:
        return f"@{directive}({round(low)}-{round(high)})"
    if operator == "around":
        return f"@{directive}({round(low * 0.8)}-{round(low * 1.2)})"
    if operator == "between":
        operator = ">="
    return f"@{directive}({operator}{round(low)})"
