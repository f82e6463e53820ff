"""5,000 random strings: no exception, and every answer is directive text that the production parser accepts."""

from __future__ import annotations

import pytest

from testing.outcomes import first_by_day
from testing.sentences.fuzz import answer, fuzz

CHUNKS, PER_CHUNK = 4, 1_250

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


@pytest.mark.parametrize("seed", first_by_day(range(CHUNKS)))
def test_whatever_is_said_is_answered_in_directives(seed: int) -> None:
    report = fuzz(PER_CHUNK, seed)
    assert report.strings == PER_CHUNK
    assert report.with_meaning > PER_CHUNK // 2
    assert [(why, text[:80]) for text, why in report.broken] == []
    assert report.failures == 0


@pytest.mark.parametrize(
    "number", ["9" * 400, "5,000" * 150, "$" + "1" * 990], ids=["digits", "with commas", "as long as a query"]
)
def test_a_number_of_any_length_is_answered(number: str) -> None:
    """Strings of more than 308 digits once broke it: they are no float."""
    assert answer(f"shops spending over {number} on ads")[1] is None
