"""Sentences as people mistype them, made from a labelled set, and what they cost.

    python -m testing.sentences.noise testing/sentences/sets/dev.jsonl --seed 1 [--failures 20]

Every kind of noise changes every sentence that it can change. Clean and noisy are compared on those sentences only, so
the loss is that of the noise. Of a locked set only the sums are shown.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from testing.sentences.score import LOCKED, Labelled, Score, read_set, score, service

SHORTEST_MISTYPED = 6
# A capital can tell a technology from an ordinary word (rule 11).
CAPITALS_MATTER = "tech_common_word"

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_LONG_WORD = re.compile(rf"[^\W\d_]{{{SHORTEST_MISTYPED},}}")
_NEGATIONS = ("!@", "@lacks", "@missing", "@not_", "@no_")
# Words without which the sentence is clipped, and still means the same. Lower case only: "La Paz", "Los Angeles".
_DROPPED = {
    "en": r"that are|which are|who are|that is|the|an|a(?!\s+lot\b)|some|any|please",
    "de": r"der|die|das|den|dem|des|eine[mnrs]?|ein|bitte",
    "es": r"el|la|los|las|unos|unas|una|un",
    "fr": r"les|le|la|des|une|un|du",
    "pt": r"os|as|o|a|uns|umas|uma|um",
}


def _neighbour(letter: str, draw: Random) -> str:
    row = next((row for row in _ROWS if letter.lower() in row), None)
    if row is None:
        return letter
    at = row.index(letter.lower())
    beside = draw.choice(row[max(0, at - 1) : at] + row[at + 1 : at + 2])
    return beside.upper() if letter.isupper() else beside


def _swap(word: str, at: int, draw: Random) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _drop(word: str, at: int, draw: Random) -> str:
    return word[:at] + word[at + 1 :]


def _double(word: str, at: int, draw: Random) -> str:
    return word[:at] + word[at] + word[at:]


def _beside(word: str, at: int, draw: Random) -> str:
    return word[:at] + _neighbour(word[at], draw) + word[at + 1 :]


def _mistyped(slip: Callable[[str, int, Random], str]) -> Callable[[Labelled, Random], str]:
    """One slip in one long word, not at its first letter, which is rarely mistyped."""

    def noisy(sentence: Labelled, draw: Random) -> str:
        text = sentence.query
        if not (words := list(_LONG_WORD.finditer(text))):
            return text
        word = draw.choice(words)
        at = draw.randrange(1, len(word[0]) - 1)
        return text[: word.start()] + slip(word[0], at, draw) + text[word.end() :]

    return noisy


def _cased(change: Callable[[str], str]) -> Callable[[Labelled, Random], str]:
    return lambda sentence, _: sentence.query if CAPITALS_MATTER in sentence.tags else change(sentence.query)


def _clipped(sentence: Labelled, draw: Random) -> str:
    spoken = next((tag for tag in sentence.tags if tag in _DROPPED), "en")
    return re.sub(rf"(?<![^\s(])(?:{_DROPPED[spoken]})\s+", "", sentence.query)


def _sloppy(sentence: Labelled, draw: Random) -> str:
    """Doubled blanks, no full stop; no commas either, unless one could end what a negation reaches."""
    text = sentence.query.rstrip(".?! ")
    if not any(line.startswith(_NEGATIONS) for line in sentence.gold):
        text = re.sub(r",(?=\s)", "", text)
    return re.sub(r" +", lambda _: draw.choice((" ", "  ")), text)


KINDS: dict[str, Callable[[Labelled, Random], str]] = {
    "typo_swap": _mistyped(_swap),
    "typo_drop": _mistyped(_drop),
    "typo_double": _mistyped(_double),
    "typo_neighbour": _mistyped(_beside),
    "lower_case": _cased(str.lower),
    "upper_case": _cased(str.upper),
    "dropped_words": _clipped,
    "blanks_and_punctuation": _sloppy,
}


def noisy(labelled: Sequence[Labelled], kind: str, seed: int) -> Iterator[tuple[Labelled, Labelled]]:
    """Sentences that this noise changes, clean and noisy."""
    draw = Random(f"{seed} {kind}")
    for sentence in labelled:
        changed = KINDS[kind](sentence, draw)
        if changed != sentence.query:
            yield sentence, replace(sentence, query=changed)


@dataclass
class Loss:
    """Exact match with and without noise."""

    sentences: int
    clean: int
    noisy: int

    def figures(self) -> dict[str, Any]:
        """Shares in percent, and the loss in points."""
        clean, noisy = (100 * exact / max(1, self.sentences) for exact in (self.clean, self.noisy))
        return {
            "sentences": self.sentences,
            "clean": round(clean, 1),
            "noisy": round(noisy, 1),
            "loss": round(clean - noisy, 1),
        }

    def line(self, name: str) -> str:
        made = self.figures()
        shares = "  ".join(f"{key} {made[key]:5}" for key in ("clean", "noisy", "loss"))
        return f"{name:24} {self.sentences:5} sentences  exact match in percent: {shares}"


def measure(labelled: Sequence[Labelled], seed: int) -> tuple[dict[str, Loss], list[tuple[str, Score]]]:
    """The loss by each kind of noise and in total, and what failed by kind."""
    losses: dict[str, Loss] = {}
    failed: list[tuple[str, Score]] = []
    right = {sentence.query for sentence in labelled} - {row.query for row, _ in score(labelled, service).failed}
    for kind in KINDS:
        pairs = list(noisy(labelled, kind, seed))
        made = score((changed for _, changed in pairs), service)
        clean = sum(sentence.query in right for sentence, _ in pairs)
        losses[kind] = Loss(len(pairs), clean, made.whole.exact)
        failed.append((kind, made))
    whole = losses.values()
    total = Loss(sum(o.sentences for o in whole), sum(o.clean for o in whole), sum(o.noisy for o in whole))
    return {"total": total} | losses, failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--failures", type=int, default=0, help="show so many noisy sentences of each kind that failed")
    asked = parser.parse_args()
    losses, failed = measure(read_set(asked.set), asked.seed)
    for name, loss in losses.items():
        print(loss.line(name))
    if LOCKED not in asked.set.name:
        for kind, made in failed:
            for sentence, lines in made.failed[: asked.failures]:
                print(f"\n{kind}: {sentence.query}\n  wanted {' '.join(sentence.gold)}\n  found  {' '.join(lines)}")


if __name__ == "__main__":
    main()
