"""What is the same value, and how it leaves a record: tables of what is meant."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from siteglass.lead import Lead
from siteglass.settings import Settings, SettingsError
from siteglass.suppression.hidden import EEA, hidden_countries
from siteglass.suppression.redaction import changes, hashes, lead_getter, names, without_personal
from siteglass.suppression.values import Hasher, Kind, NotAValue, read_value

HASHER = Hasher(Settings(suppression_secret="a secret of the tests that is long enough"))


@pytest.mark.parametrize(
    ("text", "kind", "normal"),
    [
        ("Anna@Example.COM", Kind.EMAIL, "anna@example.com"),
        (" mailto:anna+news@example.com ", Kind.EMAIL, "anna@example.com"),
        ("a.n.n.a+x@gmail.com", Kind.EMAIL, "anna@gmail.com"),
        ("a.n@example.com", Kind.EMAIL, "a.n@example.com"),
        ("+tag@example.com", Kind.EMAIL, "+tag@example.com"),
        ("anna@bücher.example", Kind.EMAIL, "anna@xn--bcher-kva.example"),
        ("+49 (30) 555-0100", Kind.PHONE, "49305550100"),
        ("0049 30 5550100", Kind.PHONE, "49305550100"),
        ("https://www.Example.com/contact?x=1", Kind.DOMAIN, "example.com"),
        ("bücher.example", Kind.DOMAIN, "xn--bcher-kva.example"),
        ("shop.example.co.uk", Kind.DOMAIN, "shop.example.co.uk"),
    ],
)
def test_one_form(text: str, kind: Kind, normal: str) -> None:
    value = read_value(text)
    assert (value.kind, value.text) == (kind, normal)


@pytest.mark.parametrize(
    "text",
    ["", "@", "anna@", "a b@example.com", "12", "localhost", "10.0.0.1", "sha256:" + "0" * 64, "x" * 400 + "@y.z"],
)
def test_what_is_no_value(text: str) -> None:
    with pytest.raises(NotAValue):
        read_value(text)


@pytest.mark.parametrize(
    ("listed", "carried"),
    [
        ("anna@example.com", "Anna+shop@Example.com"),
        ("an.na@gmail.com", "anna@gmail.com"),
        ("anna@bücher.example", "anna@xn--bcher-kva.example"),
        ("email:sha256:" + hashlib.sha256(b"an.na@gmail.com").hexdigest(), "an.na@gmail.com"),
        ("email:sha256:" + hashlib.sha256(b"anna@example.com").hexdigest().upper(), "anna+x@example.com"),
    ],
)
def test_a_listed_address_is_recognised(listed: str, carried: str) -> None:
    lead = Lead(domain="a.example", crawled_at_ms=0, emails=(carried, "other@example.com"))
    hashed = HASHER.of_value(read_value(listed))
    assert hashed in hashes(lead_getter(lead), HASHER)
    assert changes(lead_getter(lead), {hashed}, HASHER) == {"emails": ("other@example.com",)}


@pytest.mark.parametrize("listed", ["+49 30 5550100", "phone:sha256:" + hashlib.sha256(b"+49305550100").hexdigest()])
def test_a_listed_phone_is_recognised(listed: str) -> None:
    lead = Lead(domain="a.example", crawled_at_ms=0, phones=("0049 (30) 555-0100", "+49 30 5550101"))
    hashed = HASHER.of_value(read_value(listed))
    assert hashed in hashes(lead_getter(lead), HASHER)
    assert changes(lead_getter(lead), {hashed}, HASHER) == {"phones": ("+49 30 5550101",)}


def test_a_hash_is_keyed_and_of_its_kind() -> None:
    other = Hasher(Settings(suppression_secret="another secret of the tests, long enough"))
    assert HASHER.of_value(read_value("a@b.cd")) != other.of_value(read_value("a@b.cd"))
    digest = hashlib.sha256(b"49305550100").hexdigest()
    assert HASHER.of_value(read_value(f"email:sha256:{digest}")) != HASHER.of_value(
        read_value(f"phone:sha256:{digest}")
    )


def test_a_hash_is_an_hmac() -> None:
    key = hashlib.sha256(b"siteglass suppression\na secret of the tests that is long enough").digest()
    inner = hashlib.sha256(b"anna@example.com").digest()
    assert HASHER.of_value(read_value("anna@example.com")) == hmac.digest(key, b"email" + inner, "sha256")


def test_addresses_leave_texts_too() -> None:
    lead = Lead(
        domain="a.example",
        crawled_at_ms=0,
        title="anna@example.com",
        description="Write to Anna@example.com! Or to b@example.com, call +49 30 5550100.",
        text="x" * 5_000 + " <anna@example.com> " + "@" * 5_000,
        keywords=("anna@example.com", "cakes"),
        links=("mailto:anna@example.com", "https://a.example/?mail=anna@example.com"),
        phones=("+49 30 5550100",),
    )
    suppressed = {HASHER.of_value(read_value("anna@example.com")), HASHER.of_value(read_value("+49305550100"))}
    changed = changes(lead_getter(lead), suppressed, HASHER)
    assert changed == {
        "title": "",
        "description": "Write to ! Or to b@example.com, call .",
        "text": lead.text.replace("anna@example.com", ""),
        "keywords": ("", "cakes"),
        "links": ("mailto:", "https://a.example/?mail="),
        "phones": (),
    }


def test_a_name_below_a_site_is_listed_with_it() -> None:
    assert names("example.com") == ("example.com",)
    assert names("shop.example.co.uk") == ("shop.example.co.uk", "example.co.uk")
    assert names("example.co.uk") == ("example.co.uk",)


def test_without_personal_addresses() -> None:
    lead = Lead(
        domain="a.example",
        crawled_at_ms=0,
        emails=("info@a.example", "anna@a.example"),
        emails_personal=("anna@a.example",),
        description="Ask anna@a.example.",
    )
    assert without_personal(lead_getter(lead)) == {
        "emails": ("info@a.example",),
        "emails_personal": (),
        "description": "Ask .",
    }


@pytest.mark.parametrize(
    ("given", "countries"),
    [((), set()), (("DEU",), {"DEU"}), (("EEA", "GBR"), {*EEA, "GBR"})],
)
def test_countries_of_the_policy(given: tuple[str, ...], countries: set[str]) -> None:
    assert hidden_countries(Settings(personal_addresses_hidden=given)) == countries
    assert len(EEA) == 30


@pytest.mark.parametrize(
    ("read", "changed", "message"),
    [
        (
            hidden_countries,
            {"personal_addresses_hidden": ("DE",)},
            "expected alpha-3 codes such as DEU, or EEA, found 'DE'",
        ),
        (
            Hasher,
            {"suppression_secret": "short"},
            "SITEGLASS_SUPPRESSION_SECRET must be a secret of at least 32 characters",
        ),
    ],
)
def test_settings_that_cannot_hold(read: Callable[[Settings], object], changed: dict[str, Any], message: str) -> None:
    given = replace(Settings(suppression_secret="a secret of the tests that is long enough"), **changed)
    with pytest.raises(SettingsError, match=message):
        read(given)
