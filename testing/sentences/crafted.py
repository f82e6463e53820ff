"""Sentences of 1,000 characters that are hard to read: many alternatives, places, denials, numbers and typos.

    python -m testing.sentences.crafted

Prints the processor time of each, the least of several runs, in milliseconds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random

from siteglass.errors import QueryError
from siteglass.query.natural import MAX_QUERY_CHARS
from testing.sentences.score import SETS, read_set, service

_PIECES = {
    "or": "or ",
    "and either": "Shopify and either Zendesk or Intercom ",
    "or of places": "Texas or Paris or France or ",
    "states": "TX, CA, GA, ",
    "lower-case states": "tx ca ga me in or ",
    "cities": "san jose springfield portland ",
    "denials": "not without no lacking ",
    "denied list": "no Shopify or Wix, ",
    "ranges": "between 5k and 10k or over 3 ",
    "numbers": "5,000 3 2026 ",
    "typos": "shopfiy kalviyo texsa plumbres ",
    "trades": "emergency plumbing service ",
    "long names": "new york city new york university of new ",
    "keywords": "vegan dog food and raw cat treats, ",
    "wishes": "hiring developers and 200 employees, ",
    "quotes": '"vegan food" or "raw" ',
    "signs": "()[],;:/-",
    "one letter": "a b c ",
    "german": "Händler oder Agenturen ohne Shopware und ohne ",
    "languages": "in German or French, ",
    "alternatives of clauses": "shops in Texas using Wix or agencies in Ohio using Webflow or ",
    "one word": "x" * 1_000,
    "hyphens": "a-b-c-d ",
    "apostrophes": "d'l'd'l' ",
    "directives": "@country(USA) @any[ @lacks(crm) | @not_secure ] ",
    "money": "$5k+ to $10k a month on ads, ",
    "law firms": "law firm agency law firms ",
    "same name": "Georgia Georgia, ",
}


def crafted() -> Iterator[tuple[str, str]]:
    """A name and a sentence: each piece repeated, and all pieces and words of labelled sentences in random order."""
    for name, piece in _PIECES.items():
        yield name, (piece * MAX_QUERY_CHARS)[:MAX_QUERY_CHARS]
    draw = Random(5)
    words = " ".join(row.query for row in read_set(SETS / "dev.jsonl")).split()
    for number in range(10):
        yield f"random words {number}", " ".join(draw.choices(words, k=400))[:MAX_QUERY_CHARS]
        yield f"random pieces {number}", "".join(draw.choices(list(_PIECES.values()), k=400))[:MAX_QUERY_CHARS]


def answered(query: str) -> Sequence[str] | None:
    """What the parser makes of a sentence; None if it refuses to go through so many repetitions."""
    try:
        return service(query)
    except QueryError:
        return None


def least_times(queries: Iterable[str], runs: int, understand: Callable[[str], object] = answered) -> list[float]:
    """Milliseconds of processor time of each sentence: the least of the runs, which other processes disturb least."""
    rows = list(queries)
    for query in rows:
        understand(query)
    gc.collect()
    gc.freeze()  # as a worker does once its tables are read
    times = [float("inf")] * len(rows)
    for _ in range(runs):
        for at, query in enumerate(rows):
            started = time.thread_time()
            understand(query)
            times[at] = min(times[at], (time.thread_time() - started) * 1e3)
    gc.unfreeze()
    return times


def main() -> None:
    rows = list(crafted())
    times = least_times((text for _, text in rows), 3)
    for took, name in sorted(zip(times, (name for name, _ in rows), strict=True), reverse=True):
        print(f"{took:8.2f} ms  {name}")


if __name__ == "__main__":
    main()
