"""What becomes of a failed test while other machines take the processors, and of tests whose time is up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Of 100 ticks that pass between two looks at the clock, so many are stolen.
PLUGIN = """
import itertools
from testing import stolen_time
counts = itertools.count()
def times():
    look = next(counts)
    return 100 * look, {stolen} * look
stolen_time._times = times
"""
TEST = """
import pytest
@pytest.mark.{mark}
def test_it():
    assert {result}
"""


LATE, EARLY = ["--until", "1"], ["--until", "99999999999"]


@pytest.mark.parametrize(
    ("stolen", "mark", "result", "options", "outcome"),
    [
        (50, "timing", False, [], "1 skipped"),
        (5, "timing", False, [], "1 failed"),
        (50, "timing", True, [], "1 passed"),
        (80, "slow", False, [], "1 failed"),
        (80, "slow", False, ["--again"], "1 failed"),
        (80, "slow", False, LATE, "1 skipped"),
        (80, "slow", False, EARLY, "1 failed"),
        (40, "slow", False, [*LATE, "--again"], "1 failed"),
    ],
)
def test_what_becomes_of_a_test(
    tmp_path: Path, stolen: int, mark: str, result: bool, options: list[str], outcome: str
) -> None:
    (tmp_path / "clock.py").write_text(PLUGIN.format(stolen=stolen), encoding="utf-8")
    (tmp_path / "test_one.py").write_text(TEST.format(mark=mark, result=result), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = timing\n slow\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "testing.stolen_time", "-p", "clock", "test_one.py"]
    environment = {"PYTHONPATH": f"{Path(__file__).parents[2]}:{tmp_path}", "PATH": ""}
    done = subprocess.run(
        [*command, *options], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert outcome in done.stdout, done.stdout + done.stderr
    if outcome == "1 skipped":
        told = "time of this run was up" if options == LATE else f"took {stolen}% of the processors"
        assert told in done.stdout
