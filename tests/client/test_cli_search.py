"""`sgl search`: files, prices, budgets, and resuming after an interruption."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pyarrow.parquet
import pytest

from siteglass.corpus.lead import Lead
from testing.customers import Bank, Customer
from tests.client.commanding import Desk, Done
from tests.client.conftest import Connect

ALL = ("--filter", "min_score=0", "--sort", "domain")
READING = "Businesses that have an SEO score of at least 0"


def _files(desk: Desk) -> set[str]:
    return {path.name for path in desk.folder.iterdir()}


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_file_is_what_the_client_writes(
    desk: Desk, connect: Connect, customer: Customer, tmp_path: Path, form: str
) -> None:
    search = connect(customer).search(filters={"min_score": 0}, sort="domain", max_leads=120)
    expected = getattr(search, f"to_{form}")(tmp_path / f"expected.{form}")
    before = customer.balance()
    done = desk.run("search", *ALL, "--max-leads", "120", "-o", f"leads.{form}")
    assert done.json == {
        "file": f"leads.{form}",
        "rows": 120,
        "lead_credits": expected.credits_used,
        "api_credits": 0,
        "stopped": "max_leads",
        "reading": READING,
    }
    assert (done.code, done.err) == (0, f"{READING}\n")
    assert customer.balance()[1] == before[1] - expected.credits_used
    assert _files(desk) == {f"expected.{form}", f"leads.{form}"}
    ours, theirs = tmp_path / f"leads.{form}", tmp_path / f"expected.{form}"
    if form == "parquet":
        assert pyarrow.parquet.read_table(ours).equals(pyarrow.parquet.read_table(theirs))
    else:
        assert ours.read_bytes() == theirs.read_bytes()


def test_lines_in_a_pipe_and_a_table_on_a_terminal(desk: Desk, connect: Connect, customer: Customer) -> None:
    words = ("search", *ALL, "--select", "domain,score", "--max-leads", "3")
    leads = list(connect(customer).search(filters={"min_score": 0}, sort="domain", select=["domain", "score"], limit=3))
    assert desk.run(*words).lines == leads[:3]
    code, shown = desk.on_terminal(*words)
    assert code == 0
    assert all(f" {lead.domain} " in shown for lead in leads[:3])
    assert "3 of " in shown
    assert '{"' not in shown
    code, shown = desk.on_terminal("search", *ALL, "--max-leads", "150", "-o", "leads.csv", "--yes")
    assert code == 0
    assert "150 of 150" in shown
    assert "credits spent" in shown
    assert "leads.csv: 150 leads, " in shown


def test_no_address_is_broken_at_80_columns(desk: Desk, connect: Connect, customer: Customer) -> None:
    leads = list(connect(customer).search(filters={"min_score": 0}, sort="domain", max_leads=20))
    desk.environment["COLUMNS"] = "80"
    _, shown = desk.on_terminal("search", *ALL, "--max-leads", "20")
    assert all(address in shown for lead in leads for address in (lead.domain, *lead.emails))
    assert max(map(len, shown.splitlines())) <= 80
    _, shown = desk.on_terminal("search", *ALL, "--select", "domain,score", "--max-leads", "3")
    assert {len(line) <= 80 for line in shown.splitlines() if line.startswith("│")} == {True}


def test_old_names_of_options_are_accepted_with_a_note(desk: Desk) -> None:
    words = ("--directives", "@country(DEU)", "--max-credits=1", "--dry-run")
    done = desk.run("search", *words)
    assert (done.code, done.json["lead_credits"]) == (0, 1)
    assert done.err.startswith(
        "sgl: --directives is now --wrapped-query. The old name is accepted until the next release: change it.\n"
        "sgl: --max-credits is now --max-lead-credits. "
    )


def test_a_reader_that_has_enough_ends_the_walk(desk: Desk) -> None:
    command = desk.start("search", *ALL)
    assert command.stdout is not None
    assert json.loads(command.stdout.readline())["domain"]
    command.stdout.close()
    _, told = command.communicate(timeout=60)
    assert (command.returncode, told) == (0, f"{READING}\n")


def test_the_price_comes_before_the_payment(desk: Desk, customer: Customer, sold: list[Lead]) -> None:
    with customer.untouched():
        price = desk.run("search", "--filter", "has_email=true", "--dry-run", "-o", "leads.csv").json
        counted = desk.run("count", "--filter", "has_email=true")
    payable = sum(bool(lead.emails) for lead in sold)
    reading = "Businesses that have an email address"
    numbers = {"lead_credits": payable, "api_credits": 0, "total_results": payable, "exact": True}
    assert price == {**numbers, "reading": reading}
    assert counted.json == payable
    assert _files(desk) == set()


def test_alternatives_are_directives(desk: Desk, sold: list[Lead]) -> None:
    shown = desk.run("count", "--wrapped-query", "@any[ @has_phone | !@has_email ]")
    assert shown.json == sum(bool(lead.phones) or not lead.emails for lead in sold)
    told = desk.refused(2, "count", "--wrapped-query", "@any[ @has_phone | @has_mail ]")
    assert "line 1, column 20" in told
    assert "did you mean @has_email?" in told


def test_a_budget_ends_a_walk_that_a_higher_one_goes_on_with(desk: Desk, customer: Customer) -> None:
    words = ("search", *ALL, "--max-leads", "60", "-o", "leads.jsonl")
    stopped = desk.run(*words, "--max-lead-credits", "10")
    assert (stopped.code, stopped.json["lead_credits"], stopped.json["stopped"]) == (4, 10, "max_lead_credits")
    assert stopped.err == (
        f"{READING}\nsgl: Stopped at --max-lead-credits 10. Run the same command with a higher --max-lead-credits to "
        "continue.\n"
    )
    assert customer.balance()[1] == 10_000 - 10
    told = desk.refused(2, "search", "shops", "-o", "leads.jsonl")
    assert told == (
        "sgl: leads.jsonl.resume belongs to another command. Repeat the original command to continue it. "
        "To start again, use --overwrite or another -o."
    )
    done = desk.run(*words)
    assert (done.code, done.json["rows"]) == (0, 60)
    leads = [json.loads(line) for line in (desk.folder / "leads.jsonl").read_text().splitlines()]
    assert [lead["domain"] for lead in leads] == sorted({lead["domain"] for lead in leads})
    assert done.json["lead_credits"] == sum(bool(lead["emails"]) for lead in leads) == 10_000 - customer.balance()[1]
    assert _files(desk) == {"leads.jsonl"}


def test_a_file_that_is_there_is_kept_unless_told(desk: Desk, customer: Customer) -> None:
    file = desk.folder / "leads.csv"
    file.write_text("paid for\n")
    words = ("search", *ALL, "--max-leads", "2", "-o", "leads.csv")
    with customer.untouched():
        told = desk.refused(2, *words)
    assert told == "sgl: leads.csv already exists. Choose another name, or replace it with --overwrite."
    desk.refused(3, *words, "--overwrite", "--key", "sg_live_wrong")
    assert file.read_text() == "paid for\n"
    assert desk.run(*words, "--overwrite").code == 0
    assert len(file.read_text().splitlines()) == 3


@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_an_ended_walk_goes_on(bank: Bank, sold: list[Lead], tmp_path: Path, how: signal.Signals, code: int) -> None:
    # The rate makes it wait after three pages, so that it is under way when the signal comes.
    customer = bank.customer(lead=10_000, plan=bank.plan(20, 3))
    desk = Desk(tmp_path, bank.base_url, customer.key)
    file = desk.folder / "leads.jsonl"
    words = ("search", *ALL, "-o", "leads.jsonl")
    command = desk.started(file, *words)
    command.send_signal(how)
    out, err = command.communicate(timeout=30)
    assert desk.judged(Done(command.returncode, out, err)).code == code
    if how is signal.SIGINT:
        assert err.startswith(f"{READING}\nsgl: Interrupted after ")
        assert err.endswith(" rows. Run the same command again to continue; nothing is paid twice.\n")
    assert (desk.folder / "leads.jsonl.resume").exists()
    assert desk.run(*words).code == 0
    domains = [json.loads(line)["domain"] for line in file.read_text().splitlines()]
    assert domains == [lead.domain for lead in sold if lead.score is not None]
    payable = sum(bool(lead.emails) for lead in sold if lead.score is not None)
    assert customer.balance()[1] == 10_000 - payable
    assert _files(desk) == {"leads.jsonl"}


def test_credits_that_run_out(bank: Bank, tmp_path: Path) -> None:
    poor = bank.customer(api=10, lead=5)
    desk = Desk(tmp_path, bank.base_url, poor.key)
    words = ("search", *ALL, "--max-leads", "30", "-o", "leads.jsonl")
    told = desk.refused(4, *words)
    assert "Buy credits, then run the same command again" in told
    assert "(request " in told
    assert poor.balance()[1] == 0
    poor.grant(lead=100)
    done = desk.run(*words)
    assert (done.code, done.json["rows"]) == (0, 30)
    assert done.json["lead_credits"] == 105 - poor.balance()[1]
