"""What a run may end with: no failure becomes a skip, nothing is left out unseen, only tests of pages run twice."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from testing import outcomes

CHECKOUT = Path(__file__).parents[2]
# Of 100 ticks that pass between two looks at the clock, so many are stolen. The tests' folder is this run's own.
PLUGIN = """
import itertools, pathlib
from testing import outcomes
counts = itertools.count()
def ticks():
    look = next(counts)
    return 100 * look, {stolen} * look
outcomes._ticks = ticks
outcomes.TESTS = pathlib.Path(__file__).parent
"""
IMPORTS = "import pathlib, pytest\nfrom testing.outcomes import judge_times\n"
CHARGED_TWICE = "@pytest.mark.{mark}\ndef test_it():\n    assert len([1, 1]) == 1, 'charged twice'\n"
TOO_SLOW = "@pytest.mark.timing\ndef test_it():\n    judge_times(False, '9 s')\n"
SKIPPED = "@pytest.mark.skip(reason={reason!r})\ndef test_it(): pass\n"
CUT_OFF = "def test_one(): pytest.exit('the machine goes down', returncode=0)\ndef test_two(): pass\n"
NIGHTLY = "@pytest.mark.nightly\ndef test_it(): assert False\ndef test_other(): pass\n"
# Fails in the seventh of its rounds, and at its first attempt, respectively.
RACE = "rounds = []\n@pytest.mark.race\ndef test_it():\n    rounds.append(1)\n    assert len(rounds) != 7\n"
CLICKS = """
tried = set()
@pytest.mark.parametrize("number", range({lost}))
def test_it(number):
    again = number in tried
    tried.add(number)
    assert again, "a click was lost"
def test_other(): pass
"""


def run(folder: Path, path: str, text: str, *options: str, stolen: int = 0) -> tuple[int, str]:
    """Exit status and output of a run of one file."""
    (folder / "clock.py").write_text(PLUGIN.format(stolen=stolen), encoding="utf-8")
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(IMPORTS + text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = alone\n timing\n nightly\n race\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "testing.outcomes", "-p", "clock", path]
    environment = {"PYTHONPATH": f"{CHECKOUT}:{folder}", "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "text", "stolen", "status", "outcome"),
    [
        ("test_a.py", CHARGED_TWICE.format(mark="alone"), 50, 1, "1 failed"),
        ("test_a.py", CHARGED_TWICE.format(mark="timing"), 50, 1, "1 failed"),
        ("test_a.py", TOO_SLOW, 50, 0, "1 skipped"),
        ("test_a.py", TOO_SLOW, 5, 1, "1 failed"),
        ("accounts/test_a.py", TOO_SLOW, 50, 1, "1 failed"),
        ("test_a.py", SKIPPED.format(reason="flaky"), 0, 1, "does not allow here: flaky"),
        ("test_a.py", SKIPPED.format(reason="a copy without history"), 0, 0, "1 skipped"),
        ("test_a.py", CUT_OFF, 0, 1, "2 of 2 tests did not end"),
        ("test_a.py", NIGHTLY, 0, 0, "1 passed, 1 deselected"),
        ("test_a.py", RACE, 0, 0, "1 passed"),
        ("browser/test_a.py", CLICKS.format(lost=3), 0, 0, "4 passed"),
        ("browser/test_a.py", CLICKS.format(lost=4), 0, 1, "4 tests were repeated, more than 3"),
        ("test_a.py", CLICKS.format(lost=1), 0, 1, "1 failed, 1 passed"),
    ],
)
def test_what_becomes_of_a_run(tmp_path: Path, path: str, text: str, stolen: int, status: int, outcome: str) -> None:
    ended, output = run(tmp_path, path, text, stolen=stolen)
    assert (ended, outcome in output) == (status, True), output
    if path == "browser/test_a.py":
        assert len(re.findall(r"^REPEATED browser/test_a\.py::test_it\[\d\]: .*a click was lost$", output, re.M)) >= 3


def test_workers_and_the_night_are_no_exception(tmp_path: Path) -> None:
    ended, output = run(tmp_path, "test_a.py", RACE, "--nightly")
    assert (ended, "1 failed, 11 passed" in output) == (1, True), output
    ended, output = run(
        tmp_path, "browser/test_a.py", CLICKS.format(lost=4), "-p", "xdist", "-n", "2", "--dist=loadfile"
    )
    assert (ended, "4 tests were repeated" in output) == (1, True), output
    ended, output = run(tmp_path, "test_a.py", NIGHTLY, "--nightly")
    assert (ended, "1 failed, 1 passed" in output) == (1, True), output


def test_no_exact_test_judges_times() -> None:
    files = [path for name in outcomes.EXACT for path in (outcomes.TESTS / name).rglob("*.py")]
    assert len(files) > 100
    judging = ("judge_times", "mark.timing")
    assert [str(path) for path in files if any(word in path.read_text(encoding="utf-8") for word in judging)] == []
