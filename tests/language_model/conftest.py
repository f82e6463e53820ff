"""The service over the hand-made leads, with a language model at an endpoint of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from siteglass.platform.backends import Clock
from siteglass.settings import Settings
from testing.service import filled, serving
from tests.api.handmade import HANDMADE
from tests.language_model.endpoint import KEY, NAME, Endpoint, listening


class Moving(Clock):
    """A clock that stands still, however slow the machine is, and can be put forward."""

    def __init__(self) -> None:
        self._begun_ms = super().now_ms()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._begun_ms + self.ahead_ms


@pytest.fixture(scope="session")
def without_model(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    """Settings of an index with the hand-made leads, one for each worker, and no language model."""
    return filled(f"model-{worker_id}", HANDMADE, tmp_path_factory.mktemp("model"))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as made:
        made.says()
        yield made


@pytest.fixture
def clock() -> Moving:
    return Moving()


@pytest.fixture
def settings(without_model: Settings, endpoint: Endpoint) -> Settings:
    return replace(
        without_model,
        language_model_url=endpoint.url,
        language_model_name=NAME,
        language_model_key=KEY,
        # Longer than any answer takes on a busy machine; tests that wait for the limit set their own.
        language_model_timeout_ms=10_000,
    )


@pytest.fixture
def service(settings: Settings, clock: Moving) -> Iterator[httpx.Client]:
    """A service that has asked nothing yet: what it caches and counts is the test's own."""
    with serving(settings, clock) as client:
        yield client
