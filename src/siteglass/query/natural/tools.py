"""Technologies, categories and business types to directive lines."""

from __future__ import annotations

from collections.abc import Iterable

from siteglass.query.natural.segments import ENTITIES, Segment
from siteglass.query.natural.sentence import (
    SHOP_WORDS,
    Sentence,
    quoted,
)
from siteglass.query.vocabulary import vocabulary


class Tools(Sentence):
    """Writes what a site uses, offers and is."""

    def _relation(self, at: int) -> str:
        """The verb that a tool or category hangs on."""
        for i in range(at - 1, -1, -1):
            part = self.parts[i]
            if part.has("offering"):
                return "offering"
            if part.has("using"):
                return "using"
            if part.has("break", "but", "place_preposition") or part.kind in ("service_type", "generic"):
                return ""
        return ""

    def _tools(self) -> None:
        at = 0
        while at < len(self.parts):
            part = self.parts[at]
            if part.used or part.kind not in ("technology", "category"):
                at += 1
                continue
            group, joints, last = [at], [], at
            for i in range(at + 1, len(self.parts)):
                other = self.parts[i]
                if other.used or other.kind != part.kind:
                    if other.kind in ENTITIES or other.kind in ("number", "contact"):
                        break
                    continue
                joint = self._joint(last, i)
                if joint is None or other.negated != part.negated:
                    break
                group.append(i)
                joints.append(joint)
                last = i
            self._tool_group([self.parts[i] for i in group], joints, group)
            at = last + 1

    def _tool_group(self, parts: list[Segment], joints: list[str], places: list[int]) -> None:
        for part in parts:
            part.used = True
        values = [part.values[0] for part in parts]
        first = parts[0]
        if first.kind == "technology":
            if first.negated:
                self.found.add(f"!@technology({', '.join(map(quoted, values))})")
            elif "or" in joints or (len(values) > 1 and self._platforms_before_noun(values, places)):
                self.found.add(f"@technology({', '.join(map(quoted, values))})")
            else:
                for value in values:
                    self.found.add(f"@technology({quoted(value)})")
            return
        relation = self._relation(places[0])
        after = self._after(places[-1])
        headed = after is not None and (
            (after.kind == "service_type" and after.values == ("Agency",))
            or after.has("offering_after")
            or after.key
            in (
                "provider",
                "providers",
                "vendor",
                "vendors",
                "company",
                "companies",
                "startup",
                "startups",
                "services",
                "service",
                "anbieter",
                "consultants",
            )
        )
        head = next(
            (
                part
                for part in reversed(self.parts[: places[0]])
                if part.key not in ("de", "of", "fur", "for", "pour", "d'")
            ),
            None,
        )
        headed = headed or parts[-1].key.endswith(("provider", "providers", "vendors", "vendor"))
        headed = headed or (head is not None and head.kind == "service_type" and head.values == ("Agency",))
        if first.doubled:
            for value in values:
                self.found.add(f"!@lacks({value})")
        elif first.negated and relation != "offering":
            for value in values:
                self.found.add(f"@lacks({value})")
        elif relation == "offering" or headed:
            sign = "!" if first.negated else ""
            if "or" in joints or first.negated:
                self.found.add(f"{sign}@offers({', '.join(values)})")
            else:
                for value in values:
                    self.found.add(f"{sign}@offers({value})")
        elif "or" in joints:
            self.found.add(f"@categories_uses({', '.join(values)})")
        else:
            for value in values:
                self.found.add(f"@categories_uses({value})")

    def _platforms_before_noun(self, values: Iterable[str], places: list[int]) -> bool:
        known = vocabulary()
        shops = all({"ecommerce", "cms", "website_builder"} & set(known.categories_of(value)) for value in values)
        after = self._after(places[-1])
        return shops and after is not None and (after.key in SHOP_WORDS or after.has("generic", "service_type"))

    def _types(self) -> None:
        known = vocabulary()
        wanted: list[str] = []
        unwanted: list[str] = []
        tools = [part.values[0] for part in self.parts if part.kind == "technology" and not part.negated]
        shop = any("ecommerce" in known.categories_of(tool) for tool in tools)
        for at, part in enumerate(self.parts):
            if part.used or part.kind != "service_type":
                continue
            part.used = True
            value = part.values[0]
            if part.negated:
                unwanted.append(value)
                continue
            before = self.parts[at - 1] if at else None
            if value == "Ecommerce" and shop and part.key.split()[-1] in SHOP_WORDS:
                continue
            if value == "Publisher" and part.key in ("blog", "blogs") and before and before.kind == "technology":
                continue
            if value == "Firm" and wanted:
                continue
            wanted.append(value)
        if wanted:
            self.found.add(f"@service_type({', '.join(dict.fromkeys(wanted))})")
        if unwanted:
            self.found.add(f"!@service_type({', '.join(dict.fromkeys(unwanted))})")
