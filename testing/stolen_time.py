"""Tests that compare times, on a shared host: a failure says nothing while other machines take the processors.

Such a test is then skipped, and its reason names the share that was taken. Tests of anything else fail as ever.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

# Of the time of all cores. Below it, comparisons within one run still hold.
MOST_STOLEN = 0.1

_BEFORE = pytest.StashKey[tuple[int, int]]()


def _times() -> tuple[int, int]:
    """Ticks of all cores since the machine started, and those among them that other machines took."""
    ticks = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[7]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember when the test began."""
    if item.get_closest_marker("timing"):
        item.stash[_BEFORE] = _times()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a failed comparison of times whose processors were away."""
    report = yield
    before = item.stash.get(_BEFORE, None)
    if before is None or not report.failed or report.when != "call":
        return report
    passed, stolen = (now - then for now, then in zip(_times(), before, strict=True))
    if passed and stolen / passed > MOST_STOLEN:
        line = item.location[1] or 0
        reason = f"other machines on this host took {stolen / passed:.0%} of the processors while times were compared"
        report.outcome, report.longrepr = "skipped", (str(item.path), line, reason)
    return report
