"""What a file of leads has that is not loaded: a file for the operator, one rejected value or line of JSON each."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import orjson

from siteglass.corpus.lead_files import replacing

MAX_REJECTS = 10_000
MAX_VALUE_CHARS = 200


class Rejects:
    """Collects what is rejected. All of it is counted; the first MAX_REJECTS are written."""

    def __init__(self, place: Literal["line", "row"]) -> None:
        self.count = 0
        self._first = ""
        self._place = place
        self._lines: list[bytes] = []

    def add(self, place: int, domain: str, field: str, value: str, reason: str, nearest: str | None) -> None:
        """Note a value that was rejected, or a line that is not a lead."""
        self.count += 1
        self._first = self._first or f"{self._place} {place}: {reason}"
        if len(self._lines) < MAX_REJECTS:
            reject = {
                self._place: place,
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
    return leads.with_suffix(".rejects.ndjson")
