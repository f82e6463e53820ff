"""Walks that were interrupted: whenever it happens, each lead is once in the file and paid once."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siteglass.corpus.lead import Lead
from siteglass_client import AsyncSiteglass, Export, ResumeError, Siteglass, journal, outputs
from siteglass_client.answers import Answer
from siteglass_client.calls import Call
from siteglass_client.journal import read_lines, written_line
from testing import killed_walks
from testing.customers import Bank, Customer
from tests.client.conftest import Connect

LEADS = 45
LIMIT = 20


class Crash(BaseException):
    """The end of the process, as far as a test can play it."""


class Crashing:
    """Fails at the n-th of all points where a process can die, counted over the whole walk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, client: Siteglass, at: int) -> None:
        self._left = at
        send: Callable[[Call], Answer] = client._send
        append, write = journal.Journal._append, outputs.Sink.write

        def sending(call: Call) -> Answer:
            self._point()  # before the request
            answer = send(call)
            self._point()  # charged, and the answer never arrived
            return answer

        def appending(this: journal.Journal, entry: dict[str, Any]) -> None:
            self._point()
            self._point(lambda: this._file.write(written_line(entry)[: len(written_line(entry)) // 2]))
            append(this, entry)
            self._point()

        def writing(this: outputs.Sink, rows: list[dict[str, Any]]) -> int:
            self._point()
            self._point(lambda: write(this, rows[: len(rows) // 2]))
            self._point(lambda: this._file.write(b'{"domain":"half-a-li'))
            size = write(this, rows)
            self._point()
            return size

        monkeypatch.setattr(client, "_send", sending)
        monkeypatch.setattr(journal.Journal, "_append", appending)
        monkeypatch.setattr(outputs.Sink, "write", writing)

    def _point(self, half: Callable[[], object] | None = None) -> None:
        self._left -= 1
        if self._left == 0:
            if half is not None:
                half()
            raise Crash


def _price(leads: list[Lead]) -> int:
    return sum(bool(lead.emails) for lead in leads)


@pytest.mark.parametrize(("form", "every"), [("jsonl", 1), ("csv", 4)])
def test_every_point_where_a_process_can_die(
    connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path, form: str, every: int
) -> None:
    client = connect(customer)

    def write(name: str) -> Export:
        search = client.search(sort="domain", limit=LIMIT, max_leads=LEADS, resume=tmp_path / f"{name}.resume")
        done: Export = getattr(search, f"to_{form}")(tmp_path / name)
        return done

    write("whole")
    whole = (tmp_path / "whole").read_bytes()
    died = 0
    for at in range(1, 100, every):
        name, before = f"cut-{at}", customer.balance()[1]
        with pytest.MonkeyPatch.context() as patch:
            Crashing(patch, client, at)
            try:
                write(name)
                break
            except Crash:
                died += 1
        done = write(name)
        assert (tmp_path / name).read_bytes() == whole, at
        assert done.rows == LEADS
        assert write(name) == done  # the resume file is whole again, and says that all is done
        assert done.credits_used == _price(sold[:LEADS]) == before - customer.balance()[1], at
    assert died >= 30 / every


@pytest.mark.parametrize("how", ["sync", "async"])
def test_a_process_that_is_killed(bank: Bank, customer: Customer, sold: list[Lead], tmp_path: Path, how: str) -> None:
    chance = random.Random(how)
    output, resume = tmp_path / "leads.jsonl", tmp_path / "leads.resume"
    given = (how, "jsonl", output, resume, 10, customer.key, bank.base_url)
    kills = sum(
        killed_walks.kill_after(
            killed_walks.start(*given), chance.randrange(1, 9), killed_walks.some_delay_s(chance, 0.02)
        )
        for _ in range(3)
    )
    assert kills == 3
    killed_walks.finish(killed_walks.start(*given), 60)
    assert [json.loads(line)["domain"] for line in output.read_bytes().splitlines()] == [lead.domain for lead in sold]
    assert 10_000 - customer.balance()[1] == _price(sold)


def test_a_walk_that_is_done_is_not_done_again(connect: Connect, customer: Customer, tmp_path: Path) -> None:
    def search() -> Any:
        return connect(customer).search(sort="domain", max_leads=30, resume=tmp_path / "resume")

    first = search().to_csv(tmp_path / "leads.csv")
    with customer.untouched():
        again = search().to_csv(tmp_path / "leads.csv")
    assert again == first


def test_limits_may_be_raised_and_the_walk_goes_on(
    connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path
) -> None:
    for budget in (20, 50, None):
        search = connect(customer).search(sort="domain", max_lead_credits=budget, resume=tmp_path / "resume")
        done = search.to_jsonl(tmp_path / "leads.jsonl")
        assert done.credits_used == (_price(sold) if budget is None else budget) == 10_000 - customer.balance()[1]
    domains = [json.loads(line)["domain"] for line in (tmp_path / "leads.jsonl").read_bytes().splitlines()]
    assert domains == [lead.domain for lead in sold]


def test_iterating_goes_on_with_the_page_that_was_not_finished(
    connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path
) -> None:
    def search() -> Any:
        return connect(customer).search(sort="domain", limit=10, max_leads=40, resume=tmp_path / "resume")

    seen = []
    for lead in search():
        seen.append(lead.domain)
        if len(seen) == 25:
            break
    rest = search()
    seen[20:] = [lead.domain for lead in rest]
    assert seen == [lead.domain for lead in sold[:40]]
    assert rest.credits_used == _price(sold[:40]) == 10_000 - customer.balance()[1]


def test_enrichment_goes_on_and_pays_repeated_domains_once(
    connect: Connect, customer: Customer, sold: list[Lead], tmp_path: Path
) -> None:
    domains = [lead.domain for lead in sold[:150]]
    domains += domains[:120] + [lead.domain for lead in sold[150:200]]
    client = connect(customer)
    for at in range(1, 60, 3):
        api, lead = customer.balance()
        enrichment = client.enrich(domains, select=["domain"], resume=tmp_path / f"{at}.resume")
        with pytest.MonkeyPatch.context() as patch:
            Crashing(patch, client, at)
            try:
                enrichment.to_jsonl(tmp_path / f"{at}.jsonl")
                break
            except Crash:
                pass
        again = client.enrich(domains, select=["domain"], resume=tmp_path / f"{at}.resume")
        again.to_jsonl(tmp_path / f"{at}.jsonl")
        lines = (tmp_path / f"{at}.jsonl").read_bytes().splitlines()
        assert [json.loads(line)["domain"] for line in lines] == domains
        assert customer.balance() == (api - 2, lead - 200), at
        assert (again.api_credits_used, again.credits_used) == (2, 200)


def test_files_that_do_not_belong_together_are_refused(
    connect: Connect, customer: Customer, tmp_path: Path, sold: list[Lead]
) -> None:
    client = connect(customer)
    resume, output = tmp_path / "resume", tmp_path / "leads.jsonl"
    client.search(sort="domain", max_leads=5, resume=resume).to_jsonl(output)
    with customer.untouched():
        with pytest.raises(ResumeError, match="asked differs"):
            client.search(sort="-score", max_leads=5, resume=resume).to_jsonl(output)
        with pytest.raises(ResumeError, match="output differs"):
            client.search(sort="domain", max_leads=5, resume=resume).to_csv(tmp_path / "leads.csv")
        for _ in range(2):
            with pytest.raises(ResumeError, match="Delete the first"):
                client.search(sort="domain", resume=tmp_path / "another").to_jsonl(output)
        output.write_bytes(output.read_bytes()[:-10])
        with pytest.raises(ResumeError, match="shorter"):
            client.search(sort="domain", max_leads=5, resume=resume).to_jsonl(output)
        output.unlink()
        with pytest.raises(ResumeError, match="no longer exists"):
            client.search(sort="domain", max_leads=5, resume=resume).to_jsonl(output)
        (tmp_path / "notes.txt").write_text("what I must not forget\nand this\n")
        with pytest.raises(ResumeError, match="not a resume file"):
            next(client.search(resume=tmp_path / "notes.txt").pages())
        assert (tmp_path / "notes.txt").read_text() == "what I must not forget\nand this\n"


def test_two_walks_cannot_use_one_file(connect: Connect, customer: Customer, tmp_path: Path) -> None:
    client = connect(customer)
    first = client.search(sort="domain", limit=5, resume=tmp_path / "resume").pages()
    next(first)
    with pytest.raises(ResumeError, match="in use"):
        next(client.search(sort="domain", limit=5, resume=tmp_path / "resume").pages())


def test_a_budget_that_is_lower_than_what_is_in_flight(connect: Connect, customer: Customer, tmp_path: Path) -> None:
    client = connect(customer)
    with pytest.MonkeyPatch.context() as patch:
        Crashing(patch, client, 11)  # after the answer of the second page
        with pytest.raises(Crash):
            list(client.search(sort="domain", limit=20, max_lead_credits=100, resume=tmp_path / "resume"))
    spent = 10_000 - customer.balance()[1]
    with pytest.raises(ResumeError, match="max_lead_credits="):
        list(client.search(sort="domain", limit=20, max_lead_credits=spent - 1, resume=tmp_path / "resume"))
    assert 10_000 - customer.balance()[1] == spent


def test_lines_that_are_not_whole() -> None:
    entries = [{"number": number, "text": "ü" * number} for number in range(3)]
    raw = b"".join(map(written_line, entries))
    assert read_lines(raw) == (entries, len(raw))
    second = len(written_line(entries[0]) + written_line(entries[1]))
    for cut in range(second, len(raw)):
        assert read_lines(raw[:cut]) == (entries[:2], second)
    spoiled = raw.replace(b'"number":1', b'"number":7')
    with pytest.raises(ValueError, match="byte"):
        read_lines(spoiled)


def test_a_client_that_only_iterates_writes_no_file(tmp_path: Path) -> None:
    assert AsyncSiteglass("sg_live_x", "http://test").search(resume=tmp_path / "resume").credits_used == 0
    assert list(tmp_path.iterdir()) == []
