"""What is the same value, and how it leaves a record: tables of what is meant."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import orjson
import pytest

from siteglass.corpus.lead import ContactDetail, Lead, Mark, TechnologyDetail
from siteglass.index.documents import document
from siteglass.index.mapping import FILTER_ONLY
from siteglass.settings import Settings, SettingsError
from siteglass.suppression.filter import EEA, hidden_countries
from siteglass.suppression.redaction import DETAIL_LISTS, changes, hashes, lead_getter, names, without_personal
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
        ("+49 (0)30 5550100", Kind.PHONE, "49305550100"),
        ("anna@googlemail.com", Kind.EMAIL, "anna@gmail.com"),
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
    [
        "",
        "@",
        "anna@",
        "a b@example.com",
        "12",
        "localhost",
        "10.0.0.1",
        "sha256:" + "0" * 64,
        "x" * 400 + "@y.zz",
        "a@b",
        "https://user:pw@example.com",
        "jo@example.com)",
    ],
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
    lead = Lead(domain="a.example", crawled_at_ms=0, phones=("0049 (30) 555-0100 ext. 12", "+49 30 5550101"))
    hashed = HASHER.of_value(read_value(listed))
    assert hashed in hashes(lead_getter(lead), HASHER)
    assert changes(lead_getter(lead), {hashed}, HASHER) == {"phones": ("+49 30 5550101",)}
    eastern = Lead(domain="a.example", crawled_at_ms=0, phones=("+٤٩ ٣٠ ٥٥٥٠١٠٠",))
    assert hashed in hashes(lead_getter(eastern), HASHER)


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


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("“jo@example.com”", "“”"),
        ("|jo@example.com|", "||"),
        ("*jo@example.com*", "**"),
        ("{jo@example.com}", "{}"),
        ("«jo@example.com»…·", "«»…·"),
        ("jo@example.com–Tel", "–Tel"),
        ("jo@example.com- x", "- x"),
        ("Jo@Example.com.", "."),
        ("jo@example.com,o@example.com", ",o@example.com"),
        ("https://x.example/?to=jo%40example.com&a=1", "https://x.example/?to=&a=1"),
        ("mailto:jo@example.com?subject=x", "mailto:?subject=x"),
        ("jo.jo@example.com", "jo.jo@example.com"),
        ("jo@example.community", "jo@example.community"),
    ],
)
def test_an_address_leaves_whatever_stands_around_it(text: str, left: str) -> None:
    suppressed = {HASHER.of_value(read_value("jo@example.com"))}
    lead = Lead(domain="a.example", crawled_at_ms=0, description=text)
    assert changes(lead_getter(lead), suppressed, HASHER).get("description", text) == left
    assert (left != text) == (not suppressed.isdisjoint(hashes(lead_getter(lead), HASHER)))


@pytest.mark.parametrize(
    "entry", ["Jo <jo@example.com>", "mailto:jo@example.com?subject=x", "MAILTO:jo@example.com", "jo@example.com)"]
)
def test_an_address_leaves_the_list_however_it_is_written_there(entry: str) -> None:
    suppressed = {HASHER.of_value(read_value("jo@example.com"))}
    lead = Lead(domain="a.example", crawled_at_ms=0, emails=(entry, "b@example.com"), emails_personal=(entry,))
    assert not suppressed.isdisjoint(hashes(lead_getter(lead), HASHER))
    assert changes(lead_getter(lead), suppressed, HASHER) == {"emails": ("b@example.com",), "emails_personal": ()}


def _detail(value: str, page: str | None = None) -> ContactDetail:
    return ContactDetail(value=value, owner="own", confidence=90, page=page, crawled_at_ms=1)


def test_details_of_a_suppressed_value_go_and_so_does_a_page_that_names_it() -> None:
    lead = Lead(
        domain="a.example",
        crawled_at_ms=0,
        emails=("jo@example.com", "b@example.com"),
        phones=("+1 202 555 0100", "+1 202 555 0101"),
        country="USA",
        emails_detail=(
            _detail("jo@example.com", "https://a.example/jo"),
            _detail("b@example.com", "https://a.example/?to=jo%40example.com"),
        ),
        phones_detail=(
            _detail("+1 202 555 0100", "https://a.example/call"),
            _detail("+1 202 555 0101", "https://a.example/call/202-555-0100"),
        ),
    )
    suppressed = {HASHER.of_value(read_value(text)) for text in ("jo@example.com", "+1 202 555 0100")}
    left = {
        "emails": ("b@example.com",),
        "phones": ("+1 202 555 0101",),
        "emails_detail": (_detail("b@example.com"),),
        "phones_detail": (_detail("+1 202 555 0101"),),
    }
    assert changes(lead_getter(lead), suppressed, HASHER) == left
    assert suppressed <= hashes(lead_getter(lead), HASHER)


def test_a_stored_response_with_details_alone_loses_them_too() -> None:
    """What a repeated request returns may show neither `emails` nor `phones`."""
    record = {
        "emails_detail": [_detail("jo@example.com", "https://a.example/"), _detail("b@example.com")],
        "phones_detail": [_detail("+1 202 555 0100", "https://a.example/")],
    }
    suppressed = {HASHER.of_value(read_value(text)) for text in ("jo@example.com", "+1 202 555 0100")}
    assert suppressed <= hashes(record.get, HASHER)
    left = {"emails_detail": [_detail("b@example.com")], "phones_detail": []}
    assert changes(record.get, suppressed, HASHER) == left


def test_no_shown_field_keeps_an_address() -> None:
    """Every field of a lead and of a record that can hold a text, so that a new one is not forgotten."""
    address = "jo@example.com"
    suppressed = {HASHER.of_value(read_value(address))}
    texts: dict[str, Any] = {}
    for field in msgspec.structs.fields(Lead):
        kind = msgspec.inspect.type_info(field.type)
        kinds = kind.types if isinstance(kind, msgspec.inspect.UnionType) else (kind,)
        if field.name in DETAIL_LISTS:
            texts[field.name] = (
                _detail(address if field.name == "emails_detail" else "+1 202 555 0100", "https://a.example/"),
                _detail("b@example.com", f"https://a.example/?mail={address}"),
            )
        elif field.name == "technologies_detail":
            texts[field.name] = tuple(
                TechnologyDetail(
                    value=value,
                    marks=(Mark(kind="inline_script", rule="a", excerpt=excerpt),),
                    page=f"https://a.example/?mail={address}",
                    first_seen_ms=1,
                    last_seen_ms=2,
                )
                for value, excerpt in (("Wix", f"see {address}"), (address, "a"))
            )
        elif any(isinstance(one, msgspec.inspect.VarTupleType) for one in kinds):
            texts[field.name] = (address, f"see {address}")
        elif any(isinstance(one, msgspec.inspect.DictType) for one in kinds):
            texts[field.name] = {"facebook": f"https://x.example/{address}"}
        elif any(isinstance(one, msgspec.inspect.StrType) for one in kinds):
            texts[field.name] = f"see {address}"
    # Codes, domains, numbers and ids of trades: no other text enters the store in them.
    codes = dict.fromkeys(("country", "state", "language", "email_owner", "phone_owner"), "")
    lists = dict.fromkeys(("trades", "aliases", "hidden_contacts", "added", "dropped", "phones"), ())
    texts["emails"] = (*texts["emails"], "b@example.com")
    texts["technologies"] = (*texts["technologies"], "Wix")
    lead = Lead(crawled_at_ms=0, **{**texts, **codes, **lists, "domain": "a.example", "trade_sources": {}})
    assert address not in str(msgspec.structs.replace(lead, **changes(lead_getter(lead), suppressed, HASHER)))
    record = orjson.loads(orjson.dumps(document(lead, "f#0")))
    shown = {**record, **changes(record.get, suppressed, HASHER)}
    assert address not in str({name: value for name, value in shown.items() if name not in FILTER_ONLY})


def test_a_hostile_page_keeps_nobody_waiting() -> None:
    """Hundreds of texts of hundreds of addresses, each another one: what is too much leaves without being looked at."""
    texts = tuple(" ".join(f"a{number}x{n}@ü{n}.example" for n in range(20)) for number in range(200))
    lead = Lead(domain="a.example", crawled_at_ms=0, keywords=texts, links=texts, text="@" * 10_000 + "a@" * 5_000)
    started = time.process_time()
    changed = changes(lead_getter(lead), {b"x" * 32}, HASHER)
    # 0.1 s at rest; a busy host makes it several times as much, and looking at every address hundreds of times.
    assert time.process_time() - started < 5
    assert "a199x19@" not in str(changed["links"])


def test_a_name_below_a_site_is_listed_with_it() -> None:
    assert names("example.com") == ("example.com",)
    assert names("shop.example.co.uk") == ("shop.example.co.uk", "example.co.uk")
    assert names("www.Shop.example.com") == ("www.shop.example.com", "shop.example.com", "example.com")
    assert names("co.uk") == ("co.uk",)
    assert names("example.co.uk") == ("example.co.uk",)


def test_without_personal_addresses() -> None:
    lead = Lead(
        domain="a.example",
        crawled_at_ms=0,
        emails=("info@a.example", "anna@a.example"),
        emails_personal=("anna@a.example",),
        description="Ask anna@a.example.",
        emails_detail=(_detail("anna@a.example"), _detail("info@a.example", "https://a.example/anna@a.example")),
    )
    assert without_personal(lead_getter(lead)) == {
        "emails": ("info@a.example",),
        "emails_personal": (),
        "description": "Ask .",
        "emails_detail": (_detail("info@a.example"),),
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
