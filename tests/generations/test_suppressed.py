"""A rebuild does not bring back what was suppressed, before it or while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead import Lead
from siteglass.index import load as loading
from siteglass.index.index import Index as LiveIndex
from siteglass.index.writing import write
from siteglass.privacy import opt_out
from siteglass.suppression.values import read_value
from siteglass_demo.leads import generate
from testing.service import run
from tests.generations.commands import Index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index("suppressed", tmp_path_factory.mktemp("suppressed"))


def _leads(moment: str) -> list[Lead]:
    """Some leads, one of a domain that asks to be left out, one with an address that does; all of one crawl time."""
    return [
        *generate(100, seed=51),
        Lead(domain=f"{moment}-of-rebuild.example", crawled_at_ms=1_000, title="Leave us out"),
        Lead(
            domain="keeps.example",
            crawled_at_ms=1_000,
            emails=(f"{moment}-of-rebuild@example.com", "other@example.com"),
        ),
    ]


async def _suppress(live_index: LiveIndex, moment: str) -> None:
    values = [read_value(f"{moment}-of-rebuild.example"), read_value(f"{moment}-of-rebuild@example.com")]
    await opt_out.suppress(live_index, values, reason="asked to", actor="tests")


def _require_suppressed(index: Index, moment: str) -> None:
    """In every generation: gone, and without the address."""
    for generation in index.all():
        ids = {"ids": [f"{moment}-of-rebuild.example", "keeps.example"]}
        found: Any = index.engine("POST", f"/{generation.name}/_mget", ids)
        domain, keeps = found["docs"]
        assert not domain["found"]
        assert keeps["_source"]["emails"] == ["other@example.com"]


def test_what_was_suppressed_before(index: Index) -> None:
    path = index.file(_leads("before"))
    index("rebuild", path, "--promote")
    run(index.settings, lambda live_index: _suppress(live_index, "before"))
    assert "102 leads read from 1 files; 101 written, 0 not newer than what was there, 1 suppressed" in index(
        "rebuild", path, "--promote"
    )
    _require_suppressed(index, "before")


def test_what_is_suppressed_meanwhile(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listed and looked for everywhere just before the rebuild writes what it read when it was not listed."""

    async def beside(live_index: LiveIndex, target: str, lines: list[bytes], told: Any, **options: bool) -> None:
        monkeypatch.setattr(loading, "write", write)
        await _suppress(live_index, "meanwhile")
        await write(live_index, target, lines, told, **options)

    path = Path(index.file(_leads("meanwhile")))
    index("rebuild", str(path), "--no-verify", "--promote", "--reason", "the leads are others")
    monkeypatch.setattr(loading, "write", beside)
    index("rebuild", str(path), "--promote")
    _require_suppressed(index, "meanwhile")
