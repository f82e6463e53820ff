"""What a worker holds of the list: what is newer than the oldest generation, read again in time, or no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from siteglass.corpus.lead import Lead
from siteglass.errors import Unavailable
from siteglass.platform.backends import Backends, open_backends
from siteglass.suppression import entries
from siteglass.suppression import filter as hidden
from siteglass.suppression.filter import SuppressionFilter
from siteglass.suppression.values import Hasher, read_value
from tests.suppression.world import World, world

# One world for all of them: in one worker.


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world("hidden", [Lead(domain="a.example", crawled_at_ms=1)], tmp_path_factory.mktemp("hidden")) as made:
        yield made


class Oldest:
    """When the oldest generation was made."""

    def __init__(self) -> None:
        self.at: datetime | None = None

    async def __call__(self) -> datetime | None:
        return self.at


def _with(scene: World, work: Callable[[Backends, SuppressionFilter, Oldest], Awaitable[None]]) -> None:
    async def inside() -> None:
        async with open_backends(scene.settings) as backends:
            oldest = Oldest()
            held = SuppressionFilter(backends.postgres, Hasher(scene.settings), frozenset(), oldest)
            await work(backends, held, oldest)

    asyncio.run(inside())


async def _add(backends: Backends, *texts: str) -> None:
    hasher = Hasher(backends.settings)
    pairs = [hasher.pair(read_value(text)) for text in texts]
    await entries.add(backends.postgres, pairs, reason="asked to", actor="tests")


def _record(domain: str) -> dict[str, object]:
    return {"domain": domain, "country": "", "emails": ["x@y.example"]}


def test_new_entries_come_in_and_old_ones_go_with_their_generation(scene: World) -> None:
    async def work(backends: Backends, held: SuppressionFilter, oldest: Oldest) -> None:
        await _add(backends, "first.example")
        await held.refresh()
        assert held.shown(_record("first.example")) is None
        await _add(backends, "second.example")
        assert held.shown(_record("second.example")) is not None
        await held.refresh()
        assert held.shown(_record("second.example")) is None
        before = len(held)
        # All older generations are gone: what was built since has none of it.
        oldest.at = datetime.now(UTC) + timedelta(seconds=1)
        await held.refresh()
        assert (before >= 2, len(held)) == (True, 0)
        # Back to an older one: its entries come back with it.
        oldest.at = datetime.now(UTC) - timedelta(days=1)
        await held.refresh()
        assert len(held) == before

    _with(scene, work)


def test_a_lead_keeps_what_is_not_listed(scene: World) -> None:
    async def work(backends: Backends, held: SuppressionFilter, _oldest: Oldest) -> None:
        hasher = Hasher(scene.settings)
        listed = [f"m{number}@part.example" for number in range(3)]
        found = [entries.FoundHash("part.example", hasher.of_value(read_value(text))) for text in listed]
        for one in found:
            await entries.remember(backends.postgres, [one])
            await held.refresh()
        record = {**_record("part.example"), "emails": [*listed, "stays@part.example"], "emails_personal": listed}
        shown = held.shown(record)
        assert shown == {**record, "emails": ["stays@part.example"], "emails_personal": []}
        assert record["emails"] == [*listed, "stays@part.example"]

    _with(scene, work)


def test_a_copy_that_is_too_old_is_read_again_or_nothing_is_answered(
    scene: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(backends: Backends, held: SuppressionFilter, _oldest: Oldest) -> None:
        await held.require_fresh()
        await _add(backends, "late.example")
        await held.require_fresh()
        assert held.shown(_record("late.example")) is not None
        monkeypatch.setattr(hidden, "MOST_AGE_S", 0)
        with pytest.raises(Unavailable) as refused:
            await held.require_fresh()
        assert refused.value.reason == "the list of opt-outs could not be read in time"
        assert held.shown(_record("late.example")) is None

    _with(scene, work)


def test_the_promise_of_60_seconds_is_kept_by_the_numbers() -> None:
    assert hidden.REFRESH_EVERY_S == 20
    assert hidden.REFRESH_EVERY_S < hidden.MOST_AGE_S < 60
