"""Proof of control: a token in DNS or on the site proves a domain, and nothing that is not public is ever reached."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from siteglass.errors import Unavailable
from siteglass.platform.outgoing import Guard
from siteglass.privacy import control
from siteglass.privacy.control import Control, ControlCheck, open_control, places
from siteglass.settings import Settings, SettingsError
from testing.hostile_addresses import HOSTILE
from testing.loopback_servers import Names, Site, certificate, hosting, naming
from testing.ports import free_port

TOKEN = "siteglass-proof=0123456789ABCDEFGHJKMNPQRS"
LOOPBACK = Guard(["127.0.0.0/8"])
DOMAIN = "proven.test"
NO_TXT, NO_ADDRESS = "no TXT record with the token", "no public address"
NOTHING = [NO_TXT, NO_ADDRESS, NO_ADDRESS]


@pytest.fixture(scope="module")
def names() -> Iterator[Names]:
    with naming() as made:
        yield made


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with hosting() as made:
        yield made


@pytest.fixture(autouse=True)
def afresh(names: Names, site: Site) -> None:
    names.records, names.asked, names.broken, names.silent = {}, [], False, False
    names.broken_kinds = ()
    site.asked, site.delay_s = [], 0
    site.say(TOKEN)


def look(names: Names, site: Site, domain: str = DOMAIN, *, allowed: bool = True) -> list[ControlCheck]:
    made = Control([("127.0.0.1", names.port)], LOOPBACK if allowed else Guard(), site.port, free_port())
    return asyncio.run(made.look(domain, TOKEN))


def proven(looks: list[ControlCheck]) -> list[bool]:
    return [one.proven for one in looks]


# --- what proves ----------------------------------------------------------------------------------


def test_a_txt_record(names: Names, site: Site) -> None:
    names.say(f"_siteglass.{DOMAIN}", "TXT", ['"something else"', f'"{TOKEN}"'])
    looks = look(names, site)
    assert proven(looks) == [True, False, False]
    assert [one.place for one in looks] == [
        f"DNS, TXT record of _siteglass.{DOMAIN}",
        f"http://{DOMAIN}/.well-known/siteglass.txt",
        f"https://{DOMAIN}/.well-known/siteglass.txt",
    ]
    assert [one.found for one in looks] == ["the token", NO_ADDRESS, NO_ADDRESS]
    assert site.asked == []


def test_a_txt_record_in_pieces(names: Names, site: Site) -> None:
    names.say(f"_siteglass.{DOMAIN}", "TXT", [f'"{TOKEN[:9]}" "{TOKEN[9:]}"'])
    assert proven(look(names, site)) == [True, False, False]


@pytest.mark.parametrize("body", [TOKEN, f"{TOKEN}\r\n", f"# siteglass\n\n  {TOKEN}  \n"])
def test_a_file_on_the_site(names: Names, site: Site, body: str) -> None:
    names.say(DOMAIN, "A", ["127.0.0.1"])
    site.say(body)
    looks = look(names, site)
    assert proven(looks) == [False, True, False]
    assert looks[0].found == NO_TXT
    assert site.asked == [(DOMAIN, "/.well-known/siteglass.txt")]


@pytest.mark.promise("opt_out.domain")
def test_a_file_behind_https(names: Names, tmp_path: Path) -> None:
    pem, key = certificate(tmp_path, DOMAIN)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(pem, key)
    names.say(DOMAIN, "A", ["127.0.0.1"])
    with hosting(server) as safe, hosting() as plain:
        safe.say(TOKEN)
        plain.say(status=301, Location=f"https://{DOMAIN}/.well-known/siteglass.txt")
        trusting = ssl.create_default_context(cafile=str(pem))
        for tls, expected in ((trusting, [False, False, True]), (None, [False, False, False])):
            made = Control([("127.0.0.1", names.port)], LOOPBACK, plain.port, safe.port, tls)
            looks = asyncio.run(made.look(DOMAIN, TOKEN))
            assert proven(looks) == expected
    assert looks[1].found == "a response with status 301"
    assert looks[2].found == "no response (ClientConnectorCertificateError)"


# --- what does not --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TOKEN.lower(), f"{TOKEN}0", TOKEN[:-1], f"x{TOKEN}", ""])
def test_almost_the_token(names: Names, site: Site, text: str) -> None:
    names.say(f"_siteglass.{DOMAIN}", "TXT", [f'"{text}"'])
    names.say(DOMAIN, "A", ["127.0.0.1"])
    site.say(text)
    looks = look(names, site)
    assert proven(looks) == [False, False, False]
    assert [one.found for one in looks[:2]] == [NO_TXT, "a response without the token"]


@pytest.mark.promise("opt_out_confirm.bounded")
def test_a_token_behind_the_first_kibibyte(names: Names, site: Site) -> None:
    names.say(DOMAIN, "A", ["127.0.0.1"])
    site.say("\n" * 1_024 + TOKEN)
    assert proven(look(names, site)) == [False, False, False]
    site.say("\n" * (1_024 - len(TOKEN)) + TOKEN + "\n" * 10_000_000)
    assert proven(look(names, site)) == [False, True, False]


@pytest.mark.promise("opt_out_confirm.bounded")
@pytest.mark.parametrize("status", [201, 204, 301, 302, 307, 308, 401, 404, 500])
def test_other_answers(names: Names, site: Site, status: int) -> None:
    names.say(DOMAIN, "A", ["127.0.0.1"])
    site.say(b"" if status == 204 else TOKEN, status, Location=f"http://{DOMAIN}:{site.port}/elsewhere")
    looks = look(names, site)
    assert (looks[1].proven, looks[1].found) == (False, f"a response with status {status}")
    assert site.asked == [(DOMAIN, "/.well-known/siteglass.txt")]


def test_what_is_packed_is_not_unpacked(names: Names, site: Site) -> None:
    names.say(DOMAIN, "A", ["127.0.0.1"])
    site.say(gzip.compress(TOKEN.encode()))
    site.headers = {"Content-Encoding": "gzip"}
    assert look(names, site)[1].found == "a response without the token"


def test_dns_that_fails(names: Names, site: Site) -> None:
    names.broken = True
    looks = look(names, site)
    assert proven(looks) == [False] * 3
    assert [one.found for one in looks] == NOTHING


@pytest.mark.promise("opt_out_confirm.our_dns")
@pytest.mark.parametrize("domain", ["nowhere.test", "ours.test", "no-records.test", "other-records.test"])
def test_what_our_own_dns_knows_is_not_told(names: Names, site: Site, domain: str) -> None:
    names.say("ours.test", "A", ["10.0.0.1"])
    names.say("no-records.test", "MX", ["10 mail.no-records.test."])
    names.say("_siteglass.other-records.test", "TXT", ['"something else"', '"and more"'])
    assert [one.found for one in look(names, site, domain)] == NOTHING


@pytest.mark.parametrize("kind", ["A", "AAAA"])
def test_dns_that_fails_for_one_kind_of_address(names: Names, site: Site, kind: str) -> None:
    names.say(DOMAIN, "A", ["127.0.0.1"])
    names.broken_kinds = (kind,)
    looks = look(names, site)
    assert proven(looks) == [False, kind == "AAAA", False]
    if kind == "A":
        assert looks[1].found == NO_ADDRESS


@pytest.mark.promise("opt_out_confirm.bounded")
@pytest.mark.parametrize("away", ["dns", "site"])
def test_it_does_not_wait_for_ever(names: Names, site: Site, away: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "DNS_DEADLINE_S", 0.2)
    monkeypatch.setattr(control, "DEADLINE_S", 1.5)
    names.say(DOMAIN, "A", ["127.0.0.1"])
    names.silent, site.delay_s = away == "dns", 0 if away == "dns" else 5
    started = time.monotonic()
    looks = look(names, site)
    assert time.monotonic() - started < 4.5
    assert proven(looks) == [False] * 3
    assert looks[1].found == (NO_ADDRESS if away == "dns" else "no response within 1.5 s")


@pytest.mark.promise("opt_out_confirm.bounded")
def test_only_so_many_at_once(names: Names, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MAX_AT_ONCE", 2)
    monkeypatch.setattr(control, "DEADLINE_S", 0.3)
    names.say(DOMAIN, "A", ["127.0.0.1"])
    names.silent = True

    async def many() -> list[object]:
        made = Control([("127.0.0.1", names.port)], LOOPBACK, site.port)
        return await asyncio.gather(*(made.look(DOMAIN, TOKEN) for _ in range(7)), return_exceptions=True)

    # Two look; when they give up, those who waited as long do so, too.
    results = asyncio.run(many())
    assert all(isinstance(one, list) for one in results[:2])
    assert sum(isinstance(one, Unavailable) for one in results) >= 3


# --- what is never reached ------------------------------------------------------------------------


@pytest.mark.promise("opt_out_confirm.public")
def test_a_name_that_leads_to_us_is_not_fetched_from(names: Names, site: Site) -> None:
    """The web server listens there, and would prove everything."""
    for number, address in enumerate(HOSTILE):
        domain = f"n{number}.hostile.test"
        names.say(domain, "AAAA" if ":" in address else "A", [address])
        for one in look(names, site, domain, allowed=False)[1:]:
            assert (one.proven, one.found) == (False, NO_ADDRESS), address
    assert site.asked == []


@pytest.mark.promise("opt_out_confirm.public")
def test_a_name_that_is_turned_around(names: Names, site: Site) -> None:
    """Rebinding: a harmless address for the check, ours for the connection. The connection uses the checked address."""
    names.say(DOMAIN, "A", ["127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"])
    assert proven(look(names, site)) == [False, True, False]
    assert names.asked.count((DOMAIN, "A")) == 2  # for http and for https
    assert len(site.asked) == 1


def test_among_several_addresses_only_those_that_are_public(names: Names, site: Site) -> None:
    names.say(DOMAIN, "A", ["10.0.0.1", "127.0.0.1", "169.254.169.254"])

    async def allowed() -> list[str]:
        made = Control([("127.0.0.1", names.port)], LOOPBACK, site.port)
        return [str(one) for one in await made.addresses(DOMAIN)]

    assert asyncio.run(allowed()) == ["127.0.0.1"]


@pytest.mark.parametrize(
    "name",
    [
        *("127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "127.0.0.0x1", "[::1]", "::1"),
        *("localhost", "proven.test:80", "proven.test/..", "user@proven.test", "proven.test\n", "１２７.０.０.１", ""),
    ],
)
def test_what_is_no_name_is_not_looked_at(names: Names, site: Site, name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a domain"):
        look(names, site, name)
    assert (site.asked, names.asked) == ([], [])


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("192.0.2.53", ("192.0.2.53", 53)),
        ("192.0.2.53:5353", ("192.0.2.53", 5353)),
        ("2001:db8::53", ("2001:db8::53", 53)),
        ("[2001:db8::53]:5353", ("2001:db8::53", 5353)),
        ("[2001:db8::53]", ("2001:db8::53", 53)),
    ],
)
def test_dns_servers_are_read(text: str, server: tuple[str, int]) -> None:
    assert open_control(Settings(dns_servers=(text,)))._dns_servers == [server]


@pytest.mark.parametrize(
    ("setting", "text"), [("dns_servers", "ns.example"), ("dns_servers", "1.1.1.1:x"), ("opt_out_networks", "10/33")]
)
def test_settings_that_cannot_be_read(setting: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"SITEGLASS_{setting.upper()}: '{text}' is"):
        open_control(Settings(**{setting: (text,)}))  # type: ignore[arg-type]


def test_places() -> None:
    assert places("a.test") == (
        "_siteglass.a.test",
        "http://a.test/.well-known/siteglass.txt",
        "https://a.test/.well-known/siteglass.txt",
    )
