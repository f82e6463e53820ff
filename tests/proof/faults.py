"""The faults of a run: which ones and when follows from the seed alone. When is counted in charges, not in seconds, so
that a slow machine has the same run."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Literal

from tests.proof.toxiproxy import BREAKS

What = Literal[
    "kill postgres", "freeze postgres", "break postgres", "cut postgres",
    "kill worker", "freeze worker", "kill redis", "freeze redis",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: after so many charges and a moment more."""

    after_charges: int
    wait_s: float
    what: What
    target: int = 0
    seconds: float = 0.0
    how: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of the named faults; those of the other kinds follow from them, unless there are only kills."""

    postgres_kills: int
    worker_kills: int
    redis: bool = False
    only_kills: bool = False

    def each(self) -> dict[What, int]:
        """The number of faults of every kind."""
        some = math.ceil((self.postgres_kills + self.worker_kills) / 8)
        counts: dict[What, int] = {"kill postgres": self.postgres_kills, "kill worker": self.worker_kills}
        if not self.only_kills:
            counts |= {"freeze postgres": some, "break postgres": 2 * some, "cut postgres": some, "freeze worker": some}
        if self.redis and not self.only_kills:
            counts |= {"kill redis": some, "freeze redis": some}
        return counts


def schedule(seed: int, level: str, charges: int, counts: Counts, workers: int) -> list[Fault]:
    """All faults of one level, in order, between 3 % and 85 % of its charges: what is late must not come too late."""
    choose = random.Random(f"{seed} faults {level}")
    kinds = [what for what, count in counts.each().items() for _ in range(count)]
    choose.shuffle(kinds)
    places = sorted(choose.uniform(0.03, 0.85) for _ in kinds)
    return [
        Fault(
            after_charges=int(place * charges),
            wait_s=round(choose.uniform(0, 0.15), 3),
            what=what,
            target=choose.randrange(workers),
            seconds=round(choose.uniform(0.1, 0.8), 3),
            how=choose.choice(BREAKS),
            size=choose.choice((0, 40, 200, 1_000, 4_000)),
        )
        for place, what in zip(places, kinds, strict=True)
    ]
