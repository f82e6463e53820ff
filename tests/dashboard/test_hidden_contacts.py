"""What a lead does not show because it is someone else's: kept without the values, told in words."""

from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from siteglass.dashboard.explore.contacts import hidden_lines
from siteglass.ingest.contact_details import hidden_contacts
from siteglass.ingest.ownership import Owner

OWN = Owner("own", 95, reason="domain")
OTHERS = {
    ("a.example", "email", "hi@studio.example"): Owner("third_party", 90, "designer", "named"),
    ("a.example", "phone", "+49301"): Owner("third_party", 80, "regulator", "named"),
    ("a.example", "phone", "+49302"): Owner("third_party", 80, "regulator", "named"),
}
SHOWN = {("a.example", "email", "info@a.example"): OWN, ("b.example", "phone", "+49303"): OWN}


def test_of_hidden_values_only_kind_and_owner_are_kept() -> None:
    contacts: dict[tuple[str, str], dict[str, int]] = {}
    for domain, kind, value in OTHERS | SHOWN:
        contacts.setdefault((domain, kind), {})[value] = 1
    hidden = hidden_contacts(["a.example", "b.example", "c.example"], contacts, OTHERS | SHOWN)
    assert hidden == [["email designer", "phone regulator", "phone regulator"], [], []]


def test_their_number_has_a_limit() -> None:
    many = {("a.example", "phone", f"+4930{number}"): Owner("third_party", 80, "host") for number in range(300)}
    contacts = {("a.example", "phone"): {value: 1 for _, _, value in many}}
    assert hidden_contacts(["a.example"], contacts, many) == [["phone host"] * 50]


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ([], []),
        (["email designer"], ["1 address hidden: it belongs to the web designer."]),
        (["phone regulator"] * 2, ["2 numbers hidden: they belong to authorities."]),
        (["email other", "email other"], ["2 addresses hidden: they belong to someone else."]),
    ],
)
def test_they_are_counted_in_words(stored: list[str], said: list[str]) -> None:
    assert hidden_lines({"hidden_contacts": stored}) == said


def test_a_lead_of_an_older_schema_has_none() -> None:
    assert hidden_lines({}) == []


def test_every_kind_of_third_party_has_words() -> None:
    table = files("siteglass.ingest.extract").joinpath("third_parties.tsv").read_text(encoding="utf-8")
    kinds = {row["kind"] for row in csv.DictReader(table.splitlines(), delimiter="\t")} - {"own"}
    assert len(kinds) > 10
    without = [kind for kind in kinds if "someone else" in hidden_lines({"hidden_contacts": [f"email {kind}"]})[0]]
    assert without == []
