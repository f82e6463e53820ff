"""Writes docs/conformance.md, which is not in git: every promise of the service, with the tests that prove it.

The promises come from the code and from scripts/reference/promises.toml, the tests from their marker `promise`, which
pytest collects without running them:

@pytest.mark.promise("page.walk", "cursor.path")          the test proves both promises
@pytest.mark.promise(cases={"100": "limit.page_most"})    its case [100] proves this one
@pytest.mark.promise(cases={"@{}": "directive.{}"})       each case like [@has_email] proves directive.has_email

python scripts/build_conformance.py            write the page
python scripts/build_conformance.py --check    write nothing; fail if a promise has no test, or a test no promise
python scripts/build_conformance.py --of FILE  print the promises that the tests of a file prove
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from reference.markdown import code, table
from reference.promises import PATH, Promises, load_promises

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "conformance.md"
START = """\
<!-- Generated from the code and the tests by `make conformance`. Do not edit it here. -->
# Conformance: every promise and its proof

Each row is one promise of the service's contract: a field, parameter, directive, rule, error or limit. Some rows are
choices where the contract is silent; [spec-gaps.md](decisions/spec-gaps.md) gives the reasons. The proof is a test that
calls the running service over HTTP on real engines. A few promises that no response can show, such as what the database
stores, are proven elsewhere. A name with brackets is one case of a test with many. `planned` names the feature that
will keep the promise and is not built yet.

A test names the promises that it proves: `@pytest.mark.promise("page.walk")`. `make conformance` writes this page.
`make lint` fails if a promise has no test, or if a test names an unknown promise.
"""

# The tests of each promise, by its name.
Proofs = dict[str, list[str]]


def collect_tests(files: Sequence[Path] = ()) -> list[pytest.Function]:
    """Every test of these files, or of all that use the marker. Others are not imported: that takes most of the
    time."""
    files = files or [
        path for path in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.promise(" in path.read_text()
    ]
    collector = _Collector()
    # Without the rewriting of assertions, which takes longer than the import itself.
    options = ["-n", "0", "-p", "no:cacheprovider", "--assert=plain", "--collect-only", "-qq", f"--rootdir={ROOT}"]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = pytest.main([*options, *map(str, files)], plugins=[collector])
    if status != pytest.ExitCode.OK:
        sys.exit(f"pytest could not collect the tests:\n{output.getvalue()}")
    return collector.tests


class _Collector:
    """A plugin that keeps what pytest collected."""

    def __init__(self) -> None:
        self.tests: list[pytest.Function] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the tests."""
        self.tests = [item for item in session.items if isinstance(item, pytest.Function)]


def find_proofs(tests: Iterable[pytest.Function]) -> tuple[Proofs, list[str]]:
    """The tests that name each promise, and problems: cases that a marker names but its test does not have."""
    proofs: dict[str, dict[str, None]] = {}
    used: dict[tuple[str, str], bool] = {}
    for test in tests:
        name = f"{test.path.relative_to(ROOT)}::{test.originalname}"
        case = test.callspec.id if hasattr(test, "callspec") else ""
        for marker in test.iter_markers("promise"):
            for promise in marker.args:
                proofs.setdefault(promise, {})[name] = None
            for pattern, promises in marker.kwargs.get("cases", {}).items():
                proven = _proven(case, pattern, [promises] if isinstance(promises, str) else promises)
                used[name, pattern] = used.get((name, pattern), False) or bool(proven)
                for promise in proven:
                    proofs.setdefault(promise, {})[f"{name}[{case}]"] = None
    problems = [f"{name} has no case like {pattern!r}" for (name, pattern), is_used in used.items() if not is_used]
    return {promise: list(names) for promise, names in proofs.items()}, problems


def _proven(case: str, pattern: str, promises: Iterable[str]) -> list[str]:
    """The promises that a case proves, if it is like the pattern: `{}` is the same word in both."""
    match = re.fullmatch(re.escape(pattern).replace(re.escape("{}"), r"(\w+)"), case)
    return [promise.replace("{}", "".join(match.groups())) for promise in promises] if match else []


def find_problems(promises: Promises, proofs: Proofs) -> list[str]:
    """Promises without a test, and tests of what is not promised."""
    names = set(promises.names)
    return [
        *(
            f"{tests[0]} names the promise {name!r}, which does not exist: correct the name, or add it to {PATH.name}"
            for name, tests in proofs.items()
            if name not in names
        ),
        *(
            f"no test proves {name!r}: mark one with @pytest.mark.promise({name!r})"
            for name in promises.names
            if name not in proofs and name not in promises.planned
        ),
        *(f"{name!r} has a test, but is planned in {PATH.name}" for name in promises.planned if name in proofs),
    ]


def build_page(promises: Promises, proofs: Proofs) -> str:
    """The text of the page."""
    pieces = [START]
    for part in promises.parts:
        pieces.append(f"## {part.title}\n")
        if part.about:
            pieces.append(f"{part.about}\n")
        for section in part.sections:
            pieces.append(f"### {section.title}\n")
            if section.about:
                pieces.append(f"{section.about}\n")
            rows = [
                (name, text, ", ".join(map(code, proofs.get(name, ()))) or f"planned: {promises.planned[name]}")
                for name, text in section.promises.items()
            ]
            pieces.append(table(["promise", "text", "proof"], rows))
    return "\n".join(pieces)


def build() -> str:
    """The text of the page; exits with the problems if a promise lacks its test, or a test its promise."""
    promises = load_promises()
    proofs, problems = find_proofs(collect_tests())
    problems += find_problems(promises, proofs)
    if problems:
        sys.exit("\n".join(problems))
    return build_page(promises, proofs)


def main() -> None:
    parser = argparse.ArgumentParser(description="List every promise with the tests that prove it.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a promise and its test do not fit")
    parser.add_argument("--of", type=Path, nargs="+", metavar="FILE", help="print what the tests of these files prove")
    options = parser.parse_args()
    if options.of:
        print(*find_proofs(collect_tests([path.resolve() for path in options.of]))[0], sep="\n")
        return
    page = build()
    if not options.check:
        PAGE.write_text(page)
        print(f"{PAGE.relative_to(ROOT)}: written")


if __name__ == "__main__":
    main()
