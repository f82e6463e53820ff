"""The estimate of advertising spending."""

from __future__ import annotations

from pathlib import Path

import pytest

from siteglass.ingest.spending import (
    BASE_USD,
    COUNTRY_PERCENT,
    NETWORKS,
    OTHER_COUNTRY_PERCENT,
    RANK_PERCENT,
    SPENDING_MODEL,
    estimate,
)
from siteglass.query.vocabulary import vocabulary

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "ad-spending.md"


@pytest.mark.parametrize(
    ("technologies", "country", "rank", "expected"),
    [
        (None, "", None, None),
        ((), "USA", 10, 0),
        (("WordPress", "Google AdSense"), "", None, 0),
        (("Google Ads",), "", None, 600),
        (("Google Ads", "Google Ads Conversion Tracking"), "", None, 600),
        (("Google Ads", "Facebook Pixel"), "", None, 1_050),
        (("Google Ads",), "USA", None, 900),
        (("Google Ads",), "KEN", None, 180),
        (("Google Ads",), "DEU", 10, 18_000),
        (("Google Ads", "Facebook Pixel"), "POL", 1, 210),
    ],
)
def test_the_estimate(
    technologies: tuple[str, ...] | None, country: str, rank: int | None, expected: int | None
) -> None:
    assert estimate(technologies, country, rank) == expected


def test_a_rank_outside_of_1_to_10_is_an_error() -> None:
    with pytest.raises(KeyError):
        estimate(("Google Ads",), rank=11)


def test_the_tables_speak_the_vocabulary() -> None:
    known = vocabulary()
    assert set(NETWORKS) <= set(known.values("technology"))
    assert set(COUNTRY_PERCENT) <= set(known.values("country"))
    assert set(NETWORKS.values()) == set(BASE_USD)


def test_the_guide_tells_the_tables() -> None:
    text = GUIDE.read_text()
    rows = [line.split("|")[1:4] for line in text.splitlines() if line.startswith("| `")]
    told = {network.strip(" `"): (names, int(base.replace(",", ""))) for network, names, base in rows}
    assert {network: base for network, (_, base) in told.items()} == dict(BASE_USD)
    assert all(name in told[network][0] for name, network in NETWORKS.items())
    assert SPENDING_MODEL in text
    assert "| best linked tenth |" in text
    assert " ".join(f"{RANK_PERCENT[rank] / 100:g}" for rank in range(1, 11)) in text
    assert f"elsewhere {OTHER_COUNTRY_PERCENT / 100:g}" in text
