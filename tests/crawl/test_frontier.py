"""The frontier: each domain to one fetcher, leases that end, steps of lost leases left out, plans that use indexes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import orjson
import pytest

from siteglass.crawl.frontier import FULL_AFTER, TAKE, TAKEN_ADDRESSES, Frontier
from siteglass.crawl.results import Finish, Found, Kind, KnownPage, RobotsText, Step
from siteglass.settings import Settings, load_settings
from testing.service import RUN_PREFIX

HOME = Found("https://a.org/", Kind.HOME)
SITES = 100_000
CONTACT = Found("https://a.org/contact", Kind.KEY_PAGE)


@pytest.fixture
def settings() -> Settings:
    return replace(load_settings(), crawl_schema=f"{RUN_PREFIX}_f{time.time_ns():x}"[:60], crawl_lease_s=1)


@asynccontextmanager
async def frontiers(settings: Settings) -> AsyncIterator[tuple[Frontier, Frontier, asyncpg.Connection[Any]]]:
    """Of two fetchers, and a connection to look."""
    made = await Frontier.open(settings), await Frontier.open(settings)
    connection = await asyncpg.connect(settings.crawl_dsn, timeout=10)
    try:
        yield *made, connection
    finally:
        await connection.execute(f"DROP SCHEMA {settings.crawl_schema} CASCADE")
        await connection.close()
        for frontier in made:
            await frontier.close()


def step(**changes: Any) -> Step:
    return Step(**{"domain": "a.org", "delay_ms": 2_000, **changes})


@pytest.mark.promise("setting.crawl_lease_s")
def test_a_lost_lease(settings: Settings) -> None:
    """What a killed fetcher acknowledged is known to the next; what it says after its lease is not."""

    async def scene() -> None:
        async with frontiers(settings) as (first, second, _):
            await first.add(["a.org", "b.org"], datetime.now(UTC))
            taken, others = await first.take(1), await second.take(5)
            assert [len(taken), len(others)] == [1, 1]
            assert {one.domain for one in taken + others} == {"a.org", "b.org"}
            mine, theirs = (first, second) if taken[0].domain == "a.org" else (second, first)
            assert await mine.left() == (0, 2)
            robots = RobotsText(origin="https://a.org", status=200, content=b"User-agent: *")
            await mine.acknowledge([step(done=(HOME.url, 200), found=(CONTACT,), robots=robots, sent=2)])
            assert await theirs.robots("https://a.org") == robots
            assert await mine.renew(["a.org", "b.org"]) == {"a.org"}

            await asyncio.sleep(1.1)
            again = {one.domain: one for one in await theirs.take(5)}["a.org"]
            assert (again.wanted, again.has_home) == ((CONTACT,), True)
            assert again.seen == {HOME.url}
            assert (again.delay_ms, again.sent_today) == (2_000, 2)
            await mine.acknowledge([step(done=(CONTACT.url, 500), finished=Finish(timedelta(days=9), True))])
            assert await mine.renew(["a.org"]) == set()
            await theirs.acknowledge([step(done=(CONTACT.url, 200), finished=Finish(timedelta(0), False), sent=1)])

            (anew,) = [one for one in await mine.take(5) if one.domain == "a.org"]
            assert (anew.wanted, anew.seen, anew.failures, anew.sent_today) == ((), frozenset(), 0, 3)

    asyncio.run(scene())


def test_what_is_known_of_pages_belongs_to_a_facts_store(settings: Settings) -> None:
    """A new store, or one elsewhere, has none of the pages: all of them are fetched as a whole."""
    now = datetime.now(UTC)
    fresh, old = KnownPage("0" * 16, now, '"1"', "today"), KnownPage("1" * 16, now - FULL_AFTER)
    home, contact = step(done=(HOME.url, 200), page=fresh), step(done=(CONTACT.url, 200), page=old)

    async def scene() -> None:
        async with frontiers(settings) as (_, elsewhere, _):
            ours = await Frontier.open(settings, store=1)
            await ours.add(["a.org"], now)
            await ours.take(1)
            await ours.acknowledge([step(found=(CONTACT,))])
            await ours.acknowledge([home, contact])
            await ours.acknowledge([step(finished=Finish(timedelta(0), False))])
            (again,) = await ours.take(1)
            assert (again.known, again.earlier) == ({HOME.url: fresh}, (CONTACT,))
            await ours.acknowledge([home, step(finished=Finish(timedelta(0), False, is_changed=True))])
            (other,) = await elsewhere.take(1)
            # The contact page was not fetched again, so it is forgotten.
            assert (other.known, other.earlier) == ({}, ())
            await elsewhere.acknowledge([step(finished=Finish(timedelta(0), False, is_partial=True))])
            (partial,) = await ours.take(1)
            assert partial.known == {}
            await ours.close()

    asyncio.run(scene())


def test_a_domain_that_is_forgotten_leaves_nothing(settings: Settings) -> None:
    async def scene() -> None:
        async with frontiers(settings) as (frontier, _, connection):
            now = datetime.now(UTC)
            assert await frontier.add(["a.org", "b.org"], now, ("some list", "CC0-1.0")) == 2
            assert await frontier.add(["a.org", "c.org"], now, ("another", "")) == 1
            await frontier.take(3)
            robots = RobotsText(origin="https://shop.a.org", status=200)
            found = (CONTACT, Found("https://shop.a.org/x?y", Kind.KEY_PAGE))
            await frontier.acknowledge([step(found=found, robots=robots)])
            status = await frontier.status()
            assert (status.domains, status.visited, status.due, status.leased) == (3, 0, 0, 3)
            assert await frontier.forget("a.org")
            assert not await frontier.forget("a.org")
            await frontier.acknowledge([step(done=(HOME.url, 200))])  # of a visit under way
            left = {
                table: await connection.fetchval(f"SELECT count(*) FROM {settings.crawl_schema}.{table}")
                for table in ("domains", "addresses", "robots")
            }
            assert left == {"domains": 2, "addresses": 0, "robots": 0}
            sources = await connection.fetch(
                f"SELECT domain, name, licence FROM {settings.crawl_schema}.domains"
                f" LEFT JOIN {settings.crawl_schema}.sources USING (source) ORDER BY domain"
            )
            assert [tuple(row) for row in sources] == [("b.org", "some list", "CC0-1.0"), ("c.org", "another", "")]

    asyncio.run(scene())


def test_plans_of_hot_statements_use_indexes(settings: Settings) -> None:
    async def scene() -> list[str]:
        async with frontiers(settings) as (_, _, connection):
            schema = settings.crawl_schema
            # As with millions of domains, of which few are due. Smaller tables are faster read as a whole.
            await connection.execute(
                f"""
                INSERT INTO {schema}.domains (domain, next_at, delay_ms)
                SELECT format('site%s.org', n), now() + (n - 50) * interval '1 minute', 0
                FROM generate_series(1, {SITES}) AS n;
                INSERT INTO {schema}.addresses (domain, url, kind, hops, wanted)
                SELECT domain, 'https://' || domain || '/', 0, 0, true FROM {schema}.domains
                """
            )
            for table in ("domains", "addresses"):
                await connection.execute(f"ANALYZE {schema}.{table}")
            await connection.execute("SET random_page_cost = 1.1")  # of an SSD
            names = [f"site{number}.org" for number in range(20)]
            scans = []
            for statement, arguments in ((TAKE, [1, 20, timedelta(1)]), (TAKEN_ADDRESSES, [names, 1, FULL_AFTER])):
                text = f"EXPLAIN (FORMAT JSON) {statement.replace('{schema}', schema)}"
                plan = await connection.fetchval(text, *arguments)
                scans += [
                    f"{node['Node Type']} {node.get('Relation Name', '')}"
                    for node in _nodes(orjson.loads(plan)[0]["Plan"])
                ]
            size = await connection.fetchval(
                f"SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('{schema}.domains') WHERE isleaf"
            )
            assert size / SITES < 300
            return scans

    scans = asyncio.run(scene())
    assert [scan for scan in scans if scan.startswith("Seq Scan")] == []
    assert "LockRows " in scans


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in _nodes(child))]
