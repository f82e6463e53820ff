"""A small size of `make long-values`: any text is completed at once, and the keys stay small."""

from __future__ import annotations

import pytest

from bench import values
from testing.outcomes import judge_times

NIGHTLY = True


@pytest.mark.promise("values.fast")
@pytest.mark.timing
def test_no_text_takes_5_ms() -> None:
    figures = values.run(count=1_000)
    assert figures["memory_kib"] < 32 * 1024, figures
    judge_times(all(figure["slowest_again_ms"] < 5 for figure in figures["kinds"].values()), figures)
