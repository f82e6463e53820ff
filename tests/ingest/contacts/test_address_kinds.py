"""Whose addresses are: of a person, a role, shared by several, or unknown; each with its reason."""

from __future__ import annotations

import pytest

from siteglass.corpus.address_kinds import kind_of
from siteglass.ingest.extract.emails import emails
from siteglass.ingest.extract.named_people import with_people
from tests.ingest.content.pages import page


@pytest.mark.parametrize(
    ("kind", "reason", "locals_"),
    [
        ("role", "role_word", """info info-ulm verkauf.nord infoberlin disastersupport sekretariat2 biuro ajanvaraus
         bauamt urgencias anagrafe rejestracja muhasebe priemnaya vorstand team office.acme hr-dept"""),
        ("shared", "business_name", "larch larch-saws larchsaws mailinglarchsaws"),
        ("shared", "place", "kaunas lyon"),
        ("shared", "trade", "restaurant baeckerei"),
        ("shared", "number", "2026"),
        ("person", "given_name", "anna anna.larchsaws weber_anna annaweber jean-luc.moreau mehmet.yilmaz p.anna"),
        ("person", "form_of_name", "a.weber j.baker weber.k brzozowska.dluga"),
        ("unknown", "no_sign", "weber xk c-scm privatedining"),
    ],
)  # fmt: skip
def test_kinds_by_the_address_and_the_name_of_the_business(kind: str, reason: str, locals_: str) -> None:
    found = {local: kind_of(f"{local}@isp.de", "Larch Saws") for local in locals_.split()}
    assert {local: tuple(one) for local, one in found.items()} == dict.fromkeys(found, (kind, reason))


def test_generic_are_roles_and_shared_ones() -> None:
    addresses = ("info@acme.de", "larch@acme.de", "anna@acme.de", "zk@acme.de")
    assert [kind_of(one, "Larch").is_generic for one in addresses] == [True, True, False, False]


def test_the_domain_of_the_address_is_a_name_of_the_business_too() -> None:
    assert kind_of("larchtools@larchtools.example", "Something Else") == ("shared", "business_name")


@pytest.mark.parametrize(
    ("address", "is_named", "kind"),
    [
        ("annaweber@weber.de", False, ("person", "given_name")),
        ("jlindqvist@lindqvist.de", False, ("shared", "business_name")),
        ("jlindqvist@lindqvist.de", True, ("person", "named_on_page")),
        ("lindqvist@lindqvist.de", True, ("shared", "business_name")),
        ("ismailov@mail.ru", False, ("unknown", "no_sign")),
        ("12345678@qq.com", False, ("unknown", "no_sign")),
    ],
)
def test_people_of_family_firms_and_of_free_mailers(address: str, is_named: bool, kind: tuple[str, str]) -> None:
    assert kind_of(address, "", is_named) == kind


def test_a_page_of_a_family_firm_names_its_people() -> None:
    read = page("<p>Jan Lindqvist, jlindqvist@lindqvist.de</p>")
    assert [one.label for one in with_people(read, emails(read))] == ["named"]


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Twila Ruckel, mail truckel@acme.de or twila@acme.de or sales@acme.de", ["truckel", "twila"]),
        ("Dr. Jörg Müller-Groß<br>jmuellergross@acme.de", ["jmuellergross"]),
        ("Ruckel, Twila: twila_ruckel@acme.de", ["twila_ruckel"]),
        ("Jan van den Berg j.vandenberg@acme.de", ["j.vandenberg"]),
        ("Ольга Кравец kravets@acme.de", ["kravets"]),
        ("Ελένη Μαυρή emavri@acme.de", ["emavri"]),
        ("Private Dining for groups, the best dining: privatedining@acme.de", []),
        ("Audco Valves, valves@acme.de", []),
        ("Colorado Springs coloradosprings@acme.de", []),
        ("Our office: Twila Ruckel. Write to zkl@acme.de", []),
    ],
)  # fmt: skip
def test_people_whom_the_page_names(text: str, people: list[str]) -> None:
    read = page(f"<p>{text}</p>")
    found = with_people(read, emails(read))
    assert sorted(one.value.partition("@")[0] for one in found if one.label == "named") == sorted(people)
    assert {kind_of(one.value, "", one.label == "named").kind for one in found if one.label} <= {"person"}
