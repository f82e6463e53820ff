"""Scores a closed set of sentences: what was read, which way round, and what whoever searches is warned of.

    python -m testing.sentences.judge testing/sentences/sets/closed1-locked.jsonl

It prints sums and never a sentence: whoever reads the failures of a closed set fits the rules to them. Each line of the
file has `query`, `gold` and `class`. Opposite: a condition that is searched with the wrong sign.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from siteglass.query.body import read_meaning
from siteglass.query.criteria import AnyOf
from siteglass.query.directives import parse, print_condition
from siteglass.query.doubt import confidence_of, needs_review
from testing.sentences.families import NOW_MS, SURE, demands, is_warned
from testing.sentences.meaning import Atom, atoms

BUYS = 0.8


@dataclass(frozen=True)
class Reading:
    """One sentence, read and compared."""

    kind: str
    right: bool
    wanted: int
    opposite: int
    confidence: float
    warned: bool
    stopped: bool


def comparable(lines: Iterable[str]) -> set[Atom]:
    """Atoms of a search. What all branches of an either/or share counts outside of it; their order does not matter."""
    criteria = parse("\n".join(lines))
    found = atoms([print_condition(condition) for condition in criteria.plain])
    for clause in criteria.conditions:
        if not isinstance(clause, AnyOf):
            continue
        branches = [frozenset(atoms(map(print_condition, branch))) for branch in clause.branches]
        common: frozenset[Atom] = frozenset() if clause.negated else frozenset.intersection(*branches)
        rest = {str(sorted(_text(atom) for atom in branch - common)) for branch in branches}
        found |= common | {Atom(clause.negated, "any", frozenset(rest))}
    return {_without_window(atom) for atom in found}


def _without_window(atom: Atom) -> Atom:
    """A change of technology without its time: labels have it only where the sentence says one."""
    if atom.field not in ("added", "dropped"):
        return atom
    return atom._replace(values=frozenset(value.rpartition(",")[0] for value in atom.values))


def _text(atom: Atom) -> str:
    return f"{'!' if atom.negated else ''}{atom.field}({', '.join(sorted(atom.values))})"


def read(row: dict[str, str], gold: Sequence[str]) -> Reading:
    """Read a sentence and compare it with its label."""
    meaning = read_meaning({"query": row["query"]}, NOW_MS)
    sentence = meaning.sentence
    assert sentence is not None
    found, wanted = comparable(sentence.directives), comparable(gold)
    denied = demands([[line] for line in gold if line.startswith(("!", "@lacks"))])
    opposite = {atom for atom in found - wanted if atom._replace(negated=not atom.negated) in wanted}
    return Reading(
        row["class"],
        found == wanted,
        len(wanted),
        len(opposite | (found - wanted & denied)),
        confidence_of(meaning),
        is_warned(meaning),
        needs_review(meaning),
    )


def interval(part: int, whole: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    if not whole:
        return "none"
    share, z = part / whole, 1.96
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    return f"{part} of {whole} ({share:.1%}; {middle - half:.1%} to {middle + half:.1%})"


def report(readings: Sequence[Reading]) -> str:
    """The sums."""
    by_kind: dict[str, list[Reading]] = defaultdict(list)
    for one in readings:
        by_kind[one.kind].append(one)
    right = [one for one in readings if one.right]
    wrong = [one for one in readings if not one.right]
    sure = [one for one in readings if one.confidence >= SURE]
    conditions = sum(one.wanted for one in readings)
    lines = [f"{kind:24} {interval(sum(one.right for one in some), len(some))}" for kind, some in by_kind.items()]
    lines += [
        f"{'all':24} {interval(len(right), len(readings))}",
        f"{'wrong without a warning':24} {interval(sum(not one.warned for one in wrong), len(readings))}",
        f"{'  by class':24} {dict(Counter(one.kind for one in wrong if not one.warned))}",
        f"{'wrong and warned':24} {interval(sum(one.warned for one in wrong), len(wrong))}",
        f"{'opposite conditions':24} {interval(sum(one.opposite for one in readings), conditions)}",
        f"{f'  at {BUYS} or more':24} {sum(one.opposite for one in readings if one.confidence >= BUYS)}, of which "
        f"{sum(one.opposite for one in readings if one.confidence >= BUYS and not one.stopped)} do not stop a purchase",
        f"{f'right at {SURE} or more':24} {interval(sum(one.right for one in sure), len(sure))}",
        f"{'right, yet warned':24} {interval(sum(one.warned for one in right), len(right))}",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.set.read_text("utf-8").splitlines() if line.strip()]
    print(report([read(row, row["gold"]) for row in rows]))


if __name__ == "__main__":
    main()
