"""Watches: created, run, read and deleted, over leads that come and go."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from siteglass import app
from siteglass.access import lifecycle
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index.lead_numbers import match_numbers
from siteglass.leads.watches import runs
from siteglass.leads.watches.running import WatchRunner
from siteglass.leads.watches.runs import DueWatch, Found, Runs
from siteglass.privacy import opt_out
from siteglass.settings import Settings
from siteglass.suppression.values import read_value
from testing.api_calls import SEARCH, answered, bad_fields, refused
from testing.customers import Bank, Customer
from testing.service import RUN_PREFIX, add, fill, filled, run, serving

WATCHES = "/v1/watches"
CRAWLED_MS = 1_790_000_000_000
OLD = [
    Lead(domain=f"known-{number}.com", crawled_at_ms=CRAWLED_MS, emails=(f"a@known-{number}.com",), country="DEU")
    for number in range(3)
]


def new_lead(number: int, **facts: Any) -> Lead:
    """A lead that is added later, with the number that the lead store would give it."""
    lead = Lead(
        domain=f"new-{number}.com",
        crawled_at_ms=CRAWLED_MS,
        business_name=f"New {number}",
        emails=(f"a@new-{number}.com",),
        country="DEU",
        lead_no=100 + number,
    )
    return msgspec.structs.replace(lead, **facts)


@dataclass(frozen=True)
class Scene:
    """A service whose leads a test changes, and which runs watches as soon as they are due."""

    bank: Bank
    settings: Settings
    folder: Path

    def add(self, *leads: Lead) -> None:
        add(self.settings, list(leads), self.folder)

    def rebuild(self, *leads: Lead) -> None:
        """A new generation with the old leads and these, promoted."""
        old = [msgspec.structs.replace(lead, lead_no=number) for number, lead in enumerate(OLD, 1)]
        path = self.folder / "rebuilt.parquet"
        write_parquet(path, [*old, *leads])
        fill(self.settings, path)

    def due(self) -> None:
        """Make all watches due now."""
        self.bank.do(self.bank.postgres.fetch("UPDATE {schema}.watches SET next_run_at = 'epoch'"))

    def runs(self, customer: Customer, name: str, count: int) -> list[dict[str, Any]]:
        """The runs of a watch, once there are so many."""
        deadline = time.monotonic() + 30
        while True:
            found: list[dict[str, Any]] = answered(customer.client.get(f"{WATCHES}/{name}/runs"))["runs"]
            if len(found) >= count:
                assert len(found) == count
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    def run_again(self, customer: Customer, name: str) -> dict[str, Any]:
        """The next run of a watch."""
        before = len(answered(customer.client.get(f"{WATCHES}/{name}/runs"))["runs"])
        self.due()
        return self.runs(customer, name, before + 1)[0]

    def leads(self, customer: Customer, ran: dict[str, Any]) -> list[str]:
        """The domains of the new leads of a run, by a search that names its list."""
        body = {"only_lists": [ran["list"]], "sort": "domain", "limit": 100}
        return [record["domain"] for record in answered(customer.post(SEARCH, body))["results"]]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A service with tables of its own: no service of another test takes its watches."""
    monkeypatch.setattr(app, "RUN_WATCHES_EVERY_S", 0.05)
    name = f"watches-{secrets.token_hex(4)}"
    settings = replace(filled(name, OLD, tmp_path), postgres_schema=f"{RUN_PREFIX}_{name.replace('-', '_')}")
    with serving(settings) as client:
        bank = Bank(settings, str(client.base_url))
        yield Scene(bank, settings, tmp_path)
        bank.close()


def watched(customer: Customer, name: str, search: dict[str, Any], **terms: Any) -> dict[str, Any]:
    """A watch on a new saved search."""
    answered(customer.post("/v1/searches", {"name": name, "search": search}))
    return answered(customer.post(WATCHES, {"search": name, **terms}))


@pytest.mark.promise("route.POST /v1/watches", "route.GET /v1/watches/{name}/runs", "watch.new")
def test_a_watch_reports_what_is_new_once(scene: Scene) -> None:
    customer = scene.bank.customer(lead=100)
    with customer.untouched():
        shown = watched(customer, "german", {"country": "DEU"}, every="day", hour=9, time_zone="Europe/Berlin")
        assert (shown["filters"], shown["last_run_at"]) == ({"country": "DEU"}, None)
        (baseline,) = scene.runs(customer, "german", 1)
        assert (baseline["outcome"], baseline["matches"], baseline["new_leads"]) == ("baseline", 3, 0)
        scene.add(new_lead(1), new_lead(2), new_lead(3, country="FRA"))
        second = scene.run_again(customer, "german")
        third = scene.run_again(customer, "german")
    assert (second["outcome"], second["matches"], second["new_leads"]) == ("compared", 5, 2)
    assert (third["matches"], third["new_leads"], third["list"]) == (5, 0, None)
    assert scene.leads(customer, second) == ["new-1.com", "new-2.com"]
    # A lead that leaves the matches and comes back is not new again; one that changes so that it matches is new.
    later = CRAWLED_MS + 1
    scene.add(new_lead(1, country="FRA", crawled_at_ms=later), new_lead(3, crawled_at_ms=later))
    fourth = scene.run_again(customer, "german")
    assert (fourth["matches"], scene.leads(customer, fourth)) == (5, ["new-3.com"])
    scene.add(new_lead(1, crawled_at_ms=later + 1))
    fifth = scene.run_again(customer, "german")
    assert (fifth["matches"], fifth["new_leads"]) == (6, 0)


@pytest.mark.promise("watch.lists")
def test_lists_apply_when_it_reports(scene: Scene) -> None:
    customer = scene.bank.customer(lead=100)
    answered(customer.post("/v1/lists", {"name": "ours", "domains": ["new-1.com", "known-0.com"]}))
    watched(customer, "german", {"country": "DEU", "exclude_lists": ["ours"]})
    assert scene.runs(customer, "german", 1)[0]["matches"] == 3
    scene.add(*map(new_lead, range(1, 5)))
    ran = scene.run_again(customer, "german")
    assert scene.leads(customer, ran) == ["new-2.com", "new-3.com", "new-4.com"]
    # What is excluded since then, or no longer matches, is not shown as new.
    answered(customer.post("/v1/lists/ours/domains", {"domains": ["new-3.com"]}))
    scene.add(new_lead(4, country="FRA", crawled_at_ms=CRAWLED_MS + 1))
    shown = answered(customer.client.get(f"{WATCHES}/german/runs/{ran['run']}"))
    assert ([lead["domain"] for lead in shown["leads"]], shown["more"]) == (["new-2.com"], 0)
    # A lead that leaves the list was seen before: it is not news.
    answered(customer.post("/v1/lists/ours/remove", {"domains": ["new-1.com", "known-0.com"]}))
    assert scene.run_again(customer, "german")["new_leads"] == 0
    answered(customer.client.delete("/v1/lists/ours"))
    assert scene.run_again(customer, "german")["outcome"] == "unreadable"


@pytest.mark.promise("watch.lists")
def test_a_lead_is_new_before_its_list_knows_its_number(scene: Scene) -> None:
    customer = scene.bank.customer(lead=100)
    answered(customer.post("/v1/lists", {"name": "prospects", "domains": ["new-1.com", "old-0.com"]}))
    watched(customer, "german", {"country": "DEU", "only_lists": ["prospects"]})
    scene.runs(customer, "german", 1)
    scene.add(new_lead(1), new_lead(2))
    assert scene.leads(customer, scene.run_again(customer, "german")) == ["new-1.com"]


@pytest.mark.promise("route.GET /v1/watches/{name}/runs/{run}", "watch.preview")
def test_the_new_leads_of_a_run_are_previews(scene: Scene) -> None:
    customer = scene.bank.customer(lead=100, plan=scene.bank.plan(10_000, 10_000, preview_leads_per_day=2))
    watched(customer, "german", {"country": "DEU"})
    scene.runs(customer, "german", 1)
    leads = [new_lead(number, score=10 + number, title=f"Call a@new-{number}.com") for number in range(4)]
    scene.add(*leads, new_lead(4, emails=(), score=90))
    path = f"{WATCHES}/german/runs/{scene.run_again(customer, 'german')['run']}"
    with customer.untouched():
        shown = answered(customer.client.get(path))
    # The lead without an address is free; two of the others are all that the plan shows in a day.
    assert [lead["domain"] for lead in shown["leads"]] == ["new-4.com", "new-3.com", "new-2.com"]
    assert (shown["new_leads"], shown["more"], "@" in str(shown["leads"])) == (5, 2, False)
    assert [lead["contacts"] for lead in shown["leads"]] == ["No email · free", "1 email", "1 email"]
    again = answered(customer.client.get(path))
    assert again == shown
    with_store = replace(scene.settings, lead_store=scene.folder)
    values = [read_value("new-3.com")]
    run(with_store, lambda index: opt_out.suppress(index, values, reason="asked to", actor="tests"))
    after = answered(customer.client.get(path))
    assert [lead["domain"] for lead in after["leads"]] == ["new-4.com", "new-2.com"]
    assert scene.leads(customer, after) == ["new-0.com", "new-1.com", "new-2.com", "new-4.com"]


@pytest.mark.promise("watch.reread")
def test_what_another_release_reads_differently_is_counted_apart(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    customer = scene.bank.customer(lead=100)
    scene.add(*(new_lead(number, country="FRA") for number in range(3)))
    watched(customer, "german", {"country": "DEU"})
    scene.runs(customer, "german", 1)
    now_ms = time.time_ns() // 1_000_000
    with monkeypatch.context() as small:
        small.setattr("siteglass.leads.watches.running.MAX_MATCHES", 2)
        assert scene.run_again(customer, "german")["outcome"] == "too_many"
    # The next release reads a page as German. Since the first run, an import said so of one site, another one was
    # crawled again, and a third one is new.
    monkeypatch.setattr(generations, "__version__", "99.0")
    scene.rebuild(new_lead(0, newest_fact_ms=now_ms), new_lead(1), new_lead(2, crawled_at_ms=now_ms), new_lead(3))
    ran = scene.run_again(customer, "german")
    assert (ran["matches"], ran["new_leads"], ran["reread"]) == (7, 3, 1)
    assert scene.leads(customer, ran) == ["new-0.com", "new-2.com", "new-3.com"]
    assert scene.run_again(customer, "german")["reread"] == 0


@pytest.mark.promise("watch.reread")
def test_a_rebuild_is_promoted_during_a_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    customer = scene.bank.customer()
    scene.add(new_lead(1, country="FRA"))
    watched(customer, "german", {"country": "DEU"})
    scene.runs(customer, "german", 1)
    monkeypatch.setattr(generations, "__version__", "99.0")
    rebuilds = iter([new_lead(1)])

    async def match_later(*given: Any) -> list[int]:
        if (lead := next(rebuilds, None)) is not None:
            await asyncio.to_thread(scene.rebuild, lead)
        return await match_numbers(*given)

    monkeypatch.setattr("siteglass.leads.watches.running.match_numbers", match_later)
    ran = scene.run_again(customer, "german")
    assert (ran["matches"], ran["new_leads"], ran["reread"]) == (4, 0, 1)


@pytest.mark.promise("watch.new")
def test_a_watch_that_fails_delays_no_other(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    find = WatchRunner._find

    async def fail_one(runner: WatchRunner, due: DueWatch) -> Found:
        if due.watch.name == "broken":
            raise ValueError
        return await find(runner, due)

    monkeypatch.setattr(WatchRunner, "_find", fail_one)
    monkeypatch.setattr(runs, "LEASE", timedelta(0))
    customer = scene.bank.customer()
    watched(customer, "broken", {"country": "DEU"})
    watched(customer, "german", {"country": "DEU"})
    assert scene.runs(customer, "german", 1)[0]["outcome"] == "baseline"
    assert answered(customer.client.get(f"{WATCHES}/broken/runs"))["runs"] == []


@pytest.mark.promise("route.POST /v1/watches/{name}", "watch.schedule")
def test_it_is_changed_and_paused(scene: Scene) -> None:
    customer = scene.bank.customer()
    assert watched(customer, "german", {"country": "DEU"})["weekday"] == "monday"
    scene.runs(customer, "german", 1)
    changed = answered(customer.post(f"{WATCHES}/german", {"every": "day", "hour": 7, "paused": True}))
    assert (changed["weekday"], changed["hour"], changed["next_run_at"]) == (None, 7, None)
    scene.add(new_lead(1))
    scene.due()
    time.sleep(0.5)
    scene.runs(customer, "german", 1)
    resumed = answered(customer.post(f"{WATCHES}/german", {"paused": False, "time_zone": "Asia/Tokyo"}))
    assert resumed["next_run_at"].endswith("T22:00:00Z")
    assert scene.run_again(customer, "german")["new_leads"] == 1
    # What does not say when it runs does not skip a run that is due.
    late = "UPDATE {schema}.watches SET next_run_at = 'epoch', leased_until = 'infinity'"
    scene.bank.do(scene.bank.postgres.fetch(late))
    changed = answered(customer.post(f"{WATCHES}/german", {"every": "day", "add_to_list": "bought"}))
    assert (changed["next_run_at"][:10], changed["add_to_list"]) == ("1970-01-01", "bought")


@pytest.mark.promise(
    "route.GET /v1/watches", "route.GET /v1/watches/{name}", "route.DELETE /v1/watches/{name}", "watch.seen"
)
def test_who_sees_it_and_how_it_ends(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    customer, stranger = scene.bank.customer(lead=10), scene.bank.customer()
    colleague = scene.bank.another(customer.account_id)
    shown = watched(customer, "german", {"country": "DEU"})
    scene.runs(customer, "german", 1)
    listed = answered(customer.client.get(WATCHES))["watches"]
    assert [one["search"] for one in listed] == ["german"]
    assert answered(customer.client.get(f"{WATCHES}/german"))["filters"] == shown["filters"]
    for other in (colleague, stranger):
        assert answered(other.client.get(WATCHES))["watches"] == []
        assert other.client.get(f"{WATCHES}/german/runs").status_code == 404
        assert other.client.delete(f"{WATCHES}/german").status_code == 404
    scene.add(new_lead(1))
    ran = scene.run_again(customer, "german")
    # A run is kept for 30 days; however many are deleted at once, all that are older go.
    old = """
        INSERT INTO {schema}.watch_runs (watch_id, outcome, ran_at, delivered_at)
        SELECT id, 'compared', now() - interval '31 days', now() FROM {schema}.watches, generate_series(1, $1)
    """
    scene.bank.do(scene.bank.postgres.fetch(old, 3))
    monkeypatch.setattr(runs, "FORGET_AT_ONCE", 2)
    scene.bank.do(Runs(scene.bank.postgres).forget_old())
    assert len(scene.runs(customer, "german", 2)) == 2
    # The list of a run is for searches of the account only.
    assert [one["name"] for one in answered(customer.client.get("/v1/lists"))["lists"] if not one["built_in"]] == []
    assert customer.client.get(f"/v1/lists/{ran['list']}/domains").status_code == 404
    refused(stranger.post(SEARCH, {"only_lists": [ran["list"]]}), 400, "INVALID_REQUEST")
    assert bad_fields(customer.client, {"name": "watch-run-999"}, "/v1/lists") == {"name"}
    exported: list[bytes] = []
    scene.bank.do(lifecycle.export(scene.bank.postgres, customer.account_id, exported.append))
    assert not any(b"new-1.com" in line for line in exported), "it was never bought"
    assert answered(customer.client.delete(f"{WATCHES}/german")) == {"deleted": "german"}
    assert customer.client.get(f"{WATCHES}/german/runs").status_code == 404
    refused(customer.post(SEARCH, {"only_lists": [ran["list"]]}), 400, "INVALID_REQUEST")
    # So does deleting the search.
    answered(customer.post(WATCHES, {"search": "german"}))
    answered(customer.client.delete("/v1/searches/german"))
    assert answered(customer.client.get(WATCHES))["watches"] == []


@pytest.mark.promise("watch.refused")
def test_what_cannot_be_watched(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    customer = scene.bank.customer(plan=scene.bank.plan(10_000, 10_000, watches=2))

    def message(response: Any) -> str:
        (problem,) = refused(response, 400, "INVALID_REQUEST")
        return str(problem["message"])

    for name, search in {
        "aged": {"wrapped_query": "@updated_within(30d)"},
        "said": {"query": "dentists in Germany updated in the last 30 days"},
    }.items():
        answered(customer.post("/v1/searches", {"name": name, "search": search}))
        assert "updated_after" in message(customer.post(WATCHES, {"search": name}))
    lists = [f"list-{number}" for number in range(10)]
    answered(customer.post("/v1/searches", {"name": "listed", "search": {"country": "DEU", "exclude_lists": lists}}))
    assert "each run adds a list" in message(customer.post(WATCHES, {"search": "listed"}))
    answered(customer.post("/v1/searches", {"name": "fixed", "search": {"updated_after": "2026-01-01T00:00:00Z"}}))
    assert bad_fields(customer.client, {"search": "fixed", "every": "month", "hour": 24}, WATCHES) == {"hour", "every"}
    assert bad_fields(customer.client, {"search": "fixed", "time_zone": "Mars"}, WATCHES) == {"time_zone"}
    assert "sends no email" in message(customer.post(WATCHES, {"search": "fixed", "mail_to": ["jane@example.com"]}))
    refused(customer.post(WATCHES, {"search": "absent"}), 404, "NOT_FOUND")
    answered(customer.post(WATCHES, {"search": "fixed"}))
    assert "watched already" in message(customer.post(WATCHES, {"search": "fixed"}))
    monkeypatch.setattr("siteglass.leads.watches.endpoints.MAX_MATCHES", 2)
    answered(customer.post("/v1/searches", {"name": "large", "search": {"country": "DEU"}}))
    assert "narrower" in message(customer.post(WATCHES, {"search": "large"}))
    monkeypatch.undo()
    answered(customer.post(WATCHES, {"search": "large"}))
    answered(customer.post("/v1/searches", {"name": "third", "search": {"country": "DEU"}}))
    assert "allows 2 watches" in message(customer.post(WATCHES, {"search": "third"}))
