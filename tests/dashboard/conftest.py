"""One service with a dashboard for all tests here; each makes its own accounts and people."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testing.dashboard.visitors import Office, cheaper_hashes, office


@pytest.fixture(scope="session", autouse=True)
def _cheaper_hashes() -> Iterator[None]:
    with cheaper_hashes():
        yield


@pytest.fixture(scope="session")
def the_office(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """The service, and who works there."""
    with office(f"dashboard-{worker_id}", tmp_path_factory.mktemp("dashboard")) as made:
        yield made
