"""A small size of `make long-dashboard`: no page takes long, however the machine is used otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import dashboard
from testing.dashboard.visitors import cheaper_hashes, office
from testing.outcomes import judge_times

NIGHTLY = True

# Five times the target of the full size: this is a busy machine.
MOST_MS = 5 * dashboard.TARGET_MS


@pytest.mark.timing
def test_every_page_is_there_soon(tmp_path: Path) -> None:
    with cheaper_hashes(), office("bench-dashboard", tmp_path, dashboard.LEADS) as the_office:
        figures = dashboard.run(the_office, entries=5_000, keys=20, rounds=3)
    slow = {name: page for name, page in figures["pages"].items() if page["median_ms"] > MOST_MS}
    assert {"overview", "usage", "ledger", "ledger.entry", "usage.csv", "ledger.csv"} <= set(figures["pages"])
    assert {"keys, in a crowd", "people, in a crowd", "people, last, in a crowd"} <= set(figures["pages"])
    failed = {name: page["status"] for name, page in figures["pages"].items() if page["status"] >= 500}
    assert not failed
    judge_times(not slow, slow)
