"""A small size of `python -m bench.tracing_cost`: a request that is not traced pays next to nothing for it."""

from __future__ import annotations

import pytest

from bench import tracing_cost
from testing.outcomes import judge_times


@pytest.mark.nightly
@pytest.mark.timing
def test_a_request_that_is_not_traced_pays_microseconds() -> None:
    taken = tracing_cost.measure(requests=2_000, rounds=5)
    # Three times the aims: this must pass on a busy machine, and fail if a span is created for every request.
    late = {name: taken[name] for name, aim_us in tracing_cost.AIMS_US.items() if taken[name] > 3 * aim_us}
    judge_times(late == {}, taken)
