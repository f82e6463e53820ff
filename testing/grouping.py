"""Which tests stay together on one worker, and which start first: pytest-xdist runs the groups in their order.

The tests of a file stay together, since they share its fixtures. Some fixtures are expensive, such as a browser or a
session of Spark. All tests that use one stay together: they carry `xdist_group`, or are in a folder listed here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1] / "tests"

# Chromium; the tables of extraction, which in every worker would be half of the time; engines that are killed.
FOLDERS = ("browser", "ingest", "proof")

# What takes minutes starts first, the longest before the others; else one worker would work on it alone at the end.
FIRST = (
    "proof",
    "spark",
    "docs",
    "browser",
    "ingest",
    "private-engines",
    "search/test_pages.py",
    "client/test_cli_first_hour.py",
    "client/test_cli_enrich.py",
)


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    if mark is not None:
        return str(mark.args[0])
    path = item.path.relative_to(TESTS)
    return path.parts[0] if path.parts[0] in FOLDERS else str(path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Name the group of every test, and order them: long groups first, and in a group the slowest tests first."""
    if not config.getoption("loadgroup", False):
        return

    def place(item: pytest.Item) -> tuple[int, bool]:
        group = groups[item]
        first = FIRST.index(group) if group in FIRST else len(FIRST)
        return first, item.get_closest_marker("private_engines") is None

    groups = {item: _group(item) for item in items}
    for item, group in groups.items():
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=place)
