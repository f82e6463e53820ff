"""The real `siteglass serve`, one process for the tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testing.service import ServiceProcess
from tests.server.raw import running


@pytest.fixture(scope="session")
def service() -> Iterator[ServiceProcess]:
    with running("server") as process:
        yield process
