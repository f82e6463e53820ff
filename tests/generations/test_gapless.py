"""Searches, pages and enrichments continue over two rebuilds and a rollback while leads are written: nothing is missed.

SITEGLASS_LONG=1 takes 60 s, instead of 12.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest

from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index.index import Index as LiveIndex
from siteglass_demo.leads import generate
from testing.api_calls import ENRICH, SEARCH
from testing.service import ServiceProcess, run
from tests.generations.commands import Index, refusals
from tests.generations.traffic import PAUSE_S, RATE, Action, Callers, Seen, Writer, Writing, going_on

# A busy machine may write more slowly; the full size must not.
DURATION_S, LEAST_RATE = (60, 0.95 * RATE) if os.environ.get("SITEGLASS_LONG") else (12, 0.5 * RATE)
UNCHANGED, CHANGING = 1_500, 500


@pytest.mark.promise("feature.generations")
@pytest.mark.alone
@pytest.mark.no_cover
def test_two_promotions_and_a_rollback_under_traffic(tmp_path: Path) -> None:
    index = Index("gapless", tmp_path)
    settings, store = index.settings, index.settings.lead_store
    leads = list(generate(UNCHANGED + CHANGING, seed=41))
    unchanged, changing = leads[:UNCHANGED], leads[UNCHANGED:]
    store.mkdir()
    write_parquet(store / "all.parquet", leads)
    index("rebuild", str(store), "--promote")
    service = ServiceProcess(settings)
    service.start()
    seen, writer = Seen(), Writer(settings, changing)
    callers = Callers(service.url, unchanged, changing, seen)
    actions: list[Action] = [
        writer.run,
        callers.search,
        callers.enrich,
        partial(callers.walk, sort="-score", limit=100, pause_s=PAUSE_S),
        # Long enough to begin in one generation and to end in another.
        partial(callers.walk, sort="domain", limit=100, pause_s=DURATION_S / 50),
    ]
    lives = [index.live()]
    started = time.monotonic()
    try:
        with going_on(actions, seen) as stop:
            for at, words in ((0.1, "rebuild"), (0.45, "rebuild"), (0.8, "rollback")):
                stop.wait(max(0.0, started + at * DURATION_S - time.monotonic()))
                options = [str(store), "--promote"] if words == "rebuild" else []
                command = index.start(words, *options)
                told, _ = command.communicate(timeout=120)
                assert command.returncode == 0, told
                lives.append(index.live())
            stop.wait(max(0.0, started + DURATION_S - time.monotonic()))
        assert [*seen.wrong, *writer.written.wrong][:5] == []
        _require_work(seen, writer.written)
        first, second, third, again = lives
        assert again == second
        assert len({first, second, third}) == 3
        # Retention at the second promotion dropped the first, under the writer's hands.
        assert [generation.name for generation in index.all()] == [second, third]
        run(settings, _refreshed)
        assert callers.missing(writer.written.newest)[:5] == []
        assert refusals(index("promote", third)) == []
        assert callers.missing(writer.written.newest)[:5] == []
        assert seen.wrong == []
    finally:
        service.kill()


async def _refreshed(live_index: LiveIndex) -> None:
    await generations.refresh(live_index, await generations.writable(live_index))


def _require_work(seen: Seen, written: Writing) -> None:
    """That nothing was missed says little where little was done."""
    assert written.leads >= LEAST_RATE * written.seconds, (written.leads, written.seconds)
    assert seen.done["walks"] >= DURATION_S / 12, seen.done
    assert seen.done[ENRICH] >= DURATION_S * 3, seen.done
    assert seen.done[SEARCH] >= DURATION_S * 3, seen.done
