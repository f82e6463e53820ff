"""The kind of business where pages do not say it."""

from __future__ import annotations

import pytest

from siteglass.ingest.service_types import service_type
from siteglass.query.trades import trades
from siteglass.query.vocabulary import vocabulary


@pytest.mark.parametrize(
    ("stated", "technologies", "trade_ids", "expected"),
    [
        ("Firm", ["Shopify"], ["dentist"], "Firm"),  # what pages say
        ("", ["Shopify", "jQuery"], ["dentist"], "Ecommerce"),
        ("", ["WooCommerce"], ["dentist"], "Healthcare"),
        ("", ["WooCommerce"], [], "Ecommerce"),
        ("", [], ["bookkeeper"], "Financial Services"),
        ("", [], ["machine_builder"], "Manufacturer"),
        ("", [], ["roofer", "dentist"], "Local Business"),
        ("", ["jQuery"], [], ""),
    ],
)
def test_shop_systems_and_trades_tell_the_kind(
    stated: str, technologies: list[str], trade_ids: list[str], expected: str
) -> None:
    assert service_type(stated, technologies, trade_ids) == expected


def test_every_trade_has_a_kind_that_exists_or_none() -> None:
    kinds = {"", *vocabulary().values("service_type")}
    assert {service_type("", [], [trade]) for trade in trades().ids()} <= kinds
