"""After a rebuild, a shard is one segment, and a lead is in it once."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations, segments
from siteglass.index.administration import admin
from siteglass.index.index import Index as LiveIndex
from siteglass.index.load import load
from siteglass_demo.leads import generate
from testing.service import run
from tests.generations.commands import Index

PARTS = [list(generate(400, seed=seed)) for seed in (41, 42, 43)]


async def _loaded(index: LiveIndex, folder: Path) -> str:
    """A generation of three segments or more."""
    name = await generations.create(index, generations.Shape(refresh_interval="-1"))
    for number, part in enumerate(PARTS):
        path = folder / f"{number}.parquet"
        write_parquet(path, part)
        await load(index, path, lambda _: None, only=name)
        await generations.refresh(index, [name])
    return name


async def _segments(index: LiveIndex, name: str) -> tuple[int, int, int]:
    """How many there are, their bytes, and the leads in them."""
    params = {"format": "json", "bytes": "b", "h": "size,docs.count"}
    rows: list[dict[str, Any]] = await admin(index, "GET", f"/_cat/segments/{name}", params=params)
    return len(rows), sum(int(row["size"]) for row in rows), sum(int(row["docs.count"]) for row in rows)


@pytest.mark.nightly
def test_merged_leads_take_half_of_the_disk(index: Index) -> None:
    async def body(live_index: LiveIndex) -> None:
        name = await _loaded(live_index, index.folder)
        count, loaded_bytes, leads = await _segments(live_index, name)
        assert (count >= 3, leads) == (True, 1_200)
        await segments.merge_segments(live_index, name)
        await generations.refresh(live_index, [name])
        count, merged_bytes, leads = await _segments(live_index, name)
        assert (count, leads) == (1, 1_200)
        # The copy for recovery is gone; without it, merging saves a few percent.
        assert merged_bytes < 0.65 * loaded_bytes

    run(index.settings, body)


def test_a_merge_that_is_refused_is_only_logged(
    index: Index, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "LEASES_WITHIN_S", 0)

    async def body(live_index: LiveIndex) -> None:
        name = await _loaded(live_index, index.folder)
        await admin(live_index, "PUT", f"/{name}/_settings", {"index.blocks.read_only": True})
        with caplog.at_level(logging.WARNING):
            await segments.merge_segments(live_index, name)
        assert [record.message for record in caplog.records if record.name == segments.__name__] == [
            "segments not merged"
        ]
        assert (await _segments(live_index, name))[0] >= 3
        await admin(live_index, "PUT", f"/{name}/_settings", {"index.blocks.read_only": None})

    run(index.settings, body)


def test_a_rebuild_merges_what_is_worth_it(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    merged: list[str] = []

    async def note(_: LiveIndex, name: str) -> None:
        merged.append(name)

    monkeypatch.setattr(segments, "merge_segments", note)
    monkeypatch.setattr(segments, "WORTH_IT_FROM", 400)
    index.built(PARTS[0][:399])
    assert merged == []
    name = index.built(PARTS[0])
    assert merged == [name]
