"""`python -m bench.before_paying` at a small size: facets and searches with and without a list are all answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench import before_paying, common


@pytest.mark.nightly
def test_a_small_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (common, before_paying):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(before_paying, "WARM_UP", 2)
    monkeypatch.setattr(before_paying, "MATCH_ALL_TIMES", 2)
    figures = asyncio.run(before_paying.run(5_000, 400, 10))
    assert figures["facets"]["searches"] == 10
    assert figures["facets"]["share of sampled answers"] == 0
    assert figures["list of 400 domains"]["searches"] == 10
    assert figures["list of 400 domains"]["ratio of the medians"] > 0
