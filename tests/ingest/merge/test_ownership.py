"""Whose an address or a number is, by its domain, by what stands around it and by what it stands together with."""

from __future__ import annotations

import pytest

from siteglass.ingest.ownership import ContactContext, owners


def seen(
    value: str, *, page: int = 0, method: str = "text", group: int = 1, party: str = "", block: str = ""
) -> ContactContext:
    kind = "email" if "@" in value else "phone"
    return ContactContext(kind, value, page, method, group, party, block)


def owner(value: str, *contexts: ContactContext, domain: str = "acme-tools.com") -> tuple[str, str, str]:
    found = owners(domain, "Acme Tools", contexts)["email" if "@" in value else "phone", value]
    return found.owner, found.party, found.reason


OWN = seen("info@acme-tools.com", group=9)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (seen("jo@acme-tools.com", party="designer"), ("own", "", "domain")),
        (seen("jo@mail.acme-tools.com", block="quote"), ("own", "", "domain")),
        (seen("acme@gmail.com"), ("affiliate", "", "free_mail")),
        (seen("acme@pec.libero.it"), ("affiliate", "", "free_mail")),
        (seen("jo@gmail.com", block="quote"), ("third_party", "customer", "named")),
        (seen("jo@acmetools.de"), ("affiliate", "", "similar_domain")),
        (seen("jo@acme-tool.net"), ("affiliate", "", "similar_domain")),
        (seen("hi@webstudio.com", party="designer"), ("third_party", "designer", "named")),
        (seen("hi@webstudio.com"), ("third_party", "other", "other_domain")),
        (seen("jo@holding.com", method="json_ld", group=-1), ("affiliate", "", "structured_data")),
        (seen("jo@holding.com", group=9), ("affiliate", "", "beside_own_address")),
        (seen("jane@example.org", block="code"), ("third_party", "example", "named")),
        (seen("jo@holding.com", block="branch"), ("affiliate", "", "named_own")),
        (seen("j.acmetools@holding.com"), ("affiliate", "", "similar_name")),
    ],
)
def test_addresses_of_a_site_with_its_own(context: ContactContext, expected: tuple[str, str, str]) -> None:
    assert owner(context.value, OWN, context) == expected


def test_an_address_that_only_a_form_holds_is_less_certain() -> None:
    form, shown = seen("jo@acme-tools.com", method="field", group=-1), seen("jo@acme-tools.com", page=1)
    found = [owners("acme-tools.com", "", some)["email", form.value] for some in ([form], [form, shown])]
    assert [(one.owner, one.confidence) for one in found] == [("own", 40), ("own", 95)]


def test_the_only_address_of_a_site_is_shown_unless_someone_else_is_named() -> None:
    assert owner("jo@holding.com", seen("jo@holding.com")) == ("unknown", "", "only_address")
    assert owner("hi@themes.com", seen("hi@themes.com", party="designer")) == ("third_party", "designer", "named")


def test_one_sighting_that_names_nobody_else_is_enough() -> None:
    sightings = (seen("a@gmail.com", party="regulator"), seen("a@gmail.com", page=1))
    assert owner("a@gmail.com", OWN, *sightings) == ("affiliate", "", "free_mail")


def test_many_addresses_on_one_other_domain_are_those_of_the_group() -> None:
    several = [seen(f"{name}@holding.com", group=number) for number, name in enumerate(("a", "b", "c"), 20)]
    assert owner("a@holding.com", OWN, *several) == ("affiliate", "", "many_addresses")
    assert owner("a@holding.com", OWN, *several[:2]) == ("third_party", "other", "other_domain")


def test_addresses_beside_one_that_is_named_after_the_business_are_the_owners() -> None:
    named = seen("j.acmetools@holding.com", group=3)
    assert owner("office@holding.com", OWN, named, seen("office@holding.com")) == (
        "affiliate", "", "domain_of_affiliate",
    )  # fmt: skip


def test_a_number_of_an_own_branch_is_the_owners() -> None:
    assert owner("+15550100", seen("+15550100", block="branch")) == ("own", "", "named_own")


def test_an_address_on_several_pages_outside_of_footers_is_the_owners() -> None:
    pages = [seen("jo@holding.com", page=page) for page in (0, 1)]
    assert owner("jo@holding.com", OWN, *pages) == ("affiliate", "", "on_several_pages")
    in_footers = [one._replace(block="footer") for one in pages]
    assert owner("jo@holding.com", OWN, *in_footers) == ("third_party", "other", "other_domain")


def test_numbers_belong_to_the_address_beside_them() -> None:
    regulator = seen("help@office.gov", group=3, party="regulator")
    beside = seen("+4930901820", group=3)
    assert owner("+4930901820", OWN, regulator, beside, seen("+4930901829", group=9)) == (
        "third_party", "regulator", "named",
    )  # fmt: skip
    assert owner("+4930901820", OWN, seen("+4930901820", group=9, party="dpo")) == ("own", "", "beside_own_address")
    assert owner("+4930901820", OWN, seen("+4930901820", group=4)) == ("own", "", "unclaimed")
    assert owner("+4930901820", OWN, seen("+4930901820", party="host"), seen("+4930901821", group=9)) == (
        "third_party", "host", "named",
    )  # fmt: skip


def test_numbers_of_other_pages_do_not_stand_together() -> None:
    regulator = seen("help@office.gov", page=1, group=3, party="regulator")
    assert owner("+4930901820", OWN, regulator, seen("+4930901820", page=0, group=3)) == ("own", "", "unclaimed")


@pytest.mark.parametrize("party", ["designer", "insurer", "regulator"])
def test_a_site_keeps_its_only_number_whoever_is_named(party: str) -> None:
    assert owner("+4930901820", seen("+4930901820", party=party)) == ("unknown", "", "only_numbers")


@pytest.mark.parametrize("party", ["customer", "example"])
def test_the_only_number_is_not_shown_if_it_is_that_of_a_customer_or_an_example(party: str) -> None:
    assert owner("+4930901820", seen("+4930901820", party=party)) == ("third_party", party, "named")


def test_of_numbers_that_all_seem_to_be_others_one_is_shown() -> None:
    hotline, regulator = (seen(f"+493090182{n}", party=party) for n, party in enumerate(("hotline", "regulator")))
    again = regulator._replace(place=1)
    assert owner(regulator.value, hotline, regulator, again) == ("unknown", "", "only_numbers")
    assert owner(hotline.value, hotline, regulator, again) == ("third_party", "hotline", "named")
    # A site that names a designer may be one.
    assert owner(regulator.value, regulator, seen("+4930901829", party="designer")) == (
        "third_party", "regulator", "named",
    )  # fmt: skip


def test_a_number_in_code_is_an_example_also_where_it_is_the_only_one() -> None:
    assert owner("+4930901820", seen("+4930901820", block="code")) == ("third_party", "example", "named")


def test_an_address_with_the_name_of_the_business_is_its_own_at_any_provider() -> None:
    assert owner("acmetools77@isp.net", OWN, seen("acmetools77@isp.net")) == ("affiliate", "", "similar_name")
    # Even where the page names someone else, if the provider is one for everybody.
    at_provider = seen("acme-tools@gmail.com", party="directory")
    assert owner("acme-tools@gmail.com", OWN, at_provider) == ("affiliate", "", "similar_name")
    elsewhere = seen("acmetools@office.gov", party="regulator")
    assert owner("acmetools@office.gov", OWN, elsewhere) == ("third_party", "regulator", "named")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("orders@thimblebags.com", ("affiliate", "", "shared_name")),
        ("hora@agenda-roble.cl", ("affiliate", "", "shared_name")),
        ("book@roblethimble.clinic-software.com", ("affiliate", "", "named_host")),
        ("help@clinic-software.com", ("third_party", "other", "other_domain")),
        ("info@bakery-guild.com", ("third_party", "other", "other_domain")),
        ("info@london-council.com", ("third_party", "other", "other_domain")),
    ],
)
def test_a_rare_word_of_the_name_is_shared_by_sisters_only(value: str, expected: tuple[str, str, str]) -> None:
    contexts = (seen("info@roblethimble-london.com", group=9), seen(value))
    found = owners("roblethimble-london.com", "Roble Thimble Bakery London", contexts)["email", value]
    assert (found.owner, found.party, found.reason) == expected


def test_numbers_after_those_of_others_are_not_the_owners() -> None:
    """Groups of one paragraph: 64 to 127."""
    office, rescue = seen("+14155550001", group=64, party="regulator"), seen("+14155550002", group=65)
    own = seen("+14155550003", group=200)
    assert owner(rescue.value, OWN, office, rescue, own) == ("third_party", "regulator", "among_others")
    before = seen("+14155550002", group=63 + 64), seen("+14155550001", group=64 + 64, party="regulator")
    assert owner("+14155550002", OWN, *before, own)[0] == "own"
    beside_own = seen("info@acme-tools.com", group=66)
    assert owner(rescue.value, office, rescue, beside_own, own)[0] == "own"
    assert owner(rescue.value, OWN, office, rescue, seen(rescue.value, page=1), own)[0] == "own"
    assert owner(rescue.value, OWN, office, rescue._replace(method="tel"), own)[0] == "own"


def test_a_cloaked_address_without_a_place_is_not_on_several_pages() -> None:
    several = [seen("a@host.com", page=number, group=-1) for number in range(3)]
    assert owner("a@host.com", OWN, *several) == ("third_party", "other", "other_domain")
