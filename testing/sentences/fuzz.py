"""Random strings: whatever is said, the answer is directive text that the production parser accepts, and no exception.

python -m testing.sentences.fuzz --count 200000 --seed 1
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from siteglass.errors import QueryError
from siteglass.query.directives import parse
from siteglass.query.fields import DIRECTIVES
from siteglass.query.natural import MAX_QUERY_CHARS
from testing.progress import counting
from testing.sentences.score import SETS, read_set, service

DEV = SETS / "dev.jsonl"
MOST_BROKEN_KEPT = 20
MOST_CHARS_SHOWN = 160

# Blocks that hold letters of other scripts, marks that join the letter before, signs, and what is no text at all.
_BLOCKS = (
    (0x00, 0x1F), (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F),
    (0x2000, 0x206F), (0x20A0, 0x20CF), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xD800, 0xDFFF),
    (0xE000, 0xE0FF), (0xFE00, 0xFE0F), (0xFF00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0xE0000, 0xE007F),
)  # fmt: skip
_SIGNS = (
    *"$€£%+-–—/\\<>=≥≤~,.;:!?()[]{}\"'’“”&@#*_|^`", "k", "m", "mil", "$5k", "5,000", "1.000,50", "1e9", "1000-5000",
    "5k+", "∞", "-0", "½", "٣", "99999999999999999999", "0", "2026-09-01", "31.02.2026", "3s", "ms", "%20",
    "\n", "\t", "\r\n",
)  # fmt: skip


def _unicode(draw: Random, words: list[str]) -> str:
    blocks = draw.sample(_BLOCKS, draw.randint(1, 3))
    return "".join(chr(draw.randint(*draw.choice(blocks))) for _ in range(draw.randint(0, 120)))


def _shuffled(draw: Random, words: list[str]) -> str:
    return " ".join(draw.choice(words) for _ in range(draw.randint(1, 30)))


def _glued(draw: Random, words: list[str]) -> str:
    joints = ("", "", " ", "-", "/", ",", "'", ".", "\u00a0", "\u200b")
    return "".join(draw.choice(words) + draw.choice(joints) for _ in range(draw.randint(1, 30)))


def _directives(draw: Random, words: list[str]) -> str:
    pieces = (*(f"@{name}" for name in DIRECTIVES), "!", "(", ")", '"', ",", "\n", " #", "!@", "@", "()", "USA", "<30")
    return "".join(draw.choice(pieces) + draw.choice(("", " ")) for _ in range(draw.randint(1, 30)))


def _numbers(draw: Random, words: list[str]) -> str:
    known = [*_SIGNS, *(str(draw.randint(0, 10**9)) for _ in range(5)), *draw.sample(words, 5)]
    return "".join(draw.choice(known) + draw.choice(("", " ")) for _ in range(draw.randint(1, 30)))


def _long(draw: Random, words: list[str]) -> str:
    """Up to the length of a query, and a little beyond it."""
    size = draw.choice((MAX_QUERY_CHARS, draw.randint(200, MAX_QUERY_CHARS), MAX_QUERY_CHARS + 50))
    make = draw.choice((_shuffled, _glued, _numbers, _directives, _repeated))
    text = make(draw, words)
    while len(text) < size:
        text += " " + make(draw, words)
    return text[:size]


def _repeated(draw: Random, words: list[str]) -> str:
    piece: str = draw.choice((draw.choice(words), *_SIGNS, "no ", "and ", "or ", "not "))
    return piece * draw.randint(1, 200)


_MIXTURE: dict[Callable[[Random, list[str]], str], int] = {
    _unicode: 20,
    _shuffled: 30,
    _glued: 15,
    _directives: 10,
    _numbers: 15,
    _long: 5,
    _repeated: 5,
}


@dataclass
class Report:
    """What a run saw. `broken`: the first strings that raised or whose answer was refused, each with why."""

    seed: int
    strings: int = 0
    with_meaning: int = 0
    failures: int = 0
    slowest_ms: float = 0.0
    slowest: str = ""
    seconds: float = 0.0
    broken: list[tuple[str, str]] = field(default_factory=list)

    def line(self) -> str:
        return (
            f"{self.strings:,} strings, {self.failures} failures, {self.with_meaning:,} with a meaning, "
            f"slowest {self.slowest_ms:.1f} ms, {self.seconds:.1f} s, seed {self.seed}"
        )

    def figures(self) -> dict[str, Any]:
        return asdict(self)


def words_of_sets() -> list[str]:
    """The words of the development set, as they stand."""
    return sorted({word for sentence in read_set(DEV) for word in sentence.query.split()})


def answer(text: str) -> tuple[Sequence[str], str | None]:
    """The lines of a string, and why they are wrong, or None."""
    try:
        lines = service(text)
    except Exception as error:  # any of them is the finding
        return (), f"{type(error).__name__}: {error}"
    try:
        parse("\n".join(lines))
    except QueryError as error:
        return lines, f"refused: {error}"
    return lines, None


def fuzz(count: int, seed: int) -> Report:
    """Ask for `count` strings; the same for the same seed."""
    draw, words = Random(seed), words_of_sets()
    report = Report(seed)
    service("warm up")
    started = time.monotonic()
    makers, weights = list(_MIXTURE), list(_MIXTURE.values())
    for _ in counting(range(count), "fuzz", count):
        text = draw.choices(makers, weights)[0](draw, words)
        asked = time.perf_counter()
        lines, why = answer(text)
        took_ms = (time.perf_counter() - asked) * 1e3
        report.strings += 1
        if took_ms > report.slowest_ms:
            report.slowest_ms, report.slowest = round(took_ms, 2), text[:200]
        if why:
            report.failures += 1
            if len(report.broken) < MOST_BROKEN_KEPT:
                report.broken.append((text, why))
        report.with_meaning += bool(lines)
    report.seconds = round(time.monotonic() - started, 1)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    report = fuzz(asked.count, asked.seed)
    for text, why in report.broken:
        print(f"{why}\n  {text[:MOST_CHARS_SHOWN]!r}")
    print(report.line())
    return 1 if report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
