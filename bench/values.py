"""What completing values takes: time of each call, of the first one, and memory.

python -m bench.values --texts 5000 --keep
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from typing import Any, get_args

from bench.common import SEED, write_result
from siteglass.query.completion import DETAILS, complete
from siteglass.query.vocabulary import Kind, vocabulary

KINDS: tuple[Kind, ...] = get_args(Kind)
LIMITS = (1, 10, 50)
SLOWEST = 100
REPEATS = 5
COUNTRIES = (None, "USA", "CHN", "MCO")
LETTERS = "abcdefghijklmnopqrstuvwxyz абвгдежз"
# Long in itself, long once it is folded, and near to many.
STRANGE = ("s" * 64, "ﷺ" * 64, "as san" * 10)

_MEMORY = """
import tracemalloc
from typing import get_args
from siteglass.query.completion import complete
from siteglass.query.trades import trades
from siteglass.query.vocabulary import Kind, vocabulary
vocabulary()
trades().forms("en")  # the tables that sentences are read with
tracemalloc.start()
for kind in get_args(Kind):
    before = tracemalloc.get_traced_memory()[0]
    complete(kind, "", 1)
    print(kind, tracemalloc.get_traced_memory()[0] - before)
"""


def texts(kind: Kind, count: int) -> list[str]:
    """Letters, beginnings and misspellings of names and aliases, and nonsense."""
    chance = random.Random(SEED)
    names = [alias for alias, _ in vocabulary().aliases(kind)] + list(vocabulary().values(kind))
    made = [*LETTERS, *STRANGE]
    for name in chance.choices(names, k=count // 4):
        at = chance.randrange(len(name))
        slip = f"{name[:at]}{chance.choice(LETTERS)}{name[at + 1 :]}"
        nonsense = "".join(chance.choices(LETTERS, k=chance.randint(1, 64)))
        made += [name[: chance.randint(1, 4)], name[: at + 1], slip[:64], nonsense]
    return made


def _took_ms(kind: Kind, text: str, limit: int, country: str | None) -> float:
    # Of the processor: completing waits for nothing, and a busy machine takes other time away.
    started = time.thread_time()
    complete(kind, text, limit, country)
    return (time.thread_time() - started) * 1e3


def _timed(kind: Kind, count: int) -> dict[str, float]:
    chance = random.Random(SEED)
    countries = COUNTRIES if "country" in DETAILS.get(kind, ()) else (None,)
    first_ms = _took_ms(kind, "the first one", 10, None)
    calls = [(kind, text, chance.choice(LIMITS), chance.choice(countries)) for text in texts(kind, count)]
    took = sorted(((_took_ms(*call), number) for number, call in enumerate(calls)))
    # A call that is slow by itself is so each time; the machine's other work is not.
    again = [min(_took_ms(*calls[number]) for _ in range(REPEATS)) for _, number in took[-SLOWEST:]]
    return {
        "first_ms": round(first_ms, 1),
        "p50_ms": round(took[len(took) // 2][0], 3),
        "p99_ms": round(took[len(took) * 99 // 100][0], 3),
        "slowest_again_ms": round(max(again), 3),
    }


def run(count: int) -> dict[str, Any]:
    """Figures of every kind."""
    vocabulary()
    printed = subprocess.run([sys.executable, "-c", _MEMORY], check=True, capture_output=True, text=True).stdout
    memory = {kind: int(size) for kind, size in (line.split() for line in printed.splitlines())}
    kinds = {kind: {**_timed(kind, count), "memory_kib": memory[kind] // 1024} for kind in KINDS}
    return {"texts": count, "memory_kib": sum(memory.values()) // 1024, "kinds": kinds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=5_000)
    parser.add_argument("--keep", action="store_true", help="write bench/results/values.json")
    options = parser.parse_args()
    write_result("values", run(options.texts), f"python -m bench.values --texts {options.texts}", keep=options.keep)


if __name__ == "__main__":
    main()
