"""The proof at CI's size: charges under kills, twins, and every seeded defect caught. `make proof` is the full size."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.proof.__main__ import CI
from tests.proof.defects import DEFECTS
from tests.proof.faults import Counts, schedule
from tests.proof.report import page
from tests.proof.run import prove


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
def test_nothing_lost_nothing_doubled_and_every_defect_seen(tmp_path: Path) -> None:
    result = prove(CI, tmp_path, print)
    parts = result["parts"]
    judged = {name: part["broken"] for name, part in parts.items() if name != "defects"}
    assert set(judged) == {
        "ledger", "http", "ledger_twins", "http_twins", "without_defect_http", "without_defect_batch",
        "without_defect_single",
    }  # fmt: skip
    assert {name: broken for name, broken in judged.items() if broken} == {}
    runs = [(defect.name, level) for defect in DEFECTS for level in defect.runs]
    assert {(row["name"], row["level"]): row["caught"] for row in parts["defects"]} == dict.fromkeys(runs, True)
    assert result["good"]

    assert parts["ledger"]["charges"] >= 10_000
    assert parts["http"]["charges"] >= 2_000
    done = Counter(parts["ledger"]["faults"]) + Counter(parts["http"]["faults"])
    assert (done["kill postgres"], done["kill worker"]) == (8, 12)
    # Every kind of fault, and retries that found what a fault had cut off: else it was too gentle to prove anything.
    assert set(done) == set(Counts(1, 1, redis=True).each())
    assert parts["ledger"]["found_by_retry"] > 0
    assert parts["http"]["found_by_retry"] > 0
    assert f"{result['charges']:,} charges under" in page(result)
