"""How honest readings are: how often a sure one is right, and which languages are refused.

python -m testing.sentences.honesty
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from siteglass.query.natural import interpret
from siteglass.query.natural.leftovers import FOREIGN
from testing.sentences.score import SETS, TODAY, Labelled, read_set, score

OPEN_SETS = ("dev", "locked", "grammar1", "grammar2", "grammar3", "messy", "groups", "polish")
SURE = 0.95


@dataclass
class Confidence:
    """Of so many sentences, how many readings are sure, and which of those are wrong."""

    sentences: int = 0
    sure: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def reach(self) -> float:
        return self.sure / self.sentences

    @property
    def right(self) -> float:
        return 1 - len(self.wrong) / self.sure


def measure_confidence(labelled: Iterable[Labelled]) -> Confidence:
    """Compare the sure readings with their labels."""
    made = Confidence()
    for row in labelled:
        read = interpret(row.query, TODAY.date())
        made.sentences += 1
        if read.confidence >= SURE:
            made.sure += 1
            made.wrong += [] if _is_right(row, read.directives) else [row.query]
    return made


def _is_right(row: Labelled, directives: tuple[str, ...]) -> bool:
    return not score([row], lambda _: directives).failed


def is_refused(query: str) -> bool:
    """Whether a sentence is reported to be in a language that is not read."""
    return FOREIGN in [note.message for note in interpret(query, TODAY.date()).unsupported]


def other_languages() -> list[str]:
    """Sentences in ten languages that are not read."""
    return [row.split("\t")[1] for row in (SETS / "other_languages.txt").read_text().splitlines()]


def open_sentences() -> list[Labelled]:
    """All labelled sentences that may be looked at."""
    return [row for name in OPEN_SETS for row in read_set(SETS / f"{name}.jsonl")]


def main() -> None:
    rows = open_sentences()
    made = measure_confidence(rows)
    print(f"{made.sentences} sentences: {made.reach:.1%} reach {SURE}, {made.right:.1%} of these are right")
    refused = sum(is_refused(query) for query in other_languages())
    wrongly = sum(is_refused(row.query) for row in rows)
    print(f"other languages: {refused} of {len(other_languages())} refused; of those that are read: {wrongly}")


if __name__ == "__main__":
    main()
