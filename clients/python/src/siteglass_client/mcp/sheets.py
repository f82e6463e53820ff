"""The rows of an answer: chosen columns, long values cut, as many rows as the tokens allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from siteglass_client.errors import SiteglassError
from siteglass_client.mcp.sizes import BYTES_PER_TOKEN, cut, size_bytes

ENVELOPE_BYTES = 1_000
"""For all of an answer but its rows."""
DOMAIN_BYTES = 300
MIN_VALUE_BYTES = 40
SHARE_OF_VALUE = 10
"""A value has at most this part of the room, so that one long text does not take the place of the other leads."""
LIKELY_COLUMN_BYTES = 90
"""A guess before the first row is known, rather too large: what does not fit would be paid before it is shown."""


class Sheet:
    """Rows that fit into an answer."""

    def __init__(self, columns: Sequence[str], max_tokens: int) -> None:
        self._columns = list(columns)
        self._room_bytes = max_tokens * BYTES_PER_TOKEN - ENVELOPE_BYTES
        names_bytes = sum(len(name) + len('"":,') for name in self._columns)
        count = max(1, len(self._columns))
        value_bytes = (self._room_bytes - DOMAIN_BYTES - names_bytes) // count
        if value_bytes < MIN_VALUE_BYTES:
            needed = ENVELOPE_BYTES + DOMAIN_BYTES + names_bytes + count * MIN_VALUE_BYTES
            raise SiteglassError(
                f"select: {len(self._columns)} fields need max_tokens={-(-needed // BYTES_PER_TOKEN)} or more, but "
                f"it is {max_tokens}. Request fewer fields, or raise max_tokens."
            )
        self._value_bytes = min(value_bytes, self._room_bytes // SHARE_OF_VALUE)
        self._largest_bytes = 0
        self.rows: list[dict[str, Any]] = []
        self.values_cut = 0

    def add(self, record: Mapping[str, Any]) -> bool:
        """A row more, unless there is no room for it; the first one always fits. Empty columns are left out."""
        row: dict[str, Any] = {"domain": cut(record["domain"], DOMAIN_BYTES)}
        values_cut = 0
        for name in self._columns:
            value = record.get(name)
            if name == "domain" or value is None or value in ("", [], {}):
                continue
            row[name] = cut(value, self._value_bytes)
            values_cut += row[name] is not value
        row_bytes = size_bytes(row) + len(",")
        if row_bytes > self._room_bytes and self.rows:
            return False
        self.rows.append(row)
        self.values_cut += values_cut
        self._room_bytes -= row_bytes
        self._largest_bytes = max(self._largest_bytes, row_bytes)
        return True

    def fitting(self) -> int:
        """How many rows more will fit if none is larger than the largest so far."""
        likely_bytes = self._largest_bytes or LIKELY_COLUMN_BYTES * (1 + len(self._columns))
        return max(0 if self.rows else 1, self._room_bytes // likely_bytes)
