"""A small size of `make long-suppression`: what the list of opt-outs costs a page."""

from __future__ import annotations

import asyncio

import pytest

from bench import suppression
from testing.outcomes import judge_times

NIGHTLY = True


@pytest.mark.timing
def test_a_page_of_100_leads_takes_a_tenth_of_a_millisecond_more_at_most() -> None:
    figures = asyncio.run(suppression.run(values=50_000))
    assert figures["values"] == 50_000
    page_ms = figures["cpu_ms_per_page"]["none of 100 leads listed"]
    # What was read before is not read again.
    judge_times(page_ms <= suppression.AIM_MS and figures["refresh_cpu_ms"] < 50, figures)
