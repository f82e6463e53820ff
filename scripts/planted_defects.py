"""Plant known defects into a copy of the source, one by one, and check that the test named for each notices it.

    .venv/bin/python scripts/planted_defects.py                       all of scripts/planted_defects.toml
    .venv/bin/python scripts/planted_defects.py "form token unchecked"

The engines must be up. Prints each defect with what became of it, and fails if one was not noticed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutants import ROOT, run_tests

DEFECTS = Path(__file__).with_suffix(".toml")
TIMEOUT_S = 900


@dataclass(frozen=True)
class Defect:
    """A change that a test must notice."""

    name: str
    file: str
    """Below src/siteglass."""
    old: str
    new: str
    test: str

    def planted(self, source: str) -> str:
        """The file with the defect; raises ValueError unless there is exactly one place for it."""
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: the old text occurs {source.count(self.old)} times in {self.file}, not once. "
                f"Write it in {DEFECTS.name} as the file has it now."
            )
        return source.replace(self.old, self.new)


def load_defects(path: Path = DEFECTS) -> list[Defect]:
    """All of them, in the order of the file."""
    return [Defect(name, **described) for name, described in tomllib.loads(path.read_text("utf-8")).items()]


def outcome(copy: Path, defect: Defect) -> str:
    """What becomes of the defect in the copy, which is as before afterwards."""
    path = copy / "siteglass" / defect.file
    source = path.read_text("utf-8")
    path.write_text(defect.planted(source), "utf-8")
    try:
        done = run_tests(copy, [defect.test], TIMEOUT_S)
    finally:
        path.write_text(source, "utf-8")
    if done.returncode == 0:
        return "NOT NOTICED"
    # A test that could not begin, such as without engines, has noticed nothing.
    return "noticed" if "\nFAILED " in done.stdout else f"NO RESULT\n{done.stdout}{done.stderr}"


def main() -> None:
    """Plant the defects named, or all."""
    parser = argparse.ArgumentParser(description="Known defects that tests must notice.")
    parser.add_argument("names", nargs="*", help="names of defects; all without any")
    options = parser.parse_args()
    defects = [defect for defect in load_defects() if not options.names or defect.name in options.names]
    unknown = set(options.names) - {defect.name for defect in defects}
    if unknown:
        sys.exit(f"No such defect: {', '.join(sorted(unknown))}. {DEFECTS.name} lists them.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src/siteglass", copy / "siteglass")
        done = run_tests(copy, [defect.test for defect in defects], TIMEOUT_S)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\nThe tests fail without any defect: fix them first.")
        missed = 0
        for defect in defects:
            what = outcome(copy, defect)
            missed += what != "noticed"
            print(f"{what:11} {defect.name} ({defect.file}), by {defect.test}", flush=True)
    if missed:
        sys.exit(f"{missed} of {len(defects)} defects were not noticed.")
    print(f"all {len(defects)} defects were noticed")


if __name__ == "__main__":
    main()
