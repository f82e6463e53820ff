"""Sentences of the labelled sets with their read-backs, for people who judge whether each says what was meant.

    python -m bench.read_backs [--count 100] [--seed 24] [--sets dev grammar1 grammar2]

Prints a JSON object per line: `query`, `read_back` (null if the sentence contains no condition), and `warnings`, the
notes that a caller gets with it. The same seed always draws the same sentences. Only who judges may read lines that are
drawn from a locked set.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from siteglass.query.natural import LOW_CONFIDENCE, interpret
from siteglass.query.natural.interpretation import Interpretation
from siteglass.query.read_back import read_back
from testing.sentences.score import SETS, TODAY, read_set

DRAWN_FROM = ("dev", "grammar1", "grammar2")


def draw(sets: Sequence[str], count: int, seed: int) -> list[str]:
    """Sentences from all sets together."""
    sentences = sorted({row.query for name in sets for row in read_set(SETS / f"{name}.jsonl")})
    return random.Random(seed).sample(sentences, count)


def judged(query: str) -> dict[str, Any]:
    """What a reviewer sees of a sentence."""
    reading = interpret(query, TODAY.date())
    sentence = read_back(reading.criteria) if reading.criteria.conditions else None
    return {"query": query, "read_back": sentence, "warnings": [*_warnings(reading)]}


def _warnings(reading: Interpretation) -> Iterator[str]:
    for note in (*reading.unsupported, *reading.assumptions):
        yield f"{' '.join(span.text for span in note.words)}: {note.message}"
    for correction in reading.corrections:
        yield f"{correction.word.text} was interpreted as {correction.to}"
    if reading.confidence < LOW_CONFIDENCE:
        yield f"confidence {reading.confidence:g}"


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--sets", nargs="+", default=DRAWN_FROM)
    options = parser.parse_args()
    for query in draw(options.sets, options.count, options.seed):
        print(json.dumps(judged(query), ensure_ascii=False))


if __name__ == "__main__":
    main()
