"""What tests of generations share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from siteglass.index.names import IndexNames
from tests.generations.commands import Index


@pytest.fixture
def index(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Index]:
    """An index of the test's own, gone with it."""
    made = Index(f"own-{request.node.name.replace('_', '-')[:40]}", tmp_path)
    yield made
    made.engine("DELETE", f"/{IndexNames(made.settings.index_prefix).generations}")
