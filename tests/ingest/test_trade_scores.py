"""Trades on the locked sets, see testing/corpus/trades: measured figures as floors, and no item is shown."""

from __future__ import annotations

import pytest

from testing.trade_scores import REAL_PAGES, made_up_scores, real_scores


def test_the_score_on_made_up_pages_does_not_fall() -> None:
    by_pages, by_record = made_up_scores()
    assert (by_pages.sites, by_pages.labelled) == (100, 88)
    assert by_pages.precision >= 0.94
    assert by_pages.right >= 67
    assert by_record.right >= 51


@pytest.mark.skipif(not REAL_PAGES.exists(), reason=f"{REAL_PAGES.name} is not beside the project's folder")
def test_the_score_on_real_pages_does_not_fall() -> None:
    by_pages, by_record = real_scores()
    assert (by_pages.sites, by_pages.labelled) == (104, 95)
    assert by_pages.precision >= 0.63
    assert by_pages.right >= 30
    assert by_record.right >= 29
