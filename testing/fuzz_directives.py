"""Random and mutated directive texts: the parser answers criteria or QueryError, quickly, and prints what it read.

python -m testing.fuzz_directives --count 1000000 --seed 1
python -m testing.fuzz_directives --count 100000 --seed 1 --alternatives
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from siteglass.errors import Problem, QueryError
from siteglass.query.criteria import Criteria
from siteglass.query.directives import parse, print_criteria
from siteglass.query.fields import DIRECTIVES
from siteglass.query.vocabulary import vocabulary

CORPUS = Path(__file__).parent / "corpus" / "directives"
MOST_CPU_MS = 50.0

_PIECES = [
    *(f"@{name}" for name in DIRECTIVES),
    *"()!@#,\"\\\n\t -+<>=.0159[]|",
    "@any", "!@any[", "@any[ ", " | ", " ]",
    "less than", "greater than", "5,000", "1000-5000", "30d", "2026-10-15", "2026-10-15T00:00:00Z", "US-CA",
    "\r\n", " #", '"', "日本", "é", "İ", "\x00", "\u2028", "\ud7ff", "𝒳", "a" * 300, "(" * 40,
]  # fmt: skip


@dataclass
class Report:
    """What a run saw."""

    seed: int
    texts: int = 0
    read: int = 0
    refused: int = 0
    slowest_cpu_ms: float = 0.0
    slowest_text: str = ""


def _seeds() -> list[str]:
    cases = [case for path in sorted(CORPUS.glob("*.json")) for case in json.loads(path.read_text())]
    return [case["text"] for case in cases if "text" in case]


def _random_text(choose: random.Random) -> str:
    return "".join(choose.choice(_PIECES) for _ in range(choose.randint(1, 40)))


def _mutated(choose: random.Random, seeds: list[str]) -> str:
    text = choose.choice(seeds)
    for _ in range(choose.randint(1, 3)):
        at = choose.randint(0, len(text))
        match choose.randrange(5):
            case 0:
                text = text[:at] + choose.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + choose.randint(1, 5) :]
            case 2:
                text = (
                    text[:at]
                    + chr(choose.choice((choose.randint(32, 126), choose.randint(0, 0xD7FF))))
                    + text[at + 1 :]
                )
            case 3:
                text = text + "\n" + choose.choice(seeds)
            case _:
                text = text[:at] + text[:at][-choose.randint(1, 20) :] * choose.randint(1, 30) + text[at:]
    return text[:9_000]


def _alternatives(choose: random.Random, seeds: list[str]) -> str:
    """Alternatives made of lines of the corpus, one of them mutated as often as not."""
    lines = [choose.choice(choose.choice(seeds).split("\n")) for _ in range(choose.randint(1, 5))]
    branches = " | ".join(" ".join(choose.choices(lines, k=choose.randint(1, 3))) for _ in lines)
    text = f"{choose.choice(('', '!'))}@any[ {branches} ]"
    return text if choose.random() < 0.5 else _mutated(choose, [text])


def _cpu_ms(text: str) -> float:
    started = time.thread_time()
    with contextlib.suppress(QueryError):
        parse(text)
    return (time.thread_time() - started) * 1000


def _drawn(choose: random.Random, seeds: list[str], *, alternatives: bool) -> str:
    """A text; of `alternatives` one that has some."""
    if not alternatives:
        return _random_text(choose) if choose.random() < 0.25 else _mutated(choose, seeds)
    text = f"@any[{_random_text(choose)}" if choose.random() < 0.25 else _alternatives(choose, seeds)
    return text if "@any" in text else _drawn(choose, seeds, alternatives=True)


def fuzz(count: int, seed: int, *, alternatives: bool = False) -> Report:
    """Parse `count` texts; raises whatever is not a QueryError, and AssertionError for a broken promise."""
    choose = random.Random(seed)
    seeds = _seeds()
    report = Report(seed)
    for kind in ("city", "technology"):  # the first suggestion builds its table
        vocabulary().nearest(kind, "warm up")
    for _ in range(count):
        text = _drawn(choose, seeds, alternatives=alternatives)
        started = time.thread_time()
        made: Criteria | None = None
        problems: Sequence[Problem] = ()
        try:
            made = parse(text)
        except QueryError as error:
            problems = error.problems
        took = (time.thread_time() - started) * 1000
        if took > MOST_CPU_MS:
            # A collection of garbage may fall on any text; a slow text is slow every time.
            took = min(took, _cpu_ms(text), _cpu_ms(text))
            assert took <= MOST_CPU_MS, (took, text)
        if took > report.slowest_cpu_ms:
            report.slowest_cpu_ms, report.slowest_text = took, text[:200]
        if made is None:
            report.refused += 1
            assert problems, text
            lengths = [len(line) for line in text.replace("\r\n", "\n").split("\n")]
            assert all(p.line and p.column and p.column <= lengths[p.line - 1] + 1 for p in problems), text
        else:
            report.read += 1
            assert parse(print_criteria(made)) == made, text
        report.texts += 1
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--alternatives", action="store_true", help="only texts with @any")
    asked = parser.parse_args()
    started = time.monotonic()
    report = asdict(fuzz(asked.count, asked.seed, alternatives=asked.alternatives)) | {
        "seconds": round(time.monotonic() - started, 1),
        "date": time.strftime("%Y-%m-%d"),
    }
    text = json.dumps(report, ensure_ascii=False, indent=2)
    if asked.output:
        asked.output.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
