"""100,000 random and mutated texts: criteria or QueryError, never anything else, none over 50 ms of CPU.

10,000 more are texts with alternatives; `make long-fuzz` reads 100,000 of these.
"""

from __future__ import annotations

import pytest

from testing.fuzz_directives import MOST_CPU_MS, fuzz

CHUNKS, PER_CHUNK = 8, 12_500

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


@pytest.mark.parametrize("seed", range(CHUNKS))
def test_only_query_errors_and_none_slow(seed: int) -> None:
    report = fuzz(PER_CHUNK, seed)
    assert report.texts == PER_CHUNK
    assert report.read > PER_CHUNK // 25
    assert report.refused > PER_CHUNK // 25
    assert report.slowest_cpu_ms <= MOST_CPU_MS


def test_texts_with_alternatives() -> None:
    report = fuzz(10_000, 1, alternatives=True)
    assert report.texts == 10_000
    assert report.read > 1_000
    assert report.refused > 1_000
    assert report.slowest_cpu_ms <= MOST_CPU_MS


def test_100_000_texts_in_all() -> None:
    assert CHUNKS * PER_CHUNK >= 100_000
