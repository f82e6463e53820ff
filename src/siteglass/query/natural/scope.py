"""How far a denial reaches; and what the language of directives cannot say."""

from __future__ import annotations

from siteglass.query.natural.segments import ENTITIES
from siteglass.query.natural.sentence import (
    VAGUE,
    Sentence,
    family,
)


class Scope(Sentence):
    """Marks what is denied."""

    def _scopes(self) -> None:
        negating = doubled = False
        covered: str | None = None
        joined = False
        for at, part in enumerate(self.parts):
            if part.used:
                continue
            if part.has("double_negation"):
                negating, doubled, covered, joined = True, True, None, False
            elif part.has("negation_after", "exception_after") and self._postposed(at):
                continue
            elif part.has("negation", "exception") and part.kind not in ENTITIES:
                if self._postposed(at):
                    continue
                negating, doubled, covered, joined = True, False, None, False
            elif part.has("break", "but"):
                negating = False
            elif part.has("and", "or", "comma"):
                joined = True
            elif (
                part.kind in ENTITIES
                or part.kind in VAGUE
                or part.kind.startswith(("flag", "contact", "page_name", "page_whole", "path"))
            ):
                if negating and (covered is None or (joined and family(part) == covered)):
                    part.negated, part.doubled = not doubled, doubled
                    covered = family(part)
                elif negating:
                    negating = False
                joined = False
            elif part.kind == "unknown" and not part.senses:
                if negating and covered is None:
                    part.negated = True
                    after = self._after(at)
                    if after is None or after.kind != "unknown":
                        negating = False
                joined = False
            elif (
                covered is not None
                and part.has("using", "offering", "place_preposition", "spending", "generic")
                and not part.has("function")
            ):
                negating = False

    def _postposed(self, at: int) -> bool:
        """ "Klaviyo no": a denial behind what it denies."""
        after = self._after(at)
        if after is not None and not after.has("comma", "break", "and", "but"):
            return False
        part = self.parts[at]
        if not part.has("negation_after", "exception_after") and part.key not in ("no", "nope", "not", "nein", "non"):
            return False
        i, done = at - 1, False
        covered = ""
        while i >= 0:
            before = self.parts[i]
            thing = before.kind in ENTITIES or before.kind.startswith(("flag", "contact", "page"))
            if thing and not before.used and covered in ("", family(before)):
                before.negated, done, covered = True, True, family(before)
            elif not before.has("and", "or", "comma"):
                break
            i -= 1
        return done

    def _either(self) -> None:
        """ "either X or Y" of different kinds, and "no sitemap or robots.txt", cannot be said: reported only."""
        for at, part in enumerate(self.parts):
            if part.key != "either" and not part.key.endswith(" either"):
                continue
            end = next((i for i in range(at, len(self.parts)) if self.parts[i].has("comma", "break")), len(self.parts))
            inside = [
                p
                for p in self.parts[at:end]
                if p.kind in ENTITIES
                or p.kind.startswith(("flag", "contact", "page"))
                or p.kind in VAGUE
                or p.kind == "number"
            ]
            if len({family(p) if p.kind in ENTITIES else p.kind + str(p.values) for p in inside}) > 1:
                for p in self.parts[at:end]:
                    p.used = True
                self.found.unsupported.append("or between different things")
        for at in range(len(self.parts) - 2):
            first, joint, second = self.parts[at : at + 3]
            if second.has("negation", "function") and at + 3 < len(self.parts):
                second = self.parts[at + 3]
            denied = any(part.key in ("neither", "weder", "ni", "nem") for part in self.parts[:at])
            if joint.has("or") and first.kind == "flag_nouns" and second.kind == "flag_nouns" and not denied:
                first.used = second.used = True
