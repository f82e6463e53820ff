"""Scores what the service understands against labelled sentences.

    python -m testing.sentences.score testing/sentences/sets/dev.jsonl [--failures 20] [--level L1] [--tag tech]

Exact match: the whole search means the same as the label. F1: over its conditions. Polarity errors: conditions found
with the wrong sign, the worst failure. Unaccounted: words that an explanation puts in no list, or in two. Of a locked
set only the sums are shown, never a sentence: whoever reads its failures fits the rules to them.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from siteglass.query.natural import interpret
from testing.sentences.change_labels import with_changes
from testing.sentences.meaning import Atom, atoms
from testing.sentences.trade_labels import with_trades

SETS = Path(__file__).parent / "sets"
LOCKED = "locked"
# The day that relative dates of the labels count from.
TODAY = datetime(2026, 11, 15, 12, tzinfo=UTC)
LEVELS = ("L1", "L2", "L3", "L4")
OTHER_LANGUAGES = ("de", "es", "fr", "pt")
INEXPRESSIBLE = "inexpressible_or"
_WORD = re.compile(r"[^\W_]+")

Understand = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Labelled:
    """A sentence and what it means."""

    query: str
    gold: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def level(self) -> str:
        return next((tag for tag in self.tags if tag in LEVELS), "none")


def read_set(path: Path) -> list[Labelled]:
    """The sentences of a file."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [Labelled(row["query"], tuple(row["gold"]), tuple(row["tags"])) for row in rows]


@dataclass
class Tally:
    """Sums over sentences."""

    sentences: int = 0
    exact: int = 0
    right: int = 0
    found: int = 0
    wanted: int = 0
    polarity: int = 0
    unreadable: int = 0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.found + self.wanted) if self.found + self.wanted else 1.0

    def line(self, name: str) -> str:
        share = self.exact / self.sentences if self.sentences else 0.0
        margin = 1.96 * math.sqrt(share * (1 - share) / self.sentences) if self.sentences else 0.0
        return (
            f"{name:12} {self.sentences:5} sentences  exact {share:6.1%} ± {margin:5.1%}  F1 {self.f1:.3f}  "
            f"polarity errors {self.polarity} of {self.wanted} conditions"
        )


@dataclass
class Score:
    """All, by level, and what failed."""

    whole: Tally = field(default_factory=Tally)
    levels: dict[str, Tally] = field(default_factory=dict)
    languages: Tally = field(default_factory=Tally)
    """Of the sentences in other languages than English."""
    failed: list[tuple[Labelled, Sequence[str]]] = field(default_factory=list)
    by_rule_1: int = 0
    """Sentences with a trade where the label, written before trades, says it otherwise."""
    fields_missed: Counter[str] = field(default_factory=Counter)
    fields_added: Counter[str] = field(default_factory=Counter)


def _flipped(atom: Atom) -> Atom:
    return atom._replace(negated=not atom.negated)


def score(labelled: Iterable[Labelled], understand: Understand) -> Score:
    """Compare every sentence."""
    made = Score()
    for sentence in labelled:
        labelled_as, lines = atoms(sentence.gold), understand(sentence.query)
        found = atoms(lines)
        wanted = with_trades(sentence.query, labelled_as, found)
        made.by_rule_1 += wanted != labelled_as
        wanted = with_changes(sentence.query, wanted, found)
        if INEXPRESSIBLE in sentence.tags:  # rule 10: the label was written before `@any` could say it
            found = {atom for atom in found if atom.field != "any" or atom in wanted}
        tallies = [made.whole, made.levels.setdefault(sentence.level, Tally())]
        if not set(OTHER_LANGUAGES).isdisjoint(sentence.tags):
            tallies.append(made.languages)
        for tally in tallies:
            tally.sentences += 1
            tally.exact += found == wanted
            tally.right += len(found & wanted)
            tally.found += len(found)
            tally.wanted += len(wanted)
            tally.polarity += sum(_flipped(atom) in wanted for atom in found - wanted)
        if found != wanted:
            made.failed.append((sentence, lines))
            made.fields_missed.update(atom.field for atom in wanted - found)
            made.fields_added.update(atom.field for atom in found - wanted)
    return made


def service(query: str) -> Sequence[str]:
    """What the parser makes of a sentence, as directive lines."""
    return interpret(query, TODAY.date()).directives


def unaccounted(query: str) -> int:
    """Words of a sentence that its explanation puts in no list, or in more than one."""
    read = interpret(query, TODAY.date())
    lists = (
        [span for one in read.conditions for span in one.words],
        read.ignored,
        [span for note in read.unsupported for span in note.words],
    )
    wrong = 0
    for word in _WORD.finditer(read.query):
        wrong += sum(any(s.start < word.end() and word.start() < s.end for s in spans) for spans in lists) != 1
    return wrong


def main() -> None:
    """Score a set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--failures", type=int, default=0, help="show so many sentences that failed")
    parser.add_argument("--level", choices=LEVELS)
    parser.add_argument("--tag")
    options = parser.parse_args()
    labelled = read_set(options.set)
    labelled = [row for row in labelled if options.level in (None, row.level)]
    labelled = [row for row in labelled if options.tag is None or options.tag in row.tags]
    service("warm up")
    started = time.perf_counter()
    made = score(labelled, service)
    seconds = time.perf_counter() - started
    print(made.whole.line("all"))
    for level in sorted(made.levels):
        print(made.levels[level].line(level))
    if made.languages.sentences:
        print(made.languages.line("not English"))
    print(f"trades accepted by rule 1: in {made.by_rule_1} sentences")
    print(f"words unaccounted: {sum(unaccounted(row.query) for row in labelled)}")
    print(f"missed by field: {dict(made.fields_missed.most_common(12))}")
    print(f"added by field:  {dict(made.fields_added.most_common(12))}")
    print(f"{seconds / max(1, len(labelled)) * 1e3:.2f} ms a sentence, the comparison included")
    if LOCKED not in options.set.name:
        for sentence, lines in made.failed[: options.failures]:
            found = atoms(lines)
            wanted = with_changes(sentence.query, with_trades(sentence.query, atoms(sentence.gold), found), found)
            print(f"\n{sentence.query}")
            for sign, some in (("-", wanted - found), ("+", found - wanted)):
                for atom in sorted(some):
                    print(f"  {sign} {'!' if atom.negated else ''}{atom.field} {', '.join(sorted(atom.values))}")


if __name__ == "__main__":
    main()
