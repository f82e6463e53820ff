"""Random arrivals answered as the definition of the policy says. CI's share; `bench/limits_proof.py` runs the rest."""

from __future__ import annotations

import asyncio

import pytest

from testing.limits.comparison import Tally, compare_local, compare_shared
from testing.outcomes import first_by_day

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


def clean(tally: Tally, traces: int) -> None:
    assert tally.traces == traces
    assert tally.different == 0
    # Traces that are all admitted, or all refused, would show little.
    assert 0.3 < tally.admitted / tally.requests < 0.7


@pytest.mark.parametrize("first_seed", first_by_day([0, 10_000]))
def test_a_worker_decides_as_defined(first_seed: int) -> None:
    clean(compare_local(first_seed, 10_000), 10_000)


def test_redis_decides_as_defined(redis_url: str, prefix: str) -> None:
    clean(asyncio.run(compare_shared(redis_url, prefix, 1_000_000, 2_000)), 2_000)
