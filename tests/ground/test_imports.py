"""Imports allowed outside the shipped code: tests and benchmarks share `testing`, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# The tests of the benchmarks, in tests/bench, are the only tests that may import one.
FORBIDDEN = {
    "src": {"testing", "tests", "bench", "scripts"},
    "clients/python/src": {"testing", "tests", "bench", "scripts"},
    "testing": {"tests", "bench"},
    "bench": {"tests"},
    "tests": {"bench"},
}


IMPORT = re.compile(r"^ *(?:from|import) +(\w+)", re.MULTILINE)  # at the top of a file or inside a function


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_no_forbidden_import(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*.py") if not path.is_relative_to(ROOT / "tests" / "bench")]
    assert files
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in sorted(set(IMPORT.findall(path.read_text())) & FORBIDDEN[folder])
    ]
    assert not broken, f"{broken}: what both need goes to testing/"
