"""A service with its own tables, index and lead store, and the commands of its operator."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index.generations import Shape
from siteglass.index.rebuild import RebuildPlan, rebuild
from siteglass.settings import Settings, environment_of
from testing.accounts import drop_schema
from testing.service import RUN_PREFIX, fill, make_test_account, run, settings_for


def command(settings: Settings, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `siteglass` as an operator does; the exit code must be the expected one."""
    done = subprocess.run(
        [str(Path(sys.executable).parent / "siteglass"), *words],
        env={**os.environ, **environment_of(settings)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


@dataclass(frozen=True, slots=True)
class World:
    """Settings, and the file that the leads came from."""

    settings: Settings
    source: Path

    def command(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run `siteglass` as an operator does; the exit code must be the expected one."""
        return command(self.settings, *words, code=code)

    def rebuild(self) -> str:
        """A new generation from the source, promoted; its name."""
        return rebuilt(self.settings, [self.source])

    def documents(self) -> dict[str, list[dict[str, Any]]]:
        """All that every generation holds, as the engine gives it."""

        async def everything(index: Any) -> dict[str, list[dict[str, Any]]]:
            found: dict[str, list[dict[str, Any]]] = {}
            await index.opensearch.request("POST", f"/{index.names.generations}/_refresh", timeout_ms=10_000)
            body = {"size": 10_000, "query": {"match_all": {}}}
            answer = await index.opensearch.request(
                "POST", f"/{index.names.generations}/_search", body, timeout_ms=30_000
            )
            assert answer["hits"]["total"]["value"] < 10_000
            for hit in answer["hits"]["hits"]:
                found.setdefault(hit["_index"], []).append(hit["_source"])
            return found

        return run(self.settings, everything)


def rebuilt(settings: Settings, sources: Sequence[Path]) -> str:
    """A new generation as the product builds it, promoted; the one that was live is kept. Returns its name."""
    plan = RebuildPlan(Shape(), verify=False, promote=True, keep=1)
    return run(settings, lambda index: rebuild(index, sources, plan)).name


@contextlib.contextmanager
def world(name: str, leads: Iterable[Lead], folder: Path, **changes: Any) -> Iterator[World]:
    """A world with these leads, gone afterwards."""
    schema = f"{RUN_PREFIX}_{name}"
    store = folder / "store"
    store.mkdir()
    settings = settings_for(name, postgres_schema=schema, lead_store=store, **changes)
    source = store / "leads.parquet"
    write_parquet(source, leads, row_group_size=500)
    make_test_account(settings.postgres_dsn, schema)
    try:
        fill(settings, source)
        yield World(settings, source)
    finally:
        asyncio.run(drop_schema(settings.postgres_dsn, schema))


def search(client: httpx.Client, **body: Any) -> httpx.Response:
    """A search that is answered."""
    return client.post("/v1/leads/search", json=body).raise_for_status()


def walked(client: httpx.Client, **body: Any) -> list[httpx.Response]:
    """All pages of a search."""
    pages = [search(client, limit=100, **body)]
    while path := pages[-1].json()["next"]:
        pages.append(client.post(path, json={}).raise_for_status())
    return pages


def results(pages: Iterable[httpx.Response]) -> list[dict[str, Any]]:
    """The records of pages."""
    return [record for page in pages for record in page.json()["results"]]


def told(response: httpx.Response) -> str:
    """All that an answer says, body and headers."""
    return response.text + json.dumps(dict(response.headers))
