"""What happened in a run: every request with its answer, and every fault, each with its time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A request, and the only right answer to it."""

    path: str
    body: dict[str, Any]
    total: int
    domains: tuple[str, ...]
    lead_credits: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that was sent, and what came back."""

    sent_s: float
    """Since the run began."""
    took_s: float
    question: int
    status: int
    """0: no answer."""
    request_id: str
    total: int | None
    domains: tuple[str, ...]
    errors: tuple[str, ...] = ()
    """Domains of an enrichment that were answered with an error, as the contract allows; they are not charged."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done to the engines, and when it was undone."""

    kind: str
    target: str
    at_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as the ledger has it."""

    request_id: str
    lead_credits: int


@dataclass(frozen=True, slots=True)
class History:
    """A whole run."""

    seed: int
    questions: list[Question]
    exchanges: list[Exchange]
    faults: list[Fault]
    charges: list[Charge]

    def write(self, path: Path) -> None:
        """Store it as JSON lines, the kind of each first."""
        with path.open("w") as out:
            print(json.dumps({"seed": self.seed}), file=out)
            rows: tuple[tuple[str, Iterable[Any]], ...] = (
                ("question", self.questions),
                ("fault", self.faults),
                ("exchange", self.exchanges),
                ("charge", self.charges),
            )
            for kind, some in rows:
                for row in some:
                    print(json.dumps({kind: asdict(row)}), file=out)

    @classmethod
    def read(cls, path: Path) -> History:
        """Read what `write` stored."""
        kinds: dict[str, Any] = {"question": Question, "fault": Fault, "exchange": Exchange, "charge": Charge}
        found: dict[str, list[Any]] = {kind: [] for kind in kinds}
        with path.open() as lines:
            seed = json.loads(next(lines))["seed"]
            for line in lines:
                ((kind, row),) = json.loads(line).items()
                row.update({name: tuple(value) for name, value in row.items() if isinstance(value, list)})
                found[kind].append(kinds[kind](**row))
        return cls(seed, found["question"], found["exchange"], found["fault"], found["charge"])
