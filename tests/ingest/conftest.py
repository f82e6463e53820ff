"""What tests of ingestion share: one worker, which loads the tables of extraction, and one session of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from siteglass.ingest.spark import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on this machine, small and quiet."""
    work = tmp_path_factory.mktemp("spark")
    with spark_session(work, master="local[2,4]", driver_memory="1g") as session:
        yield session
