"""The verifiers' result for a run: the program on the history, SQL on the database, and the service's own
verification."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from siteglass.billing import ledger
from siteglass.platform.postgres import Postgres
from testing.accounts import owner
from tests.proof import invariants
from tests.proof.history import Operation, write_history
from tests.proof.judging import judge
from tests.proof.ledger_level import Seen

LOST = ("what was answered is durable", "what was replayed is durable")
DOUBLED = ("one charge for one key", "one row for one request", "no row that nobody asked for")


@dataclass(frozen=True)
class Judged:
    """What did not hold, by the name of the check, with the first places; and figures of the run."""

    broken: dict[str, list[str]]
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        return not self.broken


def figures_of(operations: list[Operation]) -> dict[str, Any]:
    """How often what happened, and how many charges a retry found whose first answer was lost."""
    outcomes = Counter(f"{operation.kind} {operation.outcome}" for operation in operations)
    by_outcome: dict[str, set[tuple[str, str]]] = {"charged": set(), "replayed": set()}
    for operation in operations:
        if operation.key and operation.outcome in by_outcome:
            by_outcome[operation.outcome].add((operation.account, operation.key))
    return {
        "charges": outcomes["charge charged"] + len(by_outcome["replayed"] - by_outcome["charged"]),
        "found_by_retry": len(by_outcome["replayed"] - by_outcome["charged"]),
        "replays_compared": outcomes["charge replayed"],
        "outcomes": dict(sorted(outcomes.items())),
    }


async def judged(direct_dsn: str, schema: str, folder: Path, seen: Seen) -> Judged:
    """All checks; the history stays in the folder."""
    history = folder / "history.jsonl"
    write_history(history, seen.operations)
    verdict = judge(history)
    broken: dict[str, list[str]] = {}
    for problem in verdict.figures["problems"]:
        broken.setdefault(problem["check"], []).append(f"account {problem['account']}: {problem['what']}")
    await invariants.load_seen(owner(direct_dsn), schema, seen.operations)
    counts: Counter[str] = Counter()
    for found in await invariants.broken(owner(direct_dsn), schema):
        broken[found.name] = [f"{found.count} in all", *found.places]
        counts["lost"] += found.count * (found.name in LOST)
        counts["doubled"] += found.count * (found.name in DOUBLED)
    if seen.errors:
        broken["no error but by a fault"] = [f"{len(seen.errors)} in all", *seen.errors[:5]]
    postgres = Postgres(direct_dsn, schema)
    try:
        verified = await ledger.verify(postgres)
    finally:
        await postgres.close()
    if verified.problem_count:
        broken["the service's own verification"] = [str(problem) for problem in verified.problems[:5]]
    judge_figures = {
        name: value for name, value in verdict.figures.items() if name not in ("problems", "broken", "good")
    }
    figures = {"lost": counts["lost"], "doubled": counts["doubled"], **figures_of(seen.operations)}
    return Judged(broken, {**figures, "judge": judge_figures, "ledger_rows": verified.entries})
