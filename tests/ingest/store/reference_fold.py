"""Folding once more, in plain Python and slow: one page of a list of captures of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from siteglass.ingest.facts import PageFacts, SeenValue
from siteglass.ingest.store.folding import MAX_MISSES


def folded(captures: Iterable[PageFacts]) -> list[PageFacts]:
    """One row for each address, in order; captures as extraction writes them."""
    pages: dict[tuple[str, str], list[PageFacts]] = defaultdict(list)
    for one in captures:
        pages[one.domain, one.url].append(one)
    return [_page(pages[key]) for key in sorted(pages)]


def is_miss(one: PageFacts) -> bool:
    return one.kind in ("soft_404", "empty") or (one.kind == "failed" and one.status not in (404, 410))


def _newest(one: PageFacts) -> tuple[Any, ...]:
    return one.captured_at_ms, one.digest, one.archive, one.offset


def _page(captures: list[PageFacts]) -> PageFacts:
    answers = [one for one in captures if not is_miss(one)]
    counts = max(answers or captures, key=_newest)
    since_ms = counts.captured_at_ms if answers else -1
    missed = sorted({one.captured_at_ms for one in captures if is_miss(one) and one.captured_at_ms > since_ms})
    shown = [one for one in answers if one.kind != "failed"]
    times = sorted(one.captured_at_ms for one in shown)
    return msgspec.structs.replace(
        counts,
        missed_at_ms=tuple(reversed(missed))[:MAX_MISSES],
        first_captured_ms=times[0] if times else None,
        last_captured_ms=times[-1] if times else None,
        seen=_seen(shown),
    )


def _seen(captures: list[PageFacts]) -> tuple[SeenValue, ...]:
    times: dict[tuple[Any, str], list[int]] = defaultdict(list)
    for one in captures:
        for kind, values in (
            ("email", [contact.value for contact in one.emails]),
            ("phone", [contact.value for contact in one.phones]),
            ("technology", one.technologies),
        ):
            for value in values:
                times[kind, value].append(one.captured_at_ms)
    return tuple(SeenValue(*key, min(times[key]), max(times[key])) for key in sorted(times))
