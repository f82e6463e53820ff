"""Callers and a writer that continue until they are stopped, and all that they saw and wrote."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import httpx
import msgspec

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index.documents import sort_keys
from siteglass.index.index import open_index
from siteglass.index.load import load
from siteglass.platform.backends import open_backends
from siteglass.query.values import moment_text
from siteglass.settings import Settings
from siteglass_demo.leads import generate
from testing.api_calls import ENRICH, SEARCH
from testing.service import API_KEY

Action = Callable[[threading.Event], None]

RATE = 200
BATCH, NEW_OF_BATCH = 200, 40
PAUSE_S = 0.1
"""Of each caller, so that two cores are enough for all."""


@dataclass
class Seen:
    """What went wrong, and how much was done."""

    wrong: list[str] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Writing:
    """What a writer wrote."""

    newest: dict[str, int]
    """The newest version of each lead that it changed or added."""
    leads: int
    seconds: float
    wrong: list[str]


class Writer:
    """Writes new crawls of some leads, and new leads, at a steady rate, in a separate process."""

    def __init__(self, settings: Settings, changing: list[Lead]) -> None:
        self._settings = settings
        self._changing = changing
        self.written = Writing({}, 0, 0.0, [])

    def run(self, stop: threading.Event) -> None:
        """Write until stopped."""
        context = get_context("spawn")
        ended, told = context.Event(), context.Queue()
        process = context.Process(target=_write, args=(self._settings, self._changing, ended, told))
        process.start()
        stop.wait()
        ended.set()
        self.written = told.get(timeout=60)
        process.join()


def _write(settings: Settings, changing: list[Lead], ended: Any, told: Any) -> None:
    told.put(asyncio.run(_written(settings, changing, ended)))


async def _written(settings: Settings, changing: list[Lead], ended: Any) -> Writing:
    newest = {lead.domain: lead.crawled_at_ms for lead in changing}

    def changed(lead: Lead) -> Lead:
        version = newest[lead.domain] = newest.get(lead.domain, lead.crawled_at_ms) + 1
        return msgspec.structs.replace(lead, crawled_at_ms=version, title=f"{lead.title} {version}")

    fresh, choose = generate(100_000, seed=77), random.Random(5)
    leads, wrong, started = 0, [], time.monotonic()
    async with open_backends(settings) as backends:
        while not ended.is_set():
            batch = [changed(lead) for lead in choose.sample(changing, BATCH - NEW_OF_BATCH)]
            batch += [changed(next(fresh)) for _ in range(NEW_OF_BATCH)]
            # In the store before it is written, as every load does.
            path = settings.lead_store / f"batch-{leads:06}.parquet"
            write_parquet(path, batch)
            loaded = await load(open_index(backends), path, lambda _: None)
            if loaded.failed or loaded.read != BATCH:
                wrong.append(f"writing: {loaded}")
            leads += BATCH
            await asyncio.sleep(max(0.0, started + leads / RATE - time.monotonic()))
    return Writing(newest, leads, time.monotonic() - started, wrong)


class Callers:
    """Searches, walks and enrichments that must all be answered, whatever becomes of the generations."""

    def __init__(self, url: str, unchanged: list[Lead], changing: list[Lead], seen: Seen) -> None:
        self._url = url
        self._seen = seen
        ranked = sorted(unchanged, key=lambda lead: (sort_keys(lead).rank, lead.domain))
        self._orders = {
            "-score": [lead.domain for lead in ranked],
            "domain": sorted(lead.domain for lead in unchanged),
        }
        self._titles = {lead.domain: lead.title for lead in unchanged}
        self._changing = [lead.domain for lead in changing]

    def client(self) -> httpx.Client:
        """A client that carries the key."""
        return httpx.Client(base_url=self._url, headers={"X-API-Key": API_KEY}, timeout=30, trust_env=False)

    def _post(self, client: httpx.Client, path: str, body: dict[str, Any]) -> Any:
        answer = client.post(path, json=body)
        self._seen.done[path if path in (SEARCH, ENRICH) else "pages"] += 1
        if answer.status_code != 200:
            self._seen.wrong.append(f"{path} {answer.status_code} {answer.text}")
            return None
        return answer.json()

    def walk(self, stop: threading.Event, sort: str, limit: int, pause_s: float) -> None:
        """Whole searches, page by page: every lead that nobody changes is there once, in its order."""
        expected = self._orders[sort]
        with self.client() as client:
            while not stop.is_set():
                found: list[str] = []
                page = self._post(client, SEARCH, {"sort": sort, "limit": limit, "select": ["domain"]})
                while page is not None:
                    found += [record["domain"] for record in page["results"] if record["domain"] in self._titles]
                    if not page["next"] or stop.wait(pause_s):
                        break
                    page = self._post(client, page["next"], {})
                if page is not None and page["next"] is None:
                    self._seen.done["walks"] += 1
                    if found != expected:
                        self._seen.wrong.append(f"walk by {sort}: {_difference(expected, found)}")
                elif page is not None and found != expected[: len(found)]:
                    self._seen.wrong.append(f"walk by {sort} begun: {_difference(expected[: len(found)], found)}")

    def search(self, stop: threading.Event) -> None:
        """First pages of all kinds."""
        bodies: list[dict[str, Any]] = [
            {"country": "USA"},
            {"technologies": ["Shopify"]},
            {"query": "bakery in Germany"},
            {"min_score": 80},
        ]
        with self.client() as client:
            while not stop.wait(PAUSE_S):
                self._post(client, SEARCH, random.choice(bodies))

    def enrich(self, stop: threading.Event) -> None:
        """Every lead is there all the time; those that nobody changes say what they always said."""
        choose = random.Random(9)
        with self.client() as client:
            while not stop.wait(PAUSE_S):
                domains = [*choose.sample(self._orders["domain"], 20), *choose.sample(self._changing, 5)]
                made = self._post(client, ENRICH, {"domains": domains, "select": ["title"]})
                for item in made["results"] if made else []:
                    domain = item["domain"]
                    title = item.get("data", {}).get("title")
                    if item["status"] != "success" or title != self._titles.get(domain, title):
                        self._seen.wrong.append(f"enrichment: {item}")

    def missing(self, newest: dict[str, int]) -> list[str]:
        """Leads whose newest version the service does not show."""
        wrong = []
        domains = sorted(newest)
        with self.client() as client:
            for start in range(0, len(domains), 100):
                part = {"domains": domains[start : start + 100], "select": ["crawled_at"]}
                for item in (self._post(client, ENRICH, part) or {"results": []})["results"]:
                    newest_crawl = moment_text(newest[item["domain"]])
                    if item["status"] != "success" or item["data"]["crawled_at"] != newest_crawl:
                        wrong.append(f"{item}, expected {newest_crawl}")
        return wrong


def _difference(expected: list[str], found: list[str]) -> str:
    counted = Counter(found)
    lost = [domain for domain in expected if domain not in counted]
    doubled = [domain for domain, times in counted.items() if times > 1]
    return f"{len(lost)} lost {lost[:3]}, {len(doubled)} doubled {doubled[:3]}, {len(found)} of {len(expected)}"


@contextmanager
def going_on(actions: list[Action], seen: Seen) -> Iterator[threading.Event]:
    """Run all at the same time, each in a thread, until the block ends."""
    stop = threading.Event()

    def guarded(action: Action) -> None:
        try:
            action(stop)
        except Exception as error:
            seen.wrong.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    try:
        yield stop
    finally:
        stop.set()
        for thread in threads:
            thread.join()
