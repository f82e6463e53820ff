"""What a file of leads has that is not loaded: a file for the operator, one rejected value or line of JSON each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import orjson

from siteglass.corpus.lead_files import replacing

REJECTS_SUFFIX = ".rejects.ndjson"
MAX_REJECTS = 10_000
MAX_VALUE_CHARS = 200


class Rejects:
    """Collects what is rejected. All of it is counted; the first MAX_REJECTS are written."""

    def __init__(self, place: Literal["line", "row"], columns_of: Callable[[str], str] | None = None) -> None:
        self.count = 0
        self.reasons: Counter[tuple[str, str]] = Counter()
        """How often each reason applied to a field, or to a line: then the field is empty."""
        self.place = place
        self._columns_of = columns_of
        """The columns of a table that are read for a field, if the source is a table."""
        self._first = ""
        self._lines: list[bytes] = []

    def add(
        self, place: int, domain: str, field: str, value: str, reason: str, nearest: str | None, *, column: str = ""
    ) -> None:
        """Note a value that was rejected, or a line that is not a lead."""
        self.count += 1
        self.reasons[field, reason] += 1
        self._first = self._first or f"{self.place} {place}: {reason}"
        if len(self._lines) < MAX_REJECTS:
            reject = {
                self.place: place,
                **({"column": column or self._columns_of(field)} if self._columns_of else {}),
                "domain": domain,
                "field": field,
                "value": value[:MAX_VALUE_CHARS],
                "reason": reason,
                "nearest": nearest,
            }
            self._lines.append(orjson.dumps(reject, option=orjson.OPT_APPEND_NEWLINE))

    def first_reason(self) -> str:
        """Where and why the first one was rejected."""
        return self._first

    def write(self, path: Path) -> None:
        """Write the file in place of an earlier one; no file if nothing was rejected."""
        if not self.count:
            path.unlink(missing_ok=True)
            return
        with replacing(path) as sink:
            sink.writelines(self._lines)
            if left_out := self.count - len(self._lines):
                sink.write(orjson.dumps({"left_out": left_out}, option=orjson.OPT_APPEND_NEWLINE))


def rejects_of(leads: Path) -> Path:
    """The file of rejects that belongs to a file of leads; it need not be there."""
    return leads.with_suffix(REJECTS_SUFFIX)
