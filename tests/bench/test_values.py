"""A small size of `make long-values`: any text is completed at once, and the keys stay small."""

from __future__ import annotations

import pytest

from bench import values


@pytest.mark.promise("values.fast")
@pytest.mark.timing
def test_no_text_takes_5_ms() -> None:
    figures = values.run(count=1_000)
    assert [kind for kind, figure in figures["kinds"].items() if figure["slowest_again_ms"] >= 5] == [], figures
    assert figures["memory_kib"] < 32 * 1024, figures
