"""The service over the hand-made leads, and over leads to be paid for."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from siteglass.settings import Settings
from testing.customers import STOCK, Bank
from testing.ports import free_port
from testing.service import filled, serving
from tests.api.handmade import HANDMADE


@pytest.fixture(scope="module")
def closed_port() -> int:
    """A port where nobody listens, for an engine that is unavailable."""
    return free_port()


@pytest.fixture(scope="session")
def own_settings(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    """Settings of an index with the hand-made leads, one for each worker."""
    return filled(f"handmade-{worker_id}", HANDMADE, tmp_path_factory.mktemp("handmade"))


@pytest.fixture(scope="session")
def own(own_settings: Settings) -> Iterator[httpx.Client]:
    """The service over the hand-made leads."""
    with serving(own_settings) as client:
        yield client


@pytest.fixture(scope="session")
def stock_settings(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    """Settings of an index with leads whose price is easy to see, one for each worker."""
    return filled(f"stock-{worker_id}", STOCK, tmp_path_factory.mktemp("stock"))


@pytest.fixture(scope="session")
def bank(stock_settings: Settings) -> Iterator[Bank]:
    """Makes customers of a service over those leads, and reads their books."""
    with serving(stock_settings) as client:
        made = Bank(stock_settings, str(client.base_url))
        yield made
        made.close()
