"""`python -m bench.frontier_rate` at a small size: domains are taken and acknowledged, and no table is read whole."""

from __future__ import annotations

import asyncio

from bench import frontier_rate

NIGHTLY = True


def test_a_small_size() -> None:
    figures = asyncio.run(frontier_rate.run(50_000, 0.5))
    assert figures["sequential_scans"] == []
    assert figures["domains_per_second"] > 0
    assert figures["bytes_per_domain"] < 300
