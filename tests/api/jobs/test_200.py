"""Jobs: started, worked off in small batches, stopped, and read."""

from __future__ import annotations

import csv
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from siteglass import app
from siteglass.access import lifecycle
from siteglass.access.keys import KeyLimits, create_key
from siteglass.errors import Unavailable
from siteglass.index import lookup
from siteglass.index.index import Index
from siteglass.leads.downloads import jobs, working
from siteglass.leads.downloads.jobs import BoughtPage, Download, Downloads, LeaseLost
from siteglass.suppression.entries import add
from siteglass.suppression.values import Hasher, read_value
from testing.api_calls import ENRICH, SEARCH, answered, bad_fields, refused
from testing.customers import COST, STOCK, Bank, Customer
from testing.service import RUN_PREFIX, filled, serving

JOBS = "/v1/jobs"
BATCH = 10
# On a busy machine, a claim in Redis may not be released: then it ends with the deadline of its request.
PATIENCE_S = 150
# One lead by two names that are in different batches, and repeated, unknown and wrong names.
ALIAS = "old-stock.com"
LEADS = [msgspec.structs.replace(lead, aliases=(ALIAS,)) if lead is STOCK[5] else lead for lead in STOCK]
FOUND = [lead.domain for lead in LEADS[:25]]
DOMAINS = [*FOUND, "nobody.example.org", ALIAS, "localhost", "www.stock-03.com"]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """A service with tables of its own: no service of another test takes its jobs."""
    name = f"jobs-{secrets.token_hex(4)}"
    settings = replace(
        filled(name, LEADS, tmp_path_factory.mktemp(name)), postgres_schema=f"{RUN_PREFIX}_{name.replace('-', '_')}"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "WORK_EVERY_S", 0.05)
        patch.setattr(working, "MAX_LIMIT", BATCH)
        with serving(settings) as client:
            made = Bank(settings, str(client.base_url))
            yield made
            made.close()


def until(customer: Customer, job: dict[str, Any], holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The job, once this holds of it."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds(shown := answered(customer.client.get(f"{JOBS}/{job['job']}"))):
        assert time.monotonic() < deadline, shown
        time.sleep(0.02)
    return shown


def finished(customer: Customer, job: dict[str, Any]) -> dict[str, Any]:
    return until(customer, job, lambda shown: shown["ended_at"])


def until_ended(bank: Bank, job: dict[str, Any]) -> None:
    """The same of a customer that may not ask."""
    waiting = "SELECT FROM {schema}.downloads WHERE id = $1 AND ended_at IS NULL"
    deadline = time.monotonic() + PATIENCE_S
    while bank.do(bank.postgres.fetch(waiting, job["job"])):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def done(customer: Customer, body: dict[str, Any]) -> dict[str, Any]:
    """A job that was started, once it has ended."""
    return finished(customer, answered(customer.post(JOBS, body)))


def results(customer: Customer, job: dict[str, Any]) -> list[dict[str, Any]]:
    response = customer.client.get(job["results"])
    assert (response.status_code, response.headers["content-type"]) == (200, "application/x-ndjson"), response.text
    return [json.loads(line) for line in response.text.splitlines()]


def charges(customer: Customer) -> list[tuple[int, int]]:
    """API and lead credits of each charge, in their order."""
    return [(-row["api"], -row["lead"]) for row in customer.books().rows if row["kind"] == "charge"]


@pytest.mark.promise("route.POST /v1/jobs", "route.GET /v1/jobs/{job}/results", "job.results")
def test_results_are_those_of_plain_requests_and_each_lead_is_charged_once(bank: Bank) -> None:
    customer, other = bank.customer(api=10, lead=100), bank.customer(api=10, lead=100)
    select = ["emails", "country"]
    job = done(customer, {"domains": [*DOMAINS, FOUND[0]], "select": select})
    assert (job["state"], job["reason"], job["total"], job["done"], job["not_bought"]) == ("done", None, 29, 29, 0)
    assert (job["api_credits"], job["lead_credits"]) == (1, len(FOUND))
    assert charges(customer) == [(1, BATCH), (0, BATCH), (0, 5)]
    customer.verified()
    plain = answered(other.post(ENRICH, {"domains": DOMAINS, "select": select}))["results"]
    assert results(customer, job) == plain
    entries = answered(customer.client.get("/v1/ledger"))["entries"]
    assert [entry["request_id"][36:] for entry in entries[:3]] == [f"-job-{job['job']}"] * 3
    table = list(csv.reader(customer.client.get(job["results"], params={"format": "csv"}).text.splitlines()))
    assert [row[:2] for row in table] == [["sent", "status"], *([item["domain"], item["status"]] for item in plain)]
    assert table[0][2:4] == ["domain", "business_name"]


@pytest.mark.promise("job.search")
def test_a_search_returns_its_first_leads_for_what_they_cost(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    search = {"wrapped_query": "@country(DEU, FRA)", "sort": "domain", "select": ["domain", "emails"]}
    job = done(customer, {"search": search, "max_leads": 35})
    assert (job["kind"], job["state"], job["done"], job["api_credits"]) == ("search", "done", 35, 0)
    assert job["lead_credits"] == COST[35] == sum(lead for _, lead in charges(customer))
    page = answered(bank.customer(lead=100).post(SEARCH, {**search, "limit": 35}))
    assert results(customer, job) == page["results"]
    enricher = bank.another(customer.account_id, scopes=("enrich",))
    refused(enricher.client.get(job["results"]), 403, "FORBIDDEN")
    small = done(customer, {"search": {"country": "FRA"}, "max_leads": 90})
    assert (small["state"], small["done"], small["not_bought"]) == ("done", 30, 0)


@pytest.mark.promise("job.price")
def test_a_dry_run_says_what_it_costs_and_starts_nothing(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=1)
    with customer.untouched():
        price = answered(customer.post(JOBS, {"domains": DOMAINS, "dry_run": True}))
        every = {"dry_run": True, "api_credits": 1, "lead_credits": 25, "total": 29, "found": 25, "estimated": False}
        assert price == every
        answered(customer.post("/v1/lists", {"name": "mine", "domains": FOUND[:7]}))
        listed = answered(customer.post(JOBS, {"list": "mine", "dry_run": True}))
        assert (listed["lead_credits"], listed["total"]) == (7, 7)
        search = answered(customer.post(JOBS, {"search": {"country": "DEU"}, "max_leads": 99, "dry_run": True}))
        assert (search["api_credits"], search["lead_credits"], search["total"]) == (0, COST[30], 30)
        assert answered(customer.client.get(JOBS)) == {"jobs": []}


@pytest.mark.promise("job.stopped")
def test_a_job_goes_as_far_as_its_credits(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=13)
    job = done(customer, {"domains": DOMAINS})
    assert (job["state"], job["reason"]) == ("stopped", working.NO_CREDITS)
    assert (job["api_credits"], job["lead_credits"], job["done"], job["not_bought"]) == (1, 13, 13, 16)
    assert customer.balance() == (0, 0)
    assert [item["domain"] for item in results(customer, job)] == DOMAINS
    assert results(customer, job)[13:] == [{"status": "not_bought", "domain": domain} for domain in DOMAINS[13:]]

    capped = bank.customer(api=9, lead=99, limits=KeyLimits(daily_lead_cap=12))
    job = done(capped, {"domains": DOMAINS})
    assert (job["state"], job["reason"], job["lead_credits"]) == ("stopped", working.DAILY_CAP, 12)
    job = done(bank.customer(api=9, lead=99), {"domains": DOMAINS, "max_lead_credits": 4})
    assert (job["state"], job["reason"], job["lead_credits"]) == ("stopped", working.CAP_REACHED, 4)
    second = bank.another(capped.account_id, limits=KeyLimits(daily_lead_cap=5))
    (dear,) = answered(second.client.get(JOBS))["jobs"]
    refused(second.client.get(dear["results"]), 402, "CREDIT_CAP_EXCEEDED")


@pytest.mark.promise("job.stopped")
def test_long_jobs_may_be_larger(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    customer = bank.customer(api=2, lead=99)
    monkeypatch.setattr(jobs, "MAX_BYTES", 0)
    assert done(customer, {"domains": DOMAINS})["state"] == "done"
    monkeypatch.setattr(jobs, "MAX_BYTES_A_ROW", 1)
    job = done(customer, {"domains": DOMAINS})
    assert (job["state"], job["reason"], job["done"]) == ("stopped", working.TOO_LARGE, BATCH)


@contextmanager
def idle() -> Iterator[None]:
    """Nobody takes a job."""

    async def no_job(_downloads: Downloads) -> None:
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Downloads, "claim", no_job)
        time.sleep(0.1)  # who looked before is done
        yield


@pytest.mark.promise("job.cancel", "route.POST /v1/jobs/{job}/cancel")
@pytest.mark.promise("route.GET /v1/jobs", "route.GET /v1/jobs/{job}", "route.DELETE /v1/jobs/{job}")
def test_what_was_paid_for_stays_after_a_cancel(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    customer, store = bank.customer(api=1, lead=99), Downloads.store
    reached: list[int] = []

    async def cancelled_meanwhile(downloads: Downloads, job: Download, page: BoughtPage) -> Download:
        reached.append(job.id)
        await Downloads(downloads._postgres, of_keys=True).stop(job.account_id, job.id)
        return await store(downloads, job, page)

    monkeypatch.setattr(Downloads, "store", cancelled_meanwhile)
    job = done(customer, {"domains": DOMAINS})
    assert reached == [job["job"]]
    assert (job["state"], job["reason"], job["done"]) == ("stopped", working.CANCELLED, BATCH)
    assert answered(customer.client.post(f"{JOBS}/{job['job']}/cancel")) == job
    assert answered(customer.client.get(JOBS)) == {"jobs": [job]}
    assert answered(customer.client.delete(f"{JOBS}/{job['job']}")) == {"deleted": job["job"]}
    refused(customer.client.get(f"{JOBS}/{job['job']}"), 404, "NOT_FOUND")


@pytest.mark.promise("job.once", "job.refused")
def test_the_same_request_is_one_job(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=99)
    with idle():
        first = answered(customer.post(JOBS, {"domains": FOUND}, retry="one"))
        path = f"{JOBS}/{first['job']}"
        assert answered(customer.post(JOBS, {"domains": FOUND}, retry="one")) == first
        refused(customer.post(JOBS, {"domains": FOUND[:2]}, retry="one"), 422, "IDEMPOTENCY_MISMATCH")
        refused(bank.customer().client.get(path), 404, "NOT_FOUND")
        answered(customer.post("/v1/lists", {"name": "gone", "domains": FOUND[:3]}))
        listed = answered(customer.post(JOBS, {"list": "gone"}, retry="two"))
        answered(customer.client.delete("/v1/lists/gone"))
        assert answered(customer.post(JOBS, {"list": "gone"}, retry="two")) == listed
        refused(customer.post(JOBS, {"list": "gone"}, retry="three"), 404, "NOT_FOUND")
        refused(customer.client.delete(path), 400, "INVALID_REQUEST")
        for _ in range(18):
            answered(customer.post(JOBS, {"domains": FOUND}))
        (full,) = refused(customer.post(JOBS, {"domains": FOUND}), 400, "INVALID_REQUEST")
        assert "at most 20 jobs" in full["message"]
        cancelled = answered(customer.client.post(f"{path}/cancel"))
    assert (cancelled["state"], cancelled["reason"]) == ("stopped", working.CANCELLED)
    assert (cancelled["done"], cancelled["not_bought"]) == (0, 25)


@pytest.mark.promise("job.refused")
def test_wrong_jobs_are_refused(bank: Bank) -> None:
    client = bank.customer().client
    assert bad_fields(client, {}, JOBS) == {"body"}
    assert bad_fields(client, {"domains": ["a.com"], "list": "mine"}, JOBS) == {"body"}
    assert bad_fields(client, {"domains": ["a.com"] * 100_001, "select": ["email"]}, JOBS) == {"domains", "select"}
    assert bad_fields(client, {"search": {"country": "DEU", "limit": 5}}, JOBS) == {"search.limit", "max_leads"}
    assert bad_fields(client, {"domains": ["a.com"], "max_leads": 5}, JOBS) == {"max_leads"}
    refused(client.post(JOBS, json={"list": "nobody"}), 404, "NOT_FOUND")
    refused(client.post(JOBS, json={"search": {"only_lists": ["nobody"]}, "max_leads": 5}), 400, "INVALID_REQUEST")
    number = bank.customer().account_id
    making = create_key(bank.postgres, bank.settings.key_secrets, number, "test", actor="tests", test=True)
    tested = bank.client(bank.do(making)[1]).post(JOBS, json={"domains": ["found.example"]})
    refused(tested, 403, "FORBIDDEN")
    searcher = bank.customer(scopes=("enrich",))
    refused(searcher.post(JOBS, {"search": {"country": "DEU"}, "max_leads": 5}), 403, "FORBIDDEN")
    body = b'{"domains": ["' + b"a" * 4 * 1024 * 1024 + b'"]}'
    refused(client.post(JOBS, content=body, headers={"Content-Type": "application/json"}), 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.promise("job.crash")
def test_a_worker_that_is_killed_after_it_paid_changes_nothing(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    customer, store = bank.customer(api=1, lead=99), Downloads.store
    # The lead of the alias is paid with the first batch. The worker that finds it again starts from the pages.
    lost: list[int] = []

    async def killed(downloads: Downloads, job: Download, page: BoughtPage) -> Download:
        if job.pages not in lost:
            lost.append(job.pages)
            await downloads._postgres.fetch("UPDATE {schema}.downloads SET free_at = '-infinity' WHERE id = $1", job.id)
            raise LeaseLost
        return await store(downloads, job, page)

    monkeypatch.setattr(Downloads, "store", killed)
    # The last batch finds nothing: it is kept for the next worker all the same.
    domains = [*DOMAINS, *(f"nobody-{number}.example.org" for number in range(11))]
    job = done(customer, {"domains": domains})
    assert lost == [0, 1, 2, 3]
    assert (job["state"], job["done"], job["api_credits"], job["lead_credits"]) == ("done", 40, 1, 25)
    assert charges(customer) == [(1, BATCH), (0, BATCH), (0, 5), (0, 0)]
    assert [item["domain"] for item in results(customer, job)] == domains
    customer.verified()


@pytest.mark.parametrize("format_", ["ndjson", "csv"])
@pytest.mark.promise("job.refused")
def test_a_job_that_is_deleted_while_its_results_are_read(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    customer, find = bank.customer(api=1, lead=99), Downloads.find
    job = done(customer, {"domains": FOUND[:1]})

    async def deleted_meanwhile(downloads: Downloads, account_id: int, number: int) -> Download | None:
        found = await find(downloads, account_id, number)
        await downloads.delete(account_id, number)
        return found

    monkeypatch.setattr(Downloads, "find", deleted_meanwhile)
    refused(customer.client.get(job["results"], params={"format": format_}), 404, "NOT_FOUND")


@pytest.mark.promise("job.crash")
def test_a_batch_that_was_paid_for_stays_when_the_key_ends(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    customer, store = bank.customer(api=1, lead=99), Downloads.store
    lost: list[int] = []

    async def killed(downloads: Downloads, job: Download, page: BoughtPage) -> Download:
        if not lost:
            lost.append(job.id)
            sql = "UPDATE {schema}.keys SET revoked_at = clock_timestamp() WHERE id = $1"
            await downloads._postgres.fetch(sql, customer.key_id)
            await downloads._postgres.fetch("UPDATE {schema}.downloads SET free_at = '-infinity' WHERE id = $1", job.id)
            raise LeaseLost
        return await store(downloads, job, page)

    monkeypatch.setattr(Downloads, "store", killed)
    started = answered(customer.post(JOBS, {"domains": DOMAINS}))
    job = finished(bank.another(customer.account_id), started)
    assert lost == [job["job"]]
    assert (job["reason"], job["done"], job["lead_credits"]) == (working.KEY_ENDED, BATCH, BATCH)
    assert charges(bank.another(customer.account_id)) == [(1, BATCH)]


@pytest.mark.promise("job.results")
def test_a_batch_whose_look_ups_failed_is_looked_up_again(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    customer, find_holders = bank.customer(api=1, lead=99), lookup._find_holders
    failed: list[list[str]] = []

    async def away_at_first(index: Index, names: list[str]) -> list[dict[str, Any]]:
        if not failed:
            failed.append(names)
            raise Unavailable("tests")
        return await find_holders(index, names)

    monkeypatch.setattr(lookup, "_find_holders", away_at_first)
    job = done(customer, {"domains": [FOUND[0], "nobody.example.org", ALIAS]})
    assert failed
    assert [item["status"] for item in results(customer, job)] == ["success", "not_found", "success"]
    assert charges(customer) == [(1, 2)]


@pytest.mark.promise("job.turns")
def test_accounts_take_turns(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "SLICE_S", 0.001)
    monkeypatch.setattr(working, "PAGES_AT_ONCE", 1)
    customers = [bank.customer(api=1, lead=99) for _ in range(2)]
    with idle():
        jobs = [answered(customer.post(JOBS, {"domains": DOMAINS})) for customer in customers]
    for customer, job in zip(customers, jobs, strict=True):
        assert finished(customer, job)["lead_credits"] == len(FOUND)
    bought = bank.do(
        bank.postgres.fetch(
            "SELECT account_id FROM {schema}.ledger WHERE kind = 'charge' AND account_id = ANY($1::bigint[])"
            " ORDER BY at",
            [customer.account_id for customer in customers],
        )
    )
    first, second = (customer.account_id for customer in customers)
    assert [row["account_id"] for row in bought] == [first, second] * 3


@pytest.mark.promise("job.stopped")
def test_a_job_ends_with_its_key_and_continues_with_the_next_one(bank: Bank) -> None:
    ended, rotated, suspended = (bank.customer(api=1, lead=99) for _ in range(3))
    with idle():
        jobs = [answered(customer.post(JOBS, {"domains": DOMAINS})) for customer in (ended, rotated, suspended)]
        bank.revoke(ended.key_id)
        newer = bank.rotate(rotated, timedelta())
        bank.do(lifecycle.suspend(bank.postgres, suspended.account_id, "unpaid", actor="tests"))
    job = finished(bank.another(ended.account_id), jobs[0])
    assert (job["state"], job["reason"], job["done"]) == ("stopped", working.KEY_ENDED, 0)
    assert finished(newer, jobs[1])["state"] == "done"
    assert {row["actor_id"] for row in rotated.books().rows if row["kind"] == "charge"} == {str(newer.key_id)}
    until_ended(bank, jobs[2])
    bank.do(lifecycle.resume(bank.postgres, suspended.account_id, actor="tests"))
    job = finished(suspended, jobs[2])
    assert (job["reason"], job["lead_credits"]) == (working.SUSPENDED, 0)


@pytest.mark.promise("job.opt_out")
def test_what_opted_out_since_is_left_out(bank: Bank) -> None:
    customer = bank.customer(api=1, lead=99)
    job = done(customer, {"domains": [ALIAS, "stock-07.com", "stock-08.com"], "select": ["emails"]})
    assert [item["status"] for item in results(customer, job)] == ["success"] * 3
    hasher = Hasher(bank.settings)
    gone = [hasher.pair(read_value(text)) for text in ("stock-05.com", "info@stock-08.com")]
    bank.do(add(bank.postgres, gone, reason="opt-out", actor="tests"))
    items = results(customer, job)
    assert [item["status"] for item in items] == ["not_found", "success", "success"]
    assert items[2]["data"] == {"emails": ["eve.moore@stock-08.com"]}
