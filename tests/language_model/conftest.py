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
from tests.language_model.reading import interpret


class Moving(Clock):
    """A clock that stands still, however slow the machine is, and can be put forward."""

    def __init__(self) -> None:
        self._begun_ms = super().now_ms()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._begun_ms + self.ahead_ms

    def begin_later(self) -> None:
        """Two hours later than any test before: the service has forgotten each answer and rests no longer."""
        self._begun_ms, self.ahead_ms = self.now_ms() + 7_200_000, 0


@pytest.fixture(scope="session")
def without_model(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    """Settings of an index with the hand-made leads, one for each worker, and no language model."""
    return filled(f"model-{worker_id}", HANDMADE, tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def listener() -> Iterator[Endpoint]:
    with listening() as made:
        yield made


@pytest.fixture
def endpoint(listener: Endpoint) -> Endpoint:
    """Asked nothing yet, and with nothing to say."""
    listener.begin()
    return listener


@pytest.fixture(scope="session")
def clock() -> Moving:
    return Moving()


@pytest.fixture(scope="session")
def settings(without_model: Settings, listener: Endpoint) -> Settings:
    return replace(
        without_model,
        language_model_url=listener.url,
        language_model_name=NAME,
        language_model_key=KEY,
        # Longer than any answer takes on a busy machine; tests that wait for the limit set their own.
        language_model_timeout_ms=10_000,
    )


@pytest.fixture(scope="session")
def running(settings: Settings, clock: Moving) -> Iterator[httpx.Client]:
    with serving(settings, clock) as client:
        yield client


@pytest.fixture
def service(running: httpx.Client, endpoint: Endpoint, clock: Moving) -> httpx.Client:
    """A service that keeps no answer, and whose last request to the model succeeded."""
    clock.begin_later()
    interpret(running, "hotels with a ballroom")
    assert len(endpoint.asked) == 1
    endpoint.begin()
    return running
