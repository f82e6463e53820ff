"""Follow the worked examples of CONTRIBUTING.md in a copy of the checkout, to the letter, and run what the guide says.

    .venv/bin/python scripts/first_change.py           the tests that concern a filter or an endpoint
    .venv/bin/python scripts/first_change.py --all     also `make lint`, and all tests of tests/api, client, docs, query

The edits are in scripts/first_change.toml. They touch exactly the files that the guide lists, so a file that the guide
forgot makes this red. The engines must be up. Prints the files touched and the seconds of each step.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants import ROOT, separate_environment

EDITS = Path(__file__).with_suffix(".toml")
GUIDE = ROOT / "CONTRIBUTING.md"
# The guide's heading of each example in the file of edits.
HEADINGS = {"filter": "## A worked example: a new filter", "endpoint": "## A worked example: a new endpoint"}
PROMISES = {"search.has_favicon", "directive.has_favicon", "route.GET /v1/generation"}
# Loading fewer demo leads takes most of the time off.
LEADS = "2000"

PROVING_TESTS = (
    "tests/api/search/test_200_filters.py",
    "tests/api/search/test_200_directives.py",
    "tests/api/generation/test_200.py",
)
TESTS = (
    *PROVING_TESTS,
    "tests/api/every_endpoint/test_401.py",
    "tests/api/every_endpoint/test_403.py",
    "tests/api/test_openapi.py",
    "tests/api/test_openapi_errors.py",
    "tests/client/test_surface.py",
    "tests/docs/test_architecture.py",
    "tests/docs/test_conformance.py::test_every_name_of_the_code_is_promised",
    "tests/docs/test_reference.py",
    "tests/index/test_documents.py",
    "tests/index/test_mapping.py",
    "tests/query/test_cursor_ids.py",
)
# Of these files, the tests that name the new filter or operation, and those of what is declared.
CHOICE = "favicon or generation or filter_and_field or promised or pages_are or nothing_is_missing or mapping"
ALL_TESTS = ("tests/api", "tests/client", "tests/docs", "tests/query")


@dataclass(frozen=True)
class Edit:
    """One edit of the example, as `EDITS` describes it."""

    file: str
    text: str
    after: str = ""
    instead_of: str = ""

    def make(self, folder: Path) -> None:
        """Edit the file below a folder; raises ValueError unless there is exactly one place for it."""
        path = folder / self.file
        anchor = self.after or self.instead_of
        if not anchor:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text, "utf-8")
            return
        source = path.read_text("utf-8")
        if source.count(anchor) != 1:
            raise ValueError(
                f"This text occurs {source.count(anchor)} times in {self.file}, not once. Write it in {EDITS.name} as "
                f"the file has it now:\n{anchor}"
            )
        path.write_text(source.replace(anchor, self.after + self.text), "utf-8")


def load_edits() -> dict[str, list[Edit]]:
    """The edits of each example."""
    described = tomllib.loads(EDITS.read_text("utf-8"))
    return {example: [Edit(**edit) for edit in edits] for example, edits in described.items()}


def listed_files(example: str) -> list[str]:
    """The files and folders that the guide's numbered list of an example begins with."""
    section = GUIDE.read_text("utf-8").partition(HEADINGS[example] + "\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([^`]+)`", section, re.MULTILINE)


def copy_checkout(folder: Path) -> None:
    """Every file that git knows or would take, and the environment as a link."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)


def environment_of(folder: Path) -> dict[str, str]:
    """The environment in which the sources of the copy are used."""
    sources = ("src", "demo/src", "clients/python/src")
    return {**separate_environment(), "PYTHONPATH": os.pathsep.join(str(folder / source) for source in sources)}


def run(folder: Path, words: Sequence[str], **more: str) -> str:
    """Run a program of the environment in the copy; returns its output. Exits with the output if it fails."""
    started = time.monotonic()
    done = subprocess.run(
        [str(folder / ".venv/bin" / words[0]), *words[1:]],
        cwd=folder, env={**environment_of(folder), **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    print(f"{time.monotonic() - started:6.0f} s  {' '.join(words)[:100]}", flush=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\nThe guide was followed, and this fails: {' '.join(words)}")
    return done.stdout


def check(folder: Path, touched: Sequence[str]) -> None:
    """Run what the guide says and what would notice a forgotten place."""
    python = [name for name in touched if name.endswith(".py")]
    for script in ("build_reference", "build_client"):
        run(folder, ["python", f"scripts/{script}.py"])
    run(folder, ["ruff", "check", *python])
    run(folder, ["ruff", "format", "--check", *python])
    proven = run(folder, ["python", "scripts/build_conformance.py", "--of", *PROVING_TESTS]).splitlines()
    if PROMISES - set(proven):
        sys.exit(f"No test of the examples proves {', '.join(sorted(PROMISES - set(proven)))}.")
    run(folder, ["pytest", "-n", "0", "-q", "-k", CHOICE, *TESTS], SITEGLASS_TEST_LEADS=LEADS)


def check_all(folder: Path) -> None:
    """Run all of `make lint`, and all tests that could know of filters and operations."""
    run(folder, ["python", "scripts/build_docs.py"])
    run(folder, ["ruff", "check", "src", "scripts", "testing", "tests", "clients/python/src"])
    run(folder, ["lint-imports"])
    run(folder, ["mypy", "src", "clients/python/src", "testing", "tests/api"])
    for script in ("build_reference", "build_client", "build_conformance", "build_language", "build_trades"):
        run(folder, ["python", f"scripts/{script}.py", "--check"])
    run(folder, ["python", "scripts/check_english.py"])
    run(folder, ["pytest", "-n", "2", "-q", "-m", "not alone and not timing", *ALL_TESTS])


def main() -> None:
    """Make both changes in a copy and check them."""
    parser = argparse.ArgumentParser(description="Follow the worked examples of CONTRIBUTING.md in a copy.")
    parser.add_argument("--all", action="store_true", help="also run all of `make lint` and of four folders of tests")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_checkout(folder)
        touched = []
        for example, edits in load_edits().items():
            files = list(dict.fromkeys(edit.file for edit in edits))
            for edit in edits:
                edit.make(folder)
            print(f"{example}: {len(files)} files: {', '.join(files)}", flush=True)
            touched += files
        check(folder, touched)
        if options.all:
            check_all(folder)
    print("both changes are green")


if __name__ == "__main__":
    main()
