"""Segments to directive lines: the stages in their order, and what is left over at the end."""

from __future__ import annotations

import re

from siteglass.query.natural.amounts import Amounts
from siteglass.query.natural.choice import Choice
from siteglass.query.natural.places import Places
from siteglass.query.natural.scope import Scope
from siteglass.query.natural.segments import ENTITIES
from siteglass.query.natural.sentence import (
    Found,
    quoted,
)
from siteglass.query.natural.things import Things
from siteglass.query.natural.tools import Tools


class Reader(Choice, Amounts, Scope, Things, Places, Tools):
    """Reads one sentence."""

    def read(self) -> Found:
        self._english()
        self._choose()
        self._portuguese()
        self._not_a_place()
        self._skip_about_me()
        self._dates()
        self._numbers()
        self._scopes()
        self._either()
        self._law_firms()
        self._vague()
        self._things()
        self._languages()
        self._places()
        self._tools()
        self._types()
        self._keywords()
        return self.found

    def _keywords(self) -> None:
        phrase: list[str] = []

        def flush() -> None:
            if phrase:
                self.found.add(f"@keywords({quoted(' '.join(phrase))})")
                phrase.clear()

        for part in self.parts:
            meaningful = part.kind == "unknown" and not part.used and all(s.kind in ENTITIES for s in part.senses)
            if meaningful and re.search(r"\w", part.text):
                if part.negated:
                    self.found.unsupported.append(part.text)
                    flush()
                else:
                    phrase.append(part.text.lower())
            else:
                flush()
        flush()
