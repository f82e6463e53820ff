"""Families of sentences: words of exclusion × objects, amounts and alternatives, collected without sight of the rules.

python -m testing.sentences.families [--failures 20]

Opposite: something said to be left out is demanded. Silent: the reading is not what was said, and nothing warns of it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from siteglass.query.body import Meaning, read_meaning
from siteglass.query.doubt import find_doubts, needs_review
from testing.sentences.meaning import Atom, atoms
from testing.sentences.score import SETS, TODAY
from testing.sentences.trade_labels import with_trades

NOW_MS = int(TODAY.timestamp() * 1_000)
FAMILIES: dict[str, Any] = json.loads((SETS / "families.json").read_text("utf-8"))
SURE = 0.95


@dataclass(frozen=True)
class Member:
    """A sentence, what it may mean, and what it leaves out."""

    query: str
    accepted: tuple[tuple[str, ...], ...]
    excluded: frozenset[Atom] = frozenset()


@dataclass(frozen=True)
class Verdict:
    """How a sentence was read."""

    member: Member
    lines: Sequence[str]
    equal: bool
    opposite: bool
    warned: bool
    stopped: bool
    """Whether whoever buys is asked first."""


def exclusions() -> Iterator[Member]:
    """Every word of exclusion with every object that fits it."""
    for words in FAMILIES["exclusions"].values():
        for frame, *slots in words["forms"]:
            for thing in words["objects"]:
                for slot in slots:
                    if slot in thing["forms"]:
                        said = frame.replace("{head}", words["head"]).replace("{x}", thing["forms"][slot])
                        accepted = tuple((*words["means"], *means) for means in thing["means"])
                        yield Member(said, accepted, demands(thing["means"]))


def others(family: str) -> Iterator[Member]:
    """Amounts of businesses of one kind, or alternatives."""
    for said, *means in FAMILIES[family]:
        if family == "amounts":
            head = FAMILIES["exclusions"][means[1]]
            yield Member(f"{head['head']}, {said}", ((*head["means"], means[0]),))
        else:
            yield Member(said, (tuple(means),))


def judge(member: Member) -> Verdict:
    """Read a sentence and compare."""
    meaning = read_meaning({"query": member.query}, NOW_MS)
    sentence = meaning.sentence
    assert sentence is not None
    found = atoms(sentence.directives)
    equal = any(found == with_trades(member.query, atoms(lines), found) for lines in member.accepted)
    return Verdict(
        member, sentence.directives, equal, bool(found & member.excluded), is_warned(meaning), needs_review(meaning)
    )


def is_warned(meaning: Meaning) -> bool:
    """Whether whoever searches is told that the reading may be wrong."""
    sentence = meaning.sentence
    return bool(find_doubts(meaning)) or (sentence is not None and sentence.confidence < SURE)


def demands(excluded: Sequence[Sequence[str]]) -> frozenset[Atom]:
    """The conditions that would be the opposite of these."""
    found = {atom for lines in excluded for atom in atoms(lines)}
    made = {atom._replace(negated=not atom.negated) for atom in found}
    for atom in found:
        if atom.field == "lacks":
            made.add(Atom(False, "categories_uses", atom.values))
        elif atom.field == "trade":
            made.add(Atom(False, "trade", atom.values))
    return frozenset(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", type=int, default=0, help="show so many sentences of each family that failed")
    options = parser.parse_args()
    for name in ("exclusions", "amounts", "alternatives"):
        made = [judge(one) for one in (exclusions() if name == "exclusions" else others(name))]
        wrong = [one for one in made if not one.equal]
        opposite = [one for one in wrong if one.opposite]
        silent = [one for one in wrong if not one.warned]
        alarms = sum(one.equal and one.warned for one in made)
        print(
            f"{name:12} {len(made)} sentences, {len(made) - len(wrong)} equal, {len(opposite)} opposite "
            f"({sum(not one.stopped for one in opposite)} not stopped), {len(silent)} wrong and silent, "
            f"{alarms} right and warned"
        )
        for one in sorted(wrong, key=lambda one: (not one.opposite, one.stopped, one.warned))[: options.failures]:
            mark = (
                ("opposite " if one.opposite else "")
                + ("stopped " if one.stopped else "")
                + ("warned" if one.warned else "silent")
            )
            print(f"  [{mark}] {one.member.query}  ->  {' '.join(one.lines)}")


if __name__ == "__main__":
    main()
