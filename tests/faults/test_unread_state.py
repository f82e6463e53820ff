"""A cluster that was started as a whole says that no index exists until enough nodes are back. That is not believed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

from siteglass.errors import Unavailable
from siteglass.index import generations
from siteglass.index.index import Index
from siteglass.platform.opensearch import EngineError
from siteglass.settings import Settings
from testing.opensearch_cluster import Cluster
from testing.service import run, settings_for

NIGHTLY = True

pytestmark = [pytest.mark.alone, pytest.mark.xdist_group("private-engines")]


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    """Of one node, which waits for a second one before it reads its indexes."""
    cluster = Cluster(nodes=1)
    try:
        cluster.start_again(cluster.nodes[0])
        yield settings_for("unread-state", opensearch_urls=cluster.urls)
    finally:
        cluster.close()


def test_the_engine_says_that_no_index_exists(settings: Settings) -> None:
    with pytest.raises(EngineError) as raised:
        run(settings, lambda index: index.opensearch.request("GET", f"/{index.names.write}", timeout_ms=5_000))
    assert raised.value.status == 404


@pytest.mark.parametrize(
    "ask", [generations.writable, generations.oldest_made_at, lambda index: generations.is_gone(index, "any")]
)
def test_nobody_takes_it_for_an_empty_cluster(settings: Settings, ask: Callable[[Index], Awaitable[object]]) -> None:
    with pytest.raises(Unavailable) as raised:
        run(settings, ask)
    assert "has not read its indexes yet" in raised.value.reason
