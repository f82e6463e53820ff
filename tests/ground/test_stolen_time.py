"""A failed comparison of times is skipped while other machines take the processors, and only then."""

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


@pytest.mark.parametrize(
    ("stolen", "mark", "result", "outcome"),
    [
        (50, "timing", False, "1 skipped"),
        (5, "timing", False, "1 failed"),
        (50, "slow", False, "1 failed"),
        (50, "timing", True, "1 passed"),
    ],
)
def test_what_becomes_of_a_test(tmp_path: Path, stolen: int, mark: str, result: bool, outcome: str) -> None:
    (tmp_path / "clock.py").write_text(PLUGIN.format(stolen=stolen), encoding="utf-8")
    (tmp_path / "test_one.py").write_text(TEST.format(mark=mark, result=result), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = timing\n slow\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "testing.stolen_time", "-p", "clock", "test_one.py"]
    root = str(Path(__file__).parents[2])
    environment = {"PYTHONPATH": f"{root}:{tmp_path}", "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert outcome in done.stdout, done.stdout + done.stderr
    assert ("other machines on this host took 50% of the processors" in done.stdout) == (outcome == "1 skipped")
