"""Print the slowest tests and files of the last run: `python scripts/slowest_tests.py [FOLDER] [--top 20]`.

Reads the JUnit files that the `make` targets for tests write to `.test-durations/`.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path

FOLDER = Path(".test-durations")


def durations(path: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds by test and by file, set-up of fixtures included."""
    by_test: dict[str, float] = defaultdict(float)
    by_file: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(path).iter("testcase"):  # noqa: S314 (pytest wrote it, in this checkout)
        file, seconds = case.get("classname", ""), float(case.get("time", 0))
        by_test[f"{file}::{case.get('name', '')}"] += seconds
        by_file[file] += seconds
    return by_test, by_file


def main() -> None:
    """Print both lists of every file found."""
    parser = argparse.ArgumentParser(description="The slowest tests of the last run.")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--top", type=int, default=20)
    options = parser.parse_args()
    for path in sorted(options.folder.glob("*.xml")):
        by_test, by_file = durations(path)
        print(f"{path.stem}: {len(by_test):,} tests, {sum(by_test.values()) / 60:.1f} min of one worker")
        for title, durations_s in (("tests", by_test), ("files", by_file)):
            print(f"  slowest {title}:")
            for name, seconds in sorted(durations_s.items(), key=lambda row: -row[1])[: options.top]:
                print(f"  {seconds:8.1f} s  {name[:150]}")


if __name__ == "__main__":
    main()
