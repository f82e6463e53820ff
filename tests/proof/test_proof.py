"""The proof: charges under kills, twins, and defects that must be caught; at night all of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from testing.outcomes import by_night
from tests.proof.__main__ import CI, NIGHT
from tests.proof.defects import DEFECTS
from tests.proof.faults import Counts, schedule
from tests.proof.report import page
from tests.proof.run import Plan, prove


def test_faults_follow_from_the_seed_alone() -> None:
    counts = Counts(postgres_kills=10, worker_kills=7, redis=True)
    faults = schedule(1, "ledger", 1_000, counts, workers=3)
    assert faults == schedule(1, "ledger", 1_000, counts, workers=3)
    assert faults != schedule(2, "ledger", 1_000, counts, workers=3)
    assert faults != schedule(1, "http", 1_000, counts, workers=3)
    assert Counter(fault.what for fault in faults) == counts.each()
    assert sorted(faults, key=lambda fault: fault.after_charges) == faults
    assert {fault.target for fault in faults} <= {0, 1, 2}


@pytest.mark.promise("charge.before_answer", "retry.replay", "retry.once")
@pytest.mark.private_engines
@pytest.mark.parametrize("plan", [CI, *by_night(NIGHT)], ids=["small", "night"])
def test_nothing_lost_nothing_doubled_and_every_defect_seen(tmp_path: Path, plan: Plan) -> None:
    result = prove(plan, tmp_path, print)
    parts = result["parts"]
    judged = {name: part["broken"] for name, part in parts.items() if name != "defects"}
    chosen = [defect for defect in DEFECTS if defect.name in plan.defects]
    levels = {f"without_defect_{level}" for defect in chosen for level in defect.runs}
    assert set(judged) == {"ledger", "http", "ledger_twins", "http_twins"} | levels
    assert {name: broken for name, broken in judged.items() if broken} == {}
    runs = [(defect.name, level) for defect in chosen for level in defect.runs]
    assert {(row["name"], row["level"]): row["caught"] for row in parts["defects"]} == dict.fromkeys(runs, True)
    assert result["good"]

    assert parts["ledger"]["charges"] >= plan.ledger_charges
    assert parts["http"]["charges"] >= plan.http_charges
    done = Counter(parts["ledger"]["faults"]) + Counter(parts["http"]["faults"])
    assert (done["kill postgres"], done["kill worker"]) == (plan.postgres_kills, plan.worker_kills)
    if plan == NIGHT:
        # Every kind of fault, and retries that found what one had cut off: else it was too gentle to prove anything.
        assert set(done) == set(Counts(1, 1, redis=True).each())
        assert parts["ledger"]["found_by_retry"] > 0
        assert parts["http"]["found_by_retry"] > 0
    assert f"{result['charges']:,} charges under" in page(result)
