"""Tables and rules are loaded before the first test: what that takes is no part of a page's time."""

from __future__ import annotations

import pytest

from siteglass.ingest.tasks import FACTS_OF, warm


@pytest.fixture(scope="session", autouse=True)
def warmed() -> None:
    warm(FACTS_OF)
