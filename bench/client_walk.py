"""The Python client at full size: a walk over lines that are cut, by processes that are killed; and what it costs.

Each lead must be in the file once, and the credits must be the leads with an address. Then it compares the time of a
walk with the client and one with bare httpx requests that send and read the same. They take turns, page by page.

python -m bench.client_walk --leads 50000 --cuts 30 --kills 10
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from bench.common import SECRET, SEED, bench_settings, demo_file, spread, write_result
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.settings import Settings
from siteglass_client import Siteglass
from testing import killed_walks
from testing.accounts import drop_schema
from testing.customers import Bank, Customer
from testing.cutting_proxy import KINDS, CuttingProxy
from testing.progress import say
from testing.service import ServiceProcess, fill

PAGE = 100
PURSE = 10**9
ROUNDS = 7
MEASURED_PAGES = 100
AIM = 1.10
FINISH_S = 900


@contextlib.contextmanager
def _service(path: Path) -> Iterator[tuple[Settings, ServiceProcess, Bank]]:
    """The leads in an index, and the service as a separate process; both gone afterwards."""
    settings = replace(bench_settings("client"), cursor_secrets=(SECRET,), key_secrets=(SECRET,))
    service = ServiceProcess(settings, with_account=False)
    try:
        say("loading")
        fill(settings, path)
        service.start()
        bank = Bank(settings, service.url)
        try:
            yield settings, service, bank
        finally:
            bank.close()
    finally:
        service.kill()
        with httpx.Client(base_url=settings.opensearch_urls[0], timeout=30, trust_env=False) as engine:
            for row in engine.get(f"/_cat/indices/{settings.index_prefix}*", params={"format": "json"}).json():
                engine.delete(f"/{row['index']}")
        asyncio.run(drop_schema(settings.postgres_dsn, settings.postgres_schema))


def _customer(bank: Bank) -> Customer:
    return bank.customer(api=PURSE, lead=PURSE)


def _interrupted(bank: Bank, service: ServiceProcess, leads: list[Lead], cuts: int, kills: int) -> dict[str, Any]:
    """A walk to a file through all that can break it, and whether all is there and paid once."""
    chance = random.Random(SEED)
    pages = -(-len(leads) // PAGE)
    numbers = chance.sample(range(2, pages), cuts)
    stops = sorted(chance.sample(range(1, pages - 1), kills))
    customer = _customer(bank)
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        CuttingProxy(
            service.port, {number: KINDS[place % len(KINDS)] for place, number in enumerate(numbers)}
        ) as proxy,
    ):
        output, resume = Path(folder) / "leads.jsonl", Path(folder) / "leads.resume"

        def walker(number: int) -> Any:
            how = ("sync", "async")[number % 2]
            return killed_walks.start(how, "jsonl", output, resume, PAGE, customer.key, proxy.url)

        killed = 0
        for number, (stop, before) in enumerate(zip(stops, [0, *stops], strict=False)):
            killed += killed_walks.kill_after(walker(number), stop - before, killed_walks.some_delay_s(chance, 0.05))
            say(f"killed {killed} times, cut {len(proxy.cut)} times")
        killed_walks.finish(walker(kills), FINISH_S)
        domains = [json.loads(line)["domain"] for line in output.read_bytes().splitlines()]
        cut = {kind: proxy.cut.count(kind) for kind in KINDS}
        sizes = {"file_bytes": output.stat().st_size, "resume_bytes": resume.stat().st_size}
    customer.verified()
    spent = PURSE - customer.balance()[1]
    return {
        "leads": len(leads),
        "pages": pages,
        "killed": killed,
        "cut": cut,
        "requests": proxy.requests,
        "rows": len(domains),
        "each_lead_once_and_in_order": domains == sorted(lead.domain for lead in leads),
        "lead_credits": spent,
        "leads_with_address": sum(bool(lead.emails) for lead in leads),
        "seconds": round(time.monotonic() - started, 1),
        **sizes,
    }


def _bare(url: str, key: str, *, named: bool) -> Iterator[Any]:
    """The leads of a walk with httpx alone; `named`: with an Idempotency-Key, as the client always sends."""
    path, body = "/v1/leads/search", {"sort": "domain", "limit": PAGE}
    with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=30) as client:
        while path:
            headers = {"Idempotency-Key": str(uuid.uuid4())} if named else {}
            page = client.post(path, json=body, headers=headers).raise_for_status().json()
            yield from page["results"]
            path, body = page["next"], {}


def _client(url: str, key: str, resume: Path | None) -> Iterator[Any]:
    """The leads of a walk with the client."""
    with Siteglass(key, url) as client:
        yield from client.search(sort="domain", limit=PAGE, resume=resume)


def _round(walks: dict[str, Iterator[Any]]) -> dict[str, tuple[float, float]]:
    """Wall and CPU time of each walk, in turns page by page, so that other work on this machine slows all of them."""
    took = dict.fromkeys(walks, (0.0, 0.0))
    names = list(walks)
    for number in range(MEASURED_PAGES):
        place = number % len(names)
        for name in names[place:] + names[:place]:  # the first walk warms the engine's caches for the others
            wall, cpu = time.perf_counter(), time.process_time()
            leads = sum(1 for _lead in itertools.islice(walks[name], PAGE))
            spent = took[name]
            took[name] = (spent[0] + time.perf_counter() - wall, spent[1] + time.process_time() - cpu)
            if leads != PAGE:
                raise SystemExit(f"{name}: page {number} has {leads} leads; give more --leads")
    return took


def _overhead(bank: Bank, service: ServiceProcess) -> dict[str, Any]:
    """Times of walks of the same pages, and how they compare within a round; the first round warms up."""
    url, key = service.url, _customer(bank).key
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS + 1):
            walks = {
                "bare": _bare(url, key, named=True),
                "client": _client(url, key, None),
                "bare_without_idempotency_key": _bare(url, key, named=False),
                "client_with_resume_file": _client(url, key, Path(folder) / f"{number}.resume"),
            }
            rounds.append(_round(walks))
            say(f"round {number} of {ROUNDS}")
    measured = rounds[1:]
    ratios = [took["client"][0] / took["bare"][0] for took in measured]
    return {
        "pages": MEASURED_PAGES,
        "rounds": ROUNDS,
        "median_s": {name: round(statistics.median(took[name][0] for took in measured), 3) for name in rounds[0]},
        "median_cpu_s": {name: round(statistics.median(took[name][1] for took in measured), 3) for name in rounds[0]},
        "client_to_bare": {"of_each_round": [round(ratio, 3) for ratio in ratios], **spread(ratios)},
        "aim": AIM,
    }


def run(leads: int, cuts: int, kills: int) -> dict[str, Any]:
    """All figures."""
    path = demo_file(leads)
    stored = [lead for _, group in read_parquet(path) for lead in group]
    with _service(path) as (_settings, service, bank):
        walk = _interrupted(bank, service, stored, cuts, kills)
        return {"interrupted_walk": walk, "overhead": _overhead(bank, service)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leads", type=int, default=50_000)
    parser.add_argument("--cuts", type=int, default=30)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--keep", action="store_true", help="write the result beside the others")
    given = parser.parse_args()
    figures = run(given.leads, given.cuts, given.kills)
    command = f"python -m bench.client_walk --leads {given.leads} --cuts {given.cuts} --kills {given.kills}"
    write_result("client", figures, command, keep=given.keep)
    walk = figures["interrupted_walk"]
    if not walk["each_lead_once_and_in_order"] or walk["lead_credits"] != walk["leads_with_address"]:
        raise SystemExit("a lead is missing, came twice, or was paid twice")


if __name__ == "__main__":
    main()
