"""Flags, contacts, pages, languages and vague words to directive lines."""

from __future__ import annotations

from siteglass.query.natural import numbers
from siteglass.query.natural.sentence import (
    VAGUE,
    Sentence,
)

FLAGS = {
    "sitemap": "missing_sitemap", "robots": "missing_robot", "schema": "missing_schema",
    "description": "missing_description", "heading": "missing_heading", "https": "not_secure",
    "responsive": "not_responsive",
}  # fmt: skip


class Things(Sentence):
    """Writes what a site has or lacks."""

    def _law_firms(self) -> None:
        for part in self.parts:
            if part.has("law_firm") and not part.used:
                part.used = True
                sign = "!" if part.negated else ""
                self.found.add(f"{sign}@service_type(Firm)")
                if not part.negated:
                    self.found.add("@offers(legal_service)")

    def _vague(self) -> None:
        for part in self.parts:
            if part.used or part.kind not in {*VAGUE, "this_year"}:
                continue
            part.used = True
            if part.kind == "this_year":
                self.found.add(numbers.start_of_year(self.today))
                continue
            line = VAGUE[part.kind]
            if part.negated:
                line = line[1:] if line.startswith("!") else f"!{line}"
            self.found.add(line)

    def _things(self) -> None:
        for at, part in enumerate(self.parts):
            if part.used:
                continue
            sign = "!" if part.negated else ""
            if part.kind == "flag_nouns":
                bad = part.negated and not part.doubled
                self.found.add(f"{'' if bad else '!'}@{FLAGS[part.values[0]]}")
                part.used = True
            elif part.kind in ("flag_bad", "flag_good"):
                bad = (part.kind == "flag_bad") != part.negated
                self.found.add(f"{'' if bad else '!'}@{FLAGS[part.values[0]]}")
                part.used = True
            elif part.kind == "contact":
                name = part.values[0]
                if name == "personal_email":
                    self.found.add("@no_generic_emails")
                else:
                    self.found.add(f"{sign}@has_{name}")
                part.used = True
            elif part.kind == "path":
                paths = [part.tokens[0].text.lower().rstrip("/")]
                part.used = True
                if at + 2 < len(self.parts) and self.parts[at + 1].has("or") and self.parts[at + 2].kind == "path":
                    paths.append(self.parts[at + 2].tokens[0].text.lower().rstrip("/"))
                    self.parts[at + 2].used = True
                self.found.add(f"{sign}@pages({', '.join(paths)})")
            elif part.kind == "page_whole" or (part.kind == "page_name" and self._page_follows(at)):
                self.found.add(f"{sign}@pages({part.values[0]})")
                part.used = True

    def _languages(self) -> None:
        wanted: list[str] = []
        for part in self.parts:
            if part.used or part.kind not in ("language", "spoken"):
                continue
            part.used = True
            if part.negated:
                self.found.add(f"!@lang({part.values[0]})")
            else:
                wanted.append(part.values[0])
        if wanted:
            self.found.add(f"@lang({', '.join(dict.fromkeys(wanted))})")
