"""On a terminal, `sgl` asks once before it buys more than one page, or a set amount; in a pipe it never does."""

from __future__ import annotations

import pytest

from testing.customers import Customer
from tests.client.commanding import Desk

SEARCH = ("search", "--filter", "has_email=true", "--max-leads", "5", "-o", "leads.csv")
LOW = ("--ask-above", "4")
QUESTION = "This costs 5 lead credits. Continue? [y/N]"


def test_no_spends_nothing(desk: Desk, customer: Customer) -> None:
    with customer.untouched():
        code, shown = desk.on_terminal(*SEARCH, *LOW, typed="n\n")
        assert code == 130
        assert QUESTION in shown
        assert "Stopped before anything was spent." in shown
        assert list(desk.folder.glob("leads*")) == []


def test_yes_spends(desk: Desk, customer: Customer) -> None:
    before = customer.balance()
    code, shown = desk.on_terminal(*SEARCH, *LOW, typed="y\n")
    assert (code, QUESTION in shown) == (0, True)
    assert customer.balance() == (before[0], before[1] - 5)


@pytest.mark.parametrize("options", [(*LOW, "--yes"), (*LOW, "--max-lead-credits", "4"), ("--ask-above", "5"), ()])
def test_when_it_does_not_ask(desk: Desk, options: tuple[str, ...]) -> None:
    _code, shown = desk.on_terminal(*SEARCH, *options)
    assert "Continue?" not in shown
    assert (desk.folder / "leads.csv").exists()


def test_more_than_one_page_is_asked_about_once(desk: Desk, customer: Customer) -> None:
    words = ("search", "--filter", "has_email=true", "--max-leads", "120", "-o", "leads.csv")
    with customer.untouched():
        code, shown = desk.on_terminal(*words, typed="n\n")
    assert (code, shown.count("Continue?")) == (130, 1)
    assert "Businesses that have an email address\r\nThis costs at most 120 lead credits. Continue? [y/N]" in shown
    assert desk.on_terminal(*words, "--yes")[0] == 0
    assert len((desk.folder / "leads.csv").read_text().splitlines()) == 121


def test_a_pipe_is_never_asked(desk: Desk) -> None:
    assert desk.run(*SEARCH, *LOW).json["lead_credits"] == 5


def test_the_setting(desk: Desk, customer: Customer) -> None:
    (desk.folder / "domains.txt").write_text("a.example\nb.example\nc.example\n")
    desk.environment["SITEGLASS_ASK_ABOVE"] = "2"
    with customer.untouched():
        code, shown = desk.on_terminal("enrich", "domains.txt", "-o", "known.csv", typed="n\n")
        assert (code, "This costs at most 3 lead credits and 1 API credit. Continue?" in shown) == (130, True)
