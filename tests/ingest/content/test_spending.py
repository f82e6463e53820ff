"""The estimate of advertising spending."""

from __future__ import annotations

from pathlib import Path

import pytest

from siteglass.ingest.spending import (
    BASE_USD,
    COUNTRY_PERCENT,
    NETWORKS,
    OTHER_COUNTRY_PERCENT,
    SPENDING_MODEL,
    TAG_MANAGERS,
    estimate,
)
from siteglass.query.vocabulary import vocabulary

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "computed-fields.md"
GUIDE = PAGE.read_text().partition("## The ad-spending estimate\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("technologies", "country", "expected"),
    [
        (None, "", None),
        ((), "USA", 0),
        (("WordPress", "Google AdSense"), "", 0),
        (("Google Tag Manager",), "USA", None),
        (("Google Tag Manager", "Google Ads"), "", 600),
        (("Google Ads",), "", 600),
        (("Google Ads", "Google Ads Conversion Tracking"), "", 600),
        (("Google Ads", "Facebook Pixel"), "", 1_050),
        (("Google Ads",), "USA", 900),
        (("Google Ads",), "KEN", 180),
        (("Google Ads", "Facebook Pixel"), "POL", 525),
    ],
)
def test_the_estimate(technologies: tuple[str, ...] | None, country: str, expected: int | None) -> None:
    assert estimate(technologies, country) == expected


def test_the_tables_speak_the_vocabulary() -> None:
    known = vocabulary()
    assert set(NETWORKS) | TAG_MANAGERS <= set(known.values("technology"))
    assert set(COUNTRY_PERCENT) <= set(known.values("country"))
    assert set(NETWORKS.values()) == set(BASE_USD)


def test_the_guide_tells_the_tables() -> None:
    rows = [line.split("|")[1:4] for line in GUIDE.splitlines() if line.startswith("| `")]
    told = {network.strip(" `"): (names, int(base.replace(",", ""))) for network, names, base in rows}
    assert {network: base for network, (_, base) in told.items()} == dict(BASE_USD)
    assert all(name in told[network][0] for name, network in NETWORKS.items())
    assert SPENDING_MODEL in GUIDE
    assert f"elsewhere {OTHER_COUNTRY_PERCENT / 100:g}" in GUIDE
