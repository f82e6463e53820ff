"""One run of the proof: both levels under faults, twins, defects; its result as JSON."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.proof import defects, http_level, ledger_level, twins
from tests.proof.arena import Arena, arena
from tests.proof.faults import Counts
from tests.proof.verdict import Judged, judged

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """How large a run is."""

    seed: int
    ledger_charges: int
    http_charges: int
    postgres_kills: int
    worker_kills: int
    ledger_twins: int
    http_twins: int
    defects: tuple[str, ...]

    def split(self) -> tuple[Counts, Counts]:
        """Kills of the ledger level and of the HTTP level, where a process takes longer to be back."""
        postgres, workers = -(-self.postgres_kills * 2 // 3), self.worker_kills // 2
        return Counts(postgres, workers), Counts(self.postgres_kills - postgres, self.worker_kills - workers)


class Run:
    """Does the parts one after the other and keeps what the verifiers said."""

    def __init__(self, plan: Plan, folder: Path, arena: Arena, say: Say) -> None:
        self._plan, self._folder, self._arena, self._say = plan, folder, arena, say
        self.parts: dict[str, Any] = {}

    def _keep(self, name: str, found: Judged, started: float, **more: Any) -> None:
        seconds = round(time.monotonic() - started, 1)
        self.parts[name] = {"good": found.good, "broken": found.broken, "seconds": seconds, **found.figures, **more}
        self._say(f"{name}: {'good' if found.good else 'BAD ' + str(found.broken)} after {seconds} s")

    def _judged(self, schema: str, folder: Path, seen: ledger_level.Seen) -> Judged:
        return asyncio.run(judged(self._arena.direct_dsn, schema, folder, seen))

    def _faults(self, since: int) -> dict[str, int]:
        return dict(sorted(Counter(fault.what for fault in self._arena.done[since:]).items()))

    def ledger(self, counts: Counts) -> None:
        started, since, folder = time.monotonic(), len(self._arena.done), self._folder / "ledger"
        size = ledger_level.Size(self._plan.ledger_charges, counts)
        seen = ledger_level.run(self._arena, "proof_ledger", folder, self._plan.seed, size)
        self._keep("ledger", self._judged("proof_ledger", folder, seen), started, faults=self._faults(since))

    def http(self, counts: Counts) -> None:
        started, since, folder = time.monotonic(), len(self._arena.done), self._folder / "http"
        size = http_level.Size(self._plan.http_charges, counts)
        seen = http_level.run(self._arena, "proof_http", folder, self._plan.seed, size)
        self._keep("http", self._judged("proof_http", folder, seen), started, faults=self._faults(since))

    def twins(self) -> None:
        plan, arena = self._plan, self._arena
        started, folder = time.monotonic(), self._folder / "ledger_twins"
        folder.mkdir()
        seen = asyncio.run(twins.ledger(arena, "twins_ledger", folder, plan.seed, plan.ledger_twins, self._say))
        self._keep(
            "ledger_twins",
            self._judged("twins_ledger", folder, seen),
            started,
            rounds=plan.ledger_twins,
            twins=twins.TWINS,
        )
        started, folder = time.monotonic(), self._folder / "http_twins"
        seen, carried_out = twins.http(arena, "twins_http", folder, plan.seed, plan.http_twins, self._say)
        self._keep(
            "http_twins", self._judged("twins_http", folder, seen), started,
            rounds=plan.http_twins, twins=twins.TWINS, rounds_carried_out={str(n): c for n, c in carried_out.items()},
        )  # fmt: skip

    def defects(self) -> None:
        rows: list[dict[str, Any]] = []
        chosen = [defect for defect in defects.DEFECTS if defect.name in self._plan.defects]
        for level in sorted({level for defect in chosen for level in defect.runs}):
            started = time.monotonic()
            without = defects.run(self._arena, self._folder, self._plan.seed, None, level)
            self._keep(f"without_defect_{level}", without, started)
        for defect, level in [(one, level) for one in chosen for level in one.runs]:
            started = time.monotonic()
            found = defects.run(self._arena, self._folder, self._plan.seed, defect, level)
            caught = defect.caught_by <= set(found.broken)
            seconds = round(time.monotonic() - started, 1)
            verdict = f"{'caught' if caught else 'MISSED'} by {sorted(found.broken)}"
            self._say(f"defect {defect.name}, {level}: {verdict}, {seconds} s")
            rows.append(
                {
                    "name": defect.name, "level": level, "caught": caught, "seconds": seconds,
                    "expected": sorted(defect.caught_by), "broken": sorted(found.broken),
                }
            )  # fmt: skip
        self.parts["defects"] = rows


def prove(plan: Plan, folder: Path, say: Say, command: str = "make test") -> dict[str, Any]:
    """The whole run; all that the report and the tests need of it."""
    folder.mkdir(parents=True, exist_ok=True)
    started, load = time.monotonic(), os.getloadavg()
    ledger_faults, http_faults = plan.split()
    with arena(say) as place:
        run = Run(plan, folder, place, say)
        run.ledger(ledger_faults)
        http_level.fill_index(place, folder)
        try:
            run.http(http_faults)
            run.twins()
            run.defects()
        finally:
            http_level.drop_index(place)
        faults = [asdict(fault) for fault in place.done]
    parts = run.parts
    trials = parts["ledger"]["charges"] + parts["http"]["charges"]
    kept = [part for part in parts.values() if isinstance(part, dict)]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "command": command,
        "plan": asdict(plan),
        "good": all(part["good"] for part in kept) and all(row["caught"] for row in parts["defects"]),
        "charges": trials,
        "lost": sum(part["lost"] for part in kept),
        "doubled": sum(part["doubled"] for part in kept),
        "bound_95": 3 / trials,
        "seconds": round(time.monotonic() - started, 1),
        "cores": os.cpu_count(),
        "load_before": round(load[0], 2),
        "load_after": round(os.getloadavg()[0], 2),
        "parts": parts,
        "faults": faults,
    }
