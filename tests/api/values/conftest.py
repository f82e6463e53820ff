"""A service whose leads have no values that could be counted."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from siteglass.corpus.lead import Lead
from testing.service import filled, serving


@pytest.fixture(scope="session")
def uncounted(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[httpx.Client]:
    """The service over one lead of which nothing is known: all counts are equal."""
    bare = Lead(domain="bare.example", crawled_at_ms=1)
    with serving(filled(f"bare-{worker_id}", [bare], tmp_path_factory.mktemp("bare"))) as client:
        yield client
