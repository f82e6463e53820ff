"""Jobs with the client and the command line: started, waited for and read."""

from __future__ import annotations

import asyncio
import csv
import secrets
from collections.abc import Iterator
from dataclasses import replace

import pytest

from siteglass import app
from siteglass_client import AsyncSiteglass, IdempotencyMismatch, Job, NotFound
from testing.customers import COST, STOCK, Bank, Customer
from testing.service import RUN_PREFIX, filled, serving
from tests.client.commanding import Desk
from tests.client.conftest import Connect

DOMAINS = [lead.domain for lead in STOCK[:5]]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bank]:
    """A service with tables of its own: no service of another test takes its jobs."""
    prefix = f"client-jobs-{secrets.token_hex(4)}"
    settings = filled(prefix, STOCK, tmp_path_factory.mktemp("jobs"))
    settings = replace(settings, postgres_schema=f"{RUN_PREFIX}_{prefix.replace('-', '_')}")
    with pytest.MonkeyPatch.context() as fast:
        fast.setattr(app, "WORK_EVERY_S", 0.05)
        with serving(settings) as client:
            made = Bank(settings, str(client.base_url))
            yield made
            made.close()


def test_the_client_starts_jobs_and_reads_their_results(bank: Bank, customer: Customer, connect: Connect) -> None:
    client = connect(customer)
    price = client.enrich_job_price(DOMAINS)
    assert (price.lead_credits, price.api_credits, price.found, price.estimated) == (5, 1, 5, False)
    job = client.enrich_job(DOMAINS, select=["emails"], idempotency_key="one")
    assert client.enrich_job(DOMAINS, select=["emails"], idempotency_key="one").job == job.job
    with pytest.raises(IdempotencyMismatch):
        client.enrich_job(DOMAINS[:1], idempotency_key="one")
    states: list[Job] = []
    done = client.wait_for_job(job.job, every_s=0.05, on_state=states.append)
    assert (done, done.state, done.lead_credits) == (states[-1], "done", 5)
    assert list(client.job_items(job.job)) == list(client.enrich(DOMAINS, select=["emails"]))
    found = client.wait_for_job(client.search_job(filters={"country": "DEU"}, sort="domain", max_leads=9).job)
    assert (found.lead_credits, found.api_credits) == (COST[9], 0)
    assert [lead.domain for lead in client.job_leads(found.job)] == [lead.domain for lead in STOCK[:9]]

    async def alike() -> None:
        async with AsyncSiteglass(customer.key, bank.base_url) as other:
            assert await other.jobs() == client.jobs() == [found, done]
            assert [item async for item in other.job_items(job.job)] == list(client.job_items(job.job))
            assert await other.cancel_job(job.job) == await other.wait_for_job(job.job) == done
            await other.delete_job(job.job)

    asyncio.run(alike())
    with pytest.raises(NotFound):
        list(client.job_items(job.job))


def test_a_file_is_enriched_by_one_job(desk: Desk, customer: Customer) -> None:
    rows = [["site"], *([domain] for domain in (DOMAINS[0], "nobody.example", DOMAINS[1], DOMAINS[0]))]
    with (desk.folder / "crm.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    words = ("enrich", "crm.csv", "--job")
    assert desk.run(*words, "--dry-run").json["lead_credits"] == 2
    done = desk.run(*words, "-o", "out.csv", "--select", "country")
    assert (done.code, done.json["rows"], done.json["lead_credits"], done.json["api_credits"]) == (0, 4, 2, 1), done
    with (desk.folder / "out.csv").open(newline="") as file:
        table = [(row["site"], row["sg_status"], row["sg_country"]) for row in csv.DictReader(file)]
    first = (DOMAINS[0], "success", "DEU")
    assert table == [first, ("nobody.example", "not_found", ""), (DOMAINS[1], "success", "DEU"), first]
    stopped = desk.run(*words, "--max-lead-credits", "1")
    assert (stopped.code, [item["status"] for item in stopped.lines]) == (4, ["success", "not_found", "not_bought"])
    assert {path.name for path in desk.folder.iterdir()} == {"crm.csv", "out.csv"}
    # A command that was interrupted gets the results of its job.
    (desk.folder / "again.csv.resume").write_text("job interrupted\n")
    again = [desk.run(*words, "-o", "again.csv", "--select", "country").json]
    (desk.folder / "again.csv").unlink()
    (desk.folder / "again.csv.resume").write_text("job interrupted\n")
    again.append(desk.run(*words, "-o", "again.csv", "--select", "country").json)
    assert again[0] == again[1]
    code, text = desk.on_terminal(*words, "-o", "shown.csv")
    assert (code, "shown.csv: 4 rows, 2 lead credits." in text) == (0, True), text
