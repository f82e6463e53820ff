"""A trade and a country become leads: nearly all that can be found, no trap fetched, whatever is killed.

`make long-fill` runs it with 20,000 places, 500 traps and ten kills; after an interruption it continues.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import subprocess
import time
import zlib
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import msgspec
import pytest

from siteglass.settings import Settings, environment_of
from siteglass.suppression import entries
from siteglass.suppression.values import Kind
from testing.accounts import drop_schema
from testing.findable import EXCLUDED, FORBIDDING, INTERNAL, NOINDEX, OPTED_OUT, Dentist, StandIn, stand_in
from testing.overture import write_places
from testing.progress import say
from testing.service import make_test_account, run, serving
from tests.crawl.conftest import SITEGLASS, Web, drop_frontier, siteglass

pytestmark = pytest.mark.private_engines
LONG = bool(os.environ.get("SITEGLASS_LONG"))
PLACES, TRAPS, KILLS = (20_000, 500, 10) if LONG else (80, 12, 1)
# Of the kills; the others come while leads are made of the pages.
WHILE_FETCHING = 0.6
# Sites that share an address wait for each other.
NETWORK, ADDRESSES = f"127.{20 + os.getpid() % 200}.9", 40 if LONG else 2
RELEASE = "release/2026-10-21.0/theme=places/type=place"
FOLDER = Path("var/fill-country")
MIN_RECALL = 0.95
FIELDS = ["domain", "business_name", "city", "phones", "phones_detail", "trades"]


class Progress(msgspec.Struct):
    """What an interrupted run leaves to the next one."""

    kills: int = 0
    plain: dict[str, Any] = {}
    requests: set[tuple[str, str]] = set()


def test_findable_dentists_become_leads_and_no_trap_is_fetched(
    web: Web, crawl_settings: Settings, tmp_path: Path
) -> None:
    folder = FOLDER.resolve() if LONG else tmp_path
    made = stand_in(PLACES, TRAPS)
    _serve(web, made)
    folder.mkdir(parents=True, exist_ok=True)
    write_places(folder / RELEASE / "part-0.parquet", "taxonomy", made.rows)
    (folder / "excluded.txt").write_text("\n".join(sorted(made.traps[EXCLUDED])))
    settings = replace(
        crawl_settings,
        outgoing_allowed=(f"{NETWORK}.0/24",),
        crawl_excluded=str(folder / "excluded.txt"),
        crawl_lease_s=2,
        refresh_domains_per_day=0,
    )
    if LONG:  # the next run must find what this one leaves
        settings = replace(settings, index_prefix="fill-country", postgres_schema="fill_country")
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    _opt_out(settings, made)
    path = folder / "progress.json"
    done = msgspec.json.decode(path.read_bytes(), type=Progress) if path.exists() else Progress()
    killed = _other(settings, "killed")
    try:
        with ExitStack() as listening:
            for number in range(ADDRESSES):
                listening.enter_context(web.listen(f"{NETWORK}.{number}"))
            if not done.plain:
                done.plain = _filled(_other(settings, "plain"), folder, done, None)
            leads = _filled(killed, folder, done, web)
        sources = asyncio.run(_sources(killed))
    finally:
        done.requests |= {(request.host, request.path) for request in web.requests}
        path.write_bytes(msgspec.json.encode(done))
        if not LONG:
            _clear(settings)

    right = {domain for domain, dentist in made.findable.items() if _is_right(leads.get(domain), domain, dentist)}
    say(f"{len(right)} of {len(made.findable)} findable dentists are right leads, {len(leads)} leads")
    assert len(right) >= MIN_RECALL * len(made.findable), sorted(made.findable.keys() - right)[:10]
    assert all(sources[name] == ("overture 2026-10", one.licence) for name, one in made.findable.items())
    assert made.traps[NOINDEX].isdisjoint(leads)
    _check_requests(done.requests, made)
    assert leads == done.plain
    if LONG:
        _clear(settings)
        shutil.rmtree(folder)


def _clear(settings: Settings) -> None:
    for name in ("plain", "killed"):
        asyncio.run(drop_frontier(_other(settings, name)))
    if LONG:  # otherwise the end of the session does it
        asyncio.run(drop_schema(settings.postgres_dsn, settings.postgres_schema))
        with httpx.Client(base_url=settings.opensearch_urls[0], timeout=30, trust_env=False) as engine:
            for row in engine.get(f"/_cat/indices/{settings.index_prefix}*", params={"format": "json"}).json():
                engine.delete(f"/{row['index']}")


def _serve(web: Web, made: StandIn) -> None:
    for address, page in made.pages.items():
        web.say(address, page, Content_Type="text/plain" if address.endswith(".txt") else "text/html; charset=utf-8")
        host = address.partition("/")[0]
        web.names.say(host, "A", [f"{NETWORK}.{zlib.crc32(host.encode()) % ADDRESSES}"])
    for host in made.traps[INTERNAL]:
        web.names.say(host, "A", ["127.0.0.1"])  # where the same sites are, so that a request would be noticed


def _opt_out(settings: Settings, made: StandIn) -> None:
    async def add(index: Any) -> None:
        pairs = [(Kind.DOMAIN, host.encode()) for host in made.traps[OPTED_OUT]]
        await entries.add(index.postgres, pairs, reason="asked to be left out", actor="tests")

    run(settings, add)


def _other(settings: Settings, name: str) -> Settings:
    """An installation of its own on the same engines."""
    schema = f"{settings.crawl_schema}_{name}" if not LONG else f"fill_country_{name}"
    return replace(
        settings,
        index_prefix=f"{settings.index_prefix}-{name}",
        redis_prefix=f"{settings.redis_prefix}-{name}",
        crawl_schema=schema,
        lead_store=settings.lead_store.with_name(f"leads-{name}") if not LONG else FOLDER.resolve() / f"leads-{name}",
    )


def _filled(settings: Settings, folder: Path, done: Progress, web: Web | None) -> dict[str, Any]:
    """The leads after `fill places` and `refresh run`, which is killed again and again if there is a web to watch."""
    work = folder / settings.index_prefix.rpartition("-")[2]
    where = ["--work", str(work)]
    places = ["--country", "AUT", "--trade", "dentist", "--from", str(folder / RELEASE)]
    siteglass(settings, "fill", "places", *places, *where)
    command = [str(SITEGLASS), "refresh", "run", *where, "--promote", "--workers", "1"]
    choice = random.Random(done.kills)
    asyncio.run(_end_lease(settings))  # of an interrupted run
    while web is not None and done.kills < KILLS:
        done.kills += 1
        with subprocess.Popen(
            command,
            env={**os.environ, **environment_of(settings)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            if done.kills <= max(1, KILLS * WHILE_FETCHING):
                _wait_for_requests(web, process, 4 * PLACES // 100)
            else:
                _wait_for_archives(work, process)
                time.sleep(choice.uniform(0, 60 if LONG else 3))
            say(f"kill {done.kills} of {KILLS} after {len(web.requests)} requests")
            process.kill()
        asyncio.run(_end_lease(settings))
    started = time.monotonic()
    siteglass(settings, *command[1:])
    say(f"the last run of {work.name} took {time.monotonic() - started:.0f} s")
    found: dict[str, Any] = {}
    with serving(settings) as client:
        path, body = "/v1/leads/search", {"select": FIELDS, "sort": "domain", "limit": 100}
        while path:
            page = client.post(path, json=body).raise_for_status().json()
            found |= {lead["domain"]: _without_times(lead) for lead in page["results"]}
            path, body = page["next"], {}
    return found


def _without_times(lead: dict[str, Any]) -> dict[str, Any]:
    details = [[detail["value"], detail["page"]] for detail in lead["phones_detail"]]
    return {**{name: lead[name] for name in FIELDS}, "phones_detail": details}


def _wait_for_requests(web: Web, process: subprocess.Popen[bytes], count: int) -> None:
    seen = len(web.requests)
    while len(web.requests) < seen + count and process.poll() is None:
        time.sleep(0.02)


def _wait_for_archives(work: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the pages are fetched."""
    while process.poll() is None:
        if any((work / "archives").glob("*.warc.gz")) and not any((work / "archives").glob("*.open")):
            return
        time.sleep(0.05)


async def _end_lease(settings: Settings) -> None:
    """As if the minute had passed that the lease of a killed run lasts."""
    connection = await asyncpg.connect(settings.postgres_dsn, timeout=10)
    await connection.execute(
        f"UPDATE {settings.postgres_schema}.job_leases SET due_at = now() WHERE name = $1",
        f"{settings.index_prefix}: refresh",
    )
    await connection.close()


async def _sources(settings: Settings) -> dict[str, tuple[str, str]]:
    """The domains of the frontier, each with its source and licence."""
    connection = await asyncpg.connect(settings.crawl_dsn, timeout=10)
    rows = await connection.fetch(
        f"SELECT domain, name, licence FROM {settings.crawl_schema}.domains"
        f" JOIN {settings.crawl_schema}.sources USING (source)"
    )
    await connection.close()
    return {row["domain"]: (row["name"], row["licence"]) for row in rows}


def _is_right(lead: dict[str, Any] | None, domain: str, dentist: Dentist) -> bool:
    """Name, city and phone, and where the phone is from: a page of the site, or the place with its licence."""
    if lead is None:
        return False
    said_by = [page for _, page in lead["phones_detail"]]
    return (
        (lead["business_name"], lead["city"], lead["phones"]) == (dentist.name, dentist.city, [dentist.phone])
        and "dentist" in lead["trades"]
        and all(
            re.match(rf"http://{domain}/", page) or page == f"Overture, 2026-10, {dentist.licence}" for page in said_by
        )
    )


def _check_requests(requests: set[tuple[str, str]], made: StandIn) -> None:
    """By the log of the made-up web."""
    paths = defaultdict(set)
    for host, path in requests:
        paths[host].add(path)
    assert all(paths.pop(host) == {"/robots.txt"} for host in made.traps[FORBIDDING])
    # That a home page says `noindex` is known when it was fetched.
    for host in made.traps[NOINDEX]:
        assert paths.pop(host) <= {"/robots.txt", "/", "/sitemap.xml"}
    assert set(paths) == set(made.findable)
