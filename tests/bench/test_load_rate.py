"""A small size of `make long-load`: the loader costs what making and sending the same documents costs.

Its rate against bare bulk requests is measured there, at full size. A few seconds of it, on a machine whose other work
is not known, scatter by a factor of three. What it costs this process scatters little.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench import common, load_rate
from testing.outcomes import judge_times

NIGHTLY = True


@pytest.mark.timing
def test_the_loader_adds_little_to_bare_bulk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "FOLDER", tmp_path)
    figures = asyncio.run(load_rate.run(leads=6_000, rounds=2))
    assert figures["documents"] == 6_000
    cpu = figures["python_cpu_us_per_document"]
    # It also asks the list of opt-outs about every batch, twice.
    little = cpu["loader"] <= 1.75 * (cpu["making the bodies"] + cpu["bare"])
    judge_times(little and figures["documents_per_second"] >= 300, figures)
