"""The service over the hand-made leads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from siteglass.lead_files import write_parquet
from siteglass.settings import Settings
from tests.api.handmade import HANDMADE
from tests.running import fill, serving, settings_for


@pytest.fixture(scope="session")
def own_settings(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Settings:
    """Settings of an index with the hand-made leads, one for each worker."""
    settings = settings_for(f"handmade-{worker_id}")
    path = tmp_path_factory.mktemp("handmade") / "leads.parquet"
    write_parquet(path, HANDMADE)
    fill(settings, Path(path))
    return settings


@pytest.fixture(scope="session")
def own(own_settings: Settings) -> Iterator[httpx.Client]:
    """The service over the hand-made leads."""
    with serving(own_settings) as client:
        yield client
