"""Who may import whom outside the shipped code: tests and benchmarks share `testing`, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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


def _imported(path: Path) -> Iterator[str]:
    """The first names of the modules that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_no_forbidden_import(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*.py") if not path.is_relative_to(ROOT / "tests" / "bench")]
    assert files
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files
        for name in sorted(set(_imported(path)) & FORBIDDEN[folder])
    ]
    assert not broken, f"{broken}: what both need goes to testing/"
