"""How a sentence was read is seen before anything is paid: by `sgl`, the client, agents and everybody else."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from testing.customers import Bank, Customer
from testing.dashboard.visitors import Office
from testing.mails import Outbox
from tests.client.agents import over_stdio
from tests.client.commanding import Desk
from tests.client.conftest import Connect

# Misspelt, a wish that no data answers, and an exclusion of nothing that is known.
SENTENCE = "companies in Germny that are hiring, no Foobarix"
READING = 'Businesses in Germany · "Germny" read as germany · not used: "that are hiring", "no Foobarix"'
CLEAR = "companies in Germany"
# Either agencies elsewhere are wanted, or none in Cleveland.
UNSURE = "businesses in Ohio excluding Cleveland agencies"
DOUBT = "This may not be what you meant: see what was not used above."


def test_a_terminal_shows_it_and_asks(desk: Desk, customer: Customer) -> None:
    with customer.untouched():
        code, shown = desk.on_terminal("search", SENTENCE, "--max-leads", "3", typed="n\n")
        assert (code, READING in shown.splitlines()) == (130, True)
        assert f"{DOUBT} Continue? [y/N]" in shown
    code, shown = desk.on_terminal("search", SENTENCE, "--max-leads", "3", typed="y\n")
    assert (code, "lead credit" in shown) == (0, True)


def test_a_pipe_stops_with_its_own_code(desk: Desk, customer: Customer) -> None:
    with customer.untouched():
        stopped = desk.run("search", SENTENCE, "--max-leads", "3")
        assert (stopped.code, stopped.out) == (6, "")
        assert stopped.err == (
            f"{READING}\nsgl: {DOUBT} Nothing was spent. Change the words, or pass --yes to search like this.\n"
        )
        assert list(desk.folder.iterdir()) == []
    done = desk.run("search", SENTENCE, "--max-leads", "3", "--yes")
    assert (done.code, done.err, len(done.out.splitlines())) == (0, f"{READING}\n", 3)


@pytest.mark.parametrize("sentence", ["companies in Germny", "companies in Germany that are hiring"])
def test_a_note_alone_stops_only_if_it_must(desk: Desk, customer: Customer, sentence: str) -> None:
    assert desk.run("search", sentence, "--max-leads", "1").code == 0
    with customer.untouched():
        stopped = desk.run("search", sentence, "--max-leads", "1", "--strict")
        assert (stopped.code, stopped.out) == (6, "")
        assert stopped.err.splitlines()[1] == (
            "sgl: Stopped by --strict before anything was spent. Change the words, or omit --strict."
        )
    assert desk.run("search", CLEAR, "--max-leads", "1", "--strict").code == 0


def test_programs_get_it_with_the_price_and_the_file(desk: Desk, customer: Customer) -> None:
    with customer.untouched():
        assert desk.run("search", SENTENCE, "--dry-run").json["reading"] == READING
    assert desk.run("search", SENTENCE, "--max-leads", "2", "--yes", "-o", "leads.csv").json["reading"] == READING


def test_a_saved_search_shows_it_too(desk: Desk) -> None:
    assert desk.run("saved", "create", "germans", CLEAR).code == 0
    assert desk.run("saved", "run", "germans", "--max-leads", "1").err == "Businesses in Germany\n"


def test_interpret_names_the_words_before_the_reason(desk: Desk) -> None:
    code, shown = desk.on_terminal("interpret", SENTENCE)
    assert (code, READING in shown.splitlines()) == (0, True)
    assert "“Germny”: read as germany." in shown
    assert "Not used: “that are hiring”: " in shown
    assert "Not used: “no … Foobarix”: " in shown or "Not used: “no Foobarix”: " in shown


def test_the_client_has_it_on_the_first_page(connect: Connect, customer: Customer) -> None:
    search = connect(customer).search(SENTENCE, limit=30, max_leads=40)
    reading = search.interpret()
    assert (reading.summary, reading.needs_review) == (READING, True)
    first, second = search.pages()
    assert first.reading is not None
    assert (first.reading.summary, first.reading.needs_review, first.notes) == (READING, True, 3)
    assert second.reading is None
    (page,) = connect(customer).search(filters={"country": "DEU"}, max_leads=1).pages()
    assert page.reading is None


def test_agents_get_it_with_the_price_and_the_leads(bank: Bank, customer: Customer, tmp_path: Path) -> None:
    with over_stdio(Desk(tmp_path, bank.base_url, customer.key), tmp_path / "log.txt") as agent:
        with customer.untouched():
            assert agent.call("search", query=SENTENCE)["reading"] == READING
        leads = agent.call("search", query=SENTENCE, max_lead_credits=2)
        assert leads["reading"] == READING
        assert "3 parts of the sentence are doubtful: see reading." in leads["say"]


def test_every_way_to_search_shows_all_three_problems(
    desk: Desk, bank: Bank, connect: Connect, customer: Customer, tmp_path: Path
) -> None:
    with customer.untouched():
        (_, terminal), pipe = desk.on_terminal("search", SENTENCE, typed="n\n"), desk.run("search", SENTENCE).err
        client = connect(customer).search(SENTENCE).interpret().summary
        with over_stdio(Desk(tmp_path, bank.base_url, customer.key), tmp_path / "log.txt") as agent:
            mcp = agent.call("search", query=SENTENCE)["reading"]
        api = bank.client(customer.key)
        interpret = api.post("/v1/leads/interpret", json={"query": SENTENCE}).json()["summary"]
        http = api.post("/v1/leads/search", json={"query": SENTENCE, "dry_run": True}).headers
    assert [one for one in (terminal, pipe, client, mcp, interpret) if READING not in one] == []
    unused = [unquote(words) for words in http["x-query-unused"].split(", ")]
    assert (http["x-query-corrected"], unused) == ("Germny=germany", ["that are hiring", "no Foobarix"])
    office = Office(bank.settings, bank.base_url, Outbox(tmp_path))
    visitor = office.visitor(office.somebody())
    explore, unsure = (_text(visitor.get(f"/dashboard/explore?q={quote(each)}").text) for each in (SENTENCE, UNSURE))
    office.close()
    for note in (
        "Read “Germny” as “germany”.",
        "These results ignore “that are hiring”.",
        "Not used: “no Foobarix”. Nothing was left out for it.",
    ):
        assert note in explore
    assert "Check “excluding Cleveland”: this may exclude the businesses that are named right after it" in unsure


def _text(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
