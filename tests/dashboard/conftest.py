"""One service with a dashboard for all tests here; each makes accounts and people of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from siteglass.people import passwords
from tests.dashboard.visiting import Office, office


@pytest.fixture(scope="session", autouse=True)
def _cheaper_hashes() -> Iterator[None]:
    """Hashes as weak as may be, since the tests make hundreds; those of the service are told in test_sign_in.py."""
    strong = passwords.MEMORY_KIB, passwords.TIMES
    passwords.MEMORY_KIB, passwords.TIMES = 19 * 1024, 2
    yield
    passwords.MEMORY_KIB, passwords.TIMES = strong


@pytest.fixture(scope="session")
def the_office(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    """The service, and who works there."""
    with office(f"dashboard-{worker_id}", tmp_path_factory.mktemp("dashboard")) as made:
        yield made
