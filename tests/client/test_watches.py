"""Watches with the client, the command line and agents: created, run, read, changed and deleted."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from siteglass import app
from siteglass.corpus.lead import Lead
from siteglass_client import AsyncSiteglass, NotFound, WatchRun
from testing.customers import Bank, Customer
from testing.service import RUN_PREFIX, add, filled, serving
from tests.client.agents import over_stdio
from tests.client.commanding import Desk
from tests.client.conftest import Connect

NAME = "germany"


def lead_in_berlin(domain: str, number: int) -> Lead:
    """A lead with the number that the lead store would give it."""
    emails = (f"a@{domain}",)
    return Lead(
        domain=domain, crawled_at_ms=1_790_000_000_000, emails=emails, country="DEU", city="Berlin", lead_no=number
    )


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """A service with tables of its own: no service of another test takes its watches."""
    prefix = f"client-watches-{secrets.token_hex(4)}"
    settings = filled(prefix, [lead_in_berlin("first.de", 1)], tmp_path_factory.mktemp("watches"))
    settings = replace(settings, postgres_schema=f"{RUN_PREFIX}_{prefix.replace('-', '_')}")
    with pytest.MonkeyPatch.context() as fast:
        fast.setattr(app, "RUN_WATCHES_EVERY_S", 0.05)
        with serving(settings) as client:
            made = Bank(settings, str(client.base_url))
            yield made
            made.close()


def test_everywhere(bank: Bank, customer: Customer, connect: Connect, desk: Desk, tmp_path: Path) -> None:
    client = connect(customer)

    def ran(count: int) -> list[WatchRun]:
        """The runs, once there are so many."""
        deadline = time.monotonic() + 30
        while len(found := client.watch_runs(NAME)) < count:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return found

    async def alike() -> None:
        async with AsyncSiteglass(customer.key, bank.base_url) as other:
            assert await other.watches() == client.watches()
            assert await other.watch_runs(NAME) == client.watch_runs(NAME)
            assert await other.watch_run(NAME, run.run) == client.watch_run(NAME, run.run)
            assert (await other.change_watch(NAME, paused=False)).next_run_at is not None
            await other.delete_watch(NAME)
            assert (await other.create_watch(NAME, hour=3)).hour == 3

    with customer.untouched():
        client.search(filters={"country": "DEU"}).save(NAME)
        created = client.create_watch(NAME, every="day", hour=7, time_zone="Europe/Berlin")
        assert (created.search, created.every, created.weekday, created.hour) == (NAME, "day", None, 7)
        assert ran(1)[0].outcome == "baseline"
        add(bank.settings, [lead_in_berlin("second.de", 900)], tmp_path)
        bank.do(bank.postgres.fetch("UPDATE {schema}.watches SET next_run_at = 'epoch'"))
        run = ran(2)[0]
        assert (run.outcome, run.matches, run.new_leads) == ("compared", 2, 1)
        (lead,) = client.watch_run(NAME, run.run).leads
        assert (lead.domain, lead.place, lead.contacts) == ("second.de", "Berlin, Germany", "1 email")

        (shown,) = desk.run("watch", "show").json
        assert (shown["search"], shown["time_zone"]) == (NAME, "Europe/Berlin")
        assert [each["run"] for each in desk.run("watch", "runs", NAME).json] == [each.run for each in ran(2)]
        assert desk.run("watch", "leads", NAME, str(run.run)).json["leads"] == [dict(lead)]
        for words, said in (
            (("show",), "every day at 7:00"),
            (("runs", NAME), "compared"),
            (("leads", NAME, str(run.run)), "second.de"),
            (("change", NAME, "--every", "week", "--weekday", "friday", "--no-mail"), "every friday at 7:00"),
        ):
            code, text = desk.on_terminal("watch", *words)
            assert (code, said in text) == (0, True), text
        assert desk.run("watch", "change", NAME, "--pause").json["next_run_at"] is None
        with over_stdio(desk, tmp_path / "log.txt") as agent:
            (seen,) = agent.call("watches")["watches"]
            assert (seen["search"], seen["weekday"], seen["hour"], seen["paused"]) == (NAME, "friday", 7, True)
            newest, oldest = agent.call("watch_runs", name=NAME)["runs"]
            assert (newest["new_leads"], newest["list"], oldest["outcome"]) == (1, run.list, "baseline")
            assert agent.call("count", filters={"only_lists": [newest["list"]]}) == {"total_results": 1}
            asyncio.run(alike())
            assert desk.run("watch", "delete", NAME).err == f"The watch on {NAME} is deleted.\n"
            assert agent.call("watch_search", name=NAME)["weekday"] == "monday"
        client.delete_watch(NAME)
        assert desk.run("watch", "create", NAME).json["every"] == "week"
        client.delete_watch(NAME)
        with pytest.raises(NotFound):
            client.watch_runs(NAME)
