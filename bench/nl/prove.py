"""All measurements of sentences at once: generated ones, noise, random strings, speed.

    python -m bench.nl.prove [--generated 10000] [--strings 200000] [--keep]

`--keep` writes bench/results/natural.json.
"""

from __future__ import annotations

import argparse
from typing import Any

from bench.common import SEED, write_result
from bench.nl import speed
from testing.progress import counting, say
from testing.sentences import noise
from testing.sentences.fuzz import fuzz
from testing.sentences.generate import generate
from testing.sentences.score import LOCKED, SETS, Labelled, Score, Tally, read_set, score, service, unaccounted
from testing.sentences.words import LANGUAGES


def _sums(tally: Tally) -> dict[str, Any]:
    return {
        "sentences": tally.sentences,
        "exact": round(100 * tally.exact / max(1, tally.sentences), 1),
        "f1": round(tally.f1, 3),
        "polarity_errors": tally.polarity,
        "conditions": tally.wanted,
    }


def _by_level(made: Score) -> dict[str, Any]:
    sums = {"all": _sums(made.whole)} | {level: _sums(made.levels[level]) for level in sorted(made.levels)}
    return sums | ({"not_english": _sums(made.languages)} if made.languages.sentences else {})


def generated(count: int) -> dict[str, Any]:
    """Score of generated sentences, by level and by language."""
    rows: list[Labelled] = list(counting(generate(count, SEED), "generate", count))
    whole = _by_level(score(counting(rows, "score", count), service))
    languages = {name: _sums(score([row for row in rows if name in row.tags], service).whole) for name in LANGUAGES}
    return whole | {"languages": languages}


def labelled(name: str) -> dict[str, Any]:
    """Score of a labelled set, and what noise costs; sums only."""
    say(f"noise: {name}")
    rows = read_set(SETS / f"{name}.jsonl")
    losses, _ = noise.measure(rows, SEED)
    return {
        "score": _by_level(score(rows, service)),
        "words_unaccounted": sum(unaccounted(row.query) for row in rows),
        "noise": {kind: loss.figures() for kind, loss in losses.items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generated", type=int, default=10_000)
    parser.add_argument("--strings", type=int, default=200_000)
    parser.add_argument("--keep", action="store_true", help="write the result to bench/results")
    asked = parser.parse_args()
    say("speed")
    figures: dict[str, Any] = {"speed": speed.measure(runs=7, fresh=5)}
    figures |= {name: labelled(name) for name in ("dev", LOCKED)}
    figures["generated"] = generated(asked.generated)
    report = fuzz(asked.strings, SEED)
    figures["fuzz"] = report.figures()
    write_result("natural", figures, "make long-nl", keep=asked.keep)
    return 1 if report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
