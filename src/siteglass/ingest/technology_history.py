"""When websites began and stopped using technologies, from the history that the facts store keeps of their pages.

A technology was added on the day when a page showed it first. That page must have been captured before without it, and
no other page may have shown it earlier. It was dropped after the last day on which a page showed it. That page must
have been captured since, and no page may show it now. Of a page that is new or gone, nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from siteglass.ingest.grouped import column, listed, pc
from siteglass.query.criteria import MS_PER_DAY
from siteglass.query.technology_changes import encode_change, has_history

MAX_CHANGES = 200


@dataclass(slots=True)
class _Seen:
    """A technology on the pages of a domain."""

    first_ms: int
    is_added: bool
    last_ms: int
    is_dropped: bool

    def join(self, other: _Seen) -> None:
        """With what another page says."""
        if (other.first_ms, not other.is_added) < (self.first_ms, not self.is_added):
            self.first_ms, self.is_added = other.first_ms, other.is_added
        if (other.last_ms, other.is_dropped) > (self.last_ms, self.is_dropped):
            self.last_ms, self.is_dropped = other.last_ms, other.is_dropped


def with_changes(rows: pa.Table, pages: pa.Table, seen: pa.Table) -> pa.Table:
    """Rows of leads with the columns `added` and `dropped`, see `query.technology_changes`. `seen` are the values of
    that column of all `pages`."""
    added: list[list[int]] = [[] for _ in range(rows.num_rows)]
    dropped: list[list[int]] = [[] for _ in range(rows.num_rows)]
    used = listed(rows, "technologies")
    for (lead, technology), history in _histories(pages, seen).items():
        if history.is_added:
            added[lead].append(encode_change(technology, history.first_ms // MS_PER_DAY))
        if history.is_dropped and technology not in used[lead]:
            dropped[lead].append(encode_change(technology, history.last_ms // MS_PER_DAY))
    for name, changes in (("added", added), ("dropped", dropped)):
        few = [sorted(some)[:MAX_CHANGES] for some in changes]
        rows = rows.append_column(name, pa.array(few, pa.list_(pa.int64())))
    return rows


def _histories(pages: pa.Table, seen: pa.Table) -> dict[tuple[int, str], _Seen]:
    """By lead and technology, if a page shows that one came or went; else of none."""
    seen = seen.filter(pc.equal(seen.column("kind"), "technology"))
    place = column(seen, "place")
    came = _holds(pc.greater(seen.column("first_ms"), column(pages, "first_captured_ms").take(place)))
    went = _holds(pc.less(seen.column("last_ms"), column(pages, "last_captured_ms").take(place)))
    if not (came | went).any():  # most domains were crawled once
        return {}
    found: dict[tuple[int, str], _Seen] = {}
    names = ("lead", "value", "first_ms", "last_ms")
    rows = zip(*(listed(seen, name) for name in names), came.tolist(), went.tolist(), strict=True)
    for lead, technology, first_ms, last_ms, is_added, is_dropped in rows:
        if has_history(technology):
            one = _Seen(first_ms, is_added, last_ms, is_dropped)
            found.setdefault((lead, technology), one).join(one)
    return found


def _holds(comparison: Any) -> Any:
    return np.asarray(comparison.fill_null(False))
