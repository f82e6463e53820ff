"""What tests of ingestion share: one worker, which loads the tables of extraction, and one session of Spark.

Those that need Spark are run alone, in one process: it takes all cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from siteglass.ingest.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tables take longer to load than most of these tests take: in every worker they would be half of the time."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.xdist_group("ingest"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on this machine, small and quiet."""
    work = tmp_path_factory.mktemp("spark")
    with spark_session(work, master="local[2,4]", driver_memory="1g") as session:
        yield session
