"""What a run of the tests may end with. Every collected test passes, fails, or is skipped for a listed reason.

- `nightly`: needs minutes or many cases; only `--nightly`, which `make nightly` passes, runs such tests. A file
  that has nothing else says `NIGHTLY = True`.
- `race`: looks for races by repeating: `--nightly` runs each such test RACE_ROUNDS times.
- `alone`: runs while no other test does, since it kills engines or needs all cores. It fails like any other test.
- `timing`: compares times; runs alone, too. It asserts what happened first, and judges its times last, with
  `judge_times`. Only that can skip a test because the machine is slow, and not in EXACT, where every failure counts.
- A skip whose reason is not in skips.toml is a failure. So is a run that ends before every collected test has ended.
- Nothing is repeated, except tests of pages (tests/browser), once: Chromium now and then loses a click on a busy
  machine. Repeats are counted and listed, and more than MOST_REPEATS fail the run.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from _pytest.runner import runtestprotocol

TESTS = Path(__file__).parents[1] / "tests"
SKIPS = Path(__file__).with_name("skips.toml")
# A wrong charge, a leak or a lost write must never pass as a slow machine. Lint checks that nothing here judges times.
EXACT = ("accounts", "api", "faults", "limits", "opt_out", "proof", "suppression")
RACE_ROUNDS = 12
MOST_REPEATS = 3
# Of the time of all cores. Below it, comparisons within one run still hold.
MOST_STOLEN = 0.1
SLOW_MACHINE = "other machines on this host took"

_started: list[tuple[int, int]] = [(0, 0)]


# --- which tests run ------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """The tests of every change, or all."""
    group = parser.getgroup("siteglass")
    group.addoption("--nightly", action="store_true", help="also the nightly tests, and races repeated")
    group.addoption("--alone", action="store_true", help="only the tests that run alone")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """At night, a race gets several rounds."""
    if metafunc.config.getoption("nightly") and metafunc.definition.get_closest_marker("race"):
        metafunc.fixturenames.append("race_round")
        metafunc.parametrize("race_round", range(RACE_ROUNDS), ids=lambda number: f"round{number}")


def by_night(*cases: object) -> list[ParameterSet]:
    """Cases of a parametrized test that only nightly runs have."""
    return [pytest.param(case, marks=pytest.mark.nightly) for case in cases]


def first_by_day(cases: Iterable[object]) -> list[object]:
    """Cases of a parametrized test: the first in each run, the others only in nightly runs."""
    first, *others = cases
    return [first, *by_night(*others)]


@pytest.fixture
def race_round(request: pytest.FixtureRequest) -> int:
    """Which round of a race this is; only `--nightly` has more than one."""
    return int(getattr(request, "param", 0))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test of this stage before they are imported, which is most of what collecting costs."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    if "\nNIGHTLY = True\n" in text and not config.getoption("nightly"):
        return True
    if config.getoption("alone") and not ("pytest.mark.alone" in text or "pytest.mark.timing" in text):
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave nightly tests to the night, and tests that run alone to their stage."""

    def wanted(item: pytest.Item) -> bool:
        return config.getoption("nightly") or not item.get_closest_marker("nightly")

    def in_this_stage(item: pytest.Item) -> bool:
        return not config.getoption("alone") or item_runs_alone(item)

    left_out = [item for item in items if not (wanted(item) and in_this_stage(item))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted(item) and in_this_stage(item)]


def item_runs_alone(item: pytest.Item) -> bool:
    """Whether no other test may run meanwhile."""
    return bool(item.get_closest_marker("alone") or item.get_closest_marker("timing"))


# --- times ----------------------------------------------------------------------------------------


def _ticks() -> tuple[int, int]:
    """Ticks of all cores since the machine started, and those among them that other machines took."""
    ticks = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return sum(ticks), ticks[7]


def judge_times(within: bool, measured: object) -> None:
    """Fail unless the times are within their bounds; skip instead if other machines took processors meanwhile.

    Call it last, with what was measured: what the test asserts before it has passed then.
    """
    if within:
        return
    passed, stolen = (now - then for now, then in zip(_ticks(), _started[0], strict=True))
    if passed and stolen / passed > MOST_STOLEN:
        pytest.skip(f"{SLOW_MACHINE} {stolen / passed:.0%} of the processors: {measured}"[:400])
    pytest.fail(f"too slow: {measured}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Look at the clock before each test."""
    _started[0] = _ticks()


# --- outcomes -------------------------------------------------------------------------------------


def allowed_skips() -> list[re.Pattern[str]]:
    """The reasons for which a test may be skipped."""
    rows: list[Mapping[str, str]] = tomllib.loads(SKIPS.read_text(encoding="utf-8"))["skip"]
    return [re.compile(row["reason"]) for row in rows]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip for any other reason into a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        slow = reason.startswith(SLOW_MACHINE)
        if not any(pattern.match(reason) for pattern in allowed_skips()) or (slow and not may_judge_times(item.path)):
            report.outcome = "failed"
            report.longrepr = f"skipped for a reason that {SKIPS.name} does not allow here: {reason}"
    return report


def may_judge_times(path: Path) -> bool:
    """Whether tests of this file may be skipped because the machine was slow."""
    return not (path.is_relative_to(TESTS) and path.relative_to(TESTS).parts[0] in EXACT)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a test of pages once more if it fails; everything else runs once."""
    if not item.path.is_relative_to(TESTS / "browser"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    # Without a next test, the fixtures of the whole run are gone.
    if nextitem is not None and any(report.failed for report in reports):
        crash = next(getattr(report.longrepr, "reprcrash", None) for report in reports if report.failed)
        item.user_properties.append(("repeated", "no message" if crash is None else crash.message[:200]))
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


class Ending:
    """What the process that prints the summary has seen: workers send their reports to it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.collected = 0
        self.finished: set[str] = set()
        self.repeated: dict[str, str] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests of a run without workers."""
        self.collected = max(self.collected, len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Count the tests of a run with workers, which all collect the same."""
        self.collected = max(self.collected, len(ids))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note each test that ended."""
        if report.when == "teardown":
            self.finished.add(report.nodeid)
            if why := dict(report.user_properties).get("repeated"):
                self.repeated[report.nodeid] = str(why)

    def problems(self) -> list[str]:
        """Why the run fails although no test did."""
        problems = []
        if not self.config.option.collectonly and len(self.finished) < self.collected:
            problems.append(f"{self.collected - len(self.finished)} of {self.collected} tests did not end")
        if len(self.repeated) > MOST_REPEATS:
            problems.append(f"{len(self.repeated)} tests were repeated, more than {MOST_REPEATS}")
        return problems

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that was cut off, or that needed too many repeats."""
        if self.problems() and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List repeats and problems."""
        for name, why in self.repeated.items():
            terminalreporter.write_line(f"REPEATED {name}: {why.splitlines()[0]}")
        for problem in self.problems():
            terminalreporter.write_line(f"ERROR {problem}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Watch the whole run from the process that prints the summary."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ending(config), "siteglass-ending")
