"""Tests on a shared host, where other machines take the processors for minutes: what can be judged there, and when.

- A comparison of times that fails says nothing while a tenth of the processors is taken. It is skipped. All other tests
  that fail have failed, whatever the host does.
- With `--until`, tests that have not begun by then are skipped, so that a slow host ends with a result. The second try
  of a failed test (`--again`) begins at any time.

Each reason says what happened, and the summary lists them all.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path

import pytest

# Of the time of all cores. Below it, comparisons within one run still hold.
MOST_STOLEN = 0.1

_BEFORE = pytest.StashKey[tuple[int, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `make` and CI say of a run."""
    group = parser.getgroup("siteglass")
    group.addoption("--again", action="store_true", help="the second try of tests that failed; --until does not apply")
    group.addoption("--until", type=float, metavar="SECONDS", help="Unix time after which no test begins")


def _times() -> tuple[int, int]:
    """Ticks of all cores since the machine started, and those among them that other machines took."""
    ticks = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[7]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin the test, unless its time is up."""
    until = item.config.getoption("until")
    if until is not None and time.time() > until and not item.config.getoption("again"):
        pytest.skip("the time of this run was up")
    if item.get_closest_marker("timing"):
        item.stash[_BEFORE] = _times()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a comparison of times that failed while the processors were taken."""
    report = yield
    before = item.stash.get(_BEFORE, None)
    if before is None or not report.failed or report.when != "call":
        return report
    passed, stolen = (now - then for now, then in zip(_times(), before, strict=True))
    if passed and stolen / passed > MOST_STOLEN:
        taken = f"{stolen / passed:.0%} of the processors"
        reason = f"failed while other machines on this host took {taken}: {_message(report)}"
        report.outcome, report.longrepr = "skipped", (str(item.path), item.location[1] or 0, reason)
    return report


def _message(report: pytest.TestReport) -> str:
    """What failed, in a line: whoever reads the summary decides whether the processors can be the reason."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return "no message" if crash is None else f"{crash.path}:{crash.lineno}: {crash.message.splitlines()[0]}"[:400]
