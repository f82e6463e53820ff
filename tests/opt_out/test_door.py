"""The front door, over HTTP: ask, prove, have it done; and every way in which it must not open."""

from __future__ import annotations

import json
import re
import socket
import time
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from siteglass.privacy import endpoints as subject_requests
from siteglass.privacy.requests import MAX_CHARS
from siteglass.privacy.tickets import MAX_TICKET_CHARS
from testing.api_calls import ENRICH, refused
from testing.service import API_KEY
from tests.opt_out.conftest import ASK, CONFIRM, Door

HOUR_MS = 3_600_000
EITHER = "expected either an email address here or a domain in `domain`"
SUFFIX = "it is shared by many owners; expected a name below it"
NOT_MAILED = (
    "a code cannot be emailed to an address with such characters before the @; write to privacy@sender.test instead"
)
NOT_PUBLIC = "expected a public domain name, such as one that ends in .com"
NOT_PROVEN = ["no TXT record with the token", "no public address", "no public address"]
WRONG_CODE = "0000-0000-0000"


def _told(response: httpx.Response, status: int = 400) -> list[tuple[str, str]]:
    """Fields and messages of a refusal."""
    refused(response, status, "INVALID_REQUEST")
    return [(one["field"], one["message"]) for one in response.json()["details"]]


def _age_s(moment: str) -> float:
    return (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()


def _shown(door: Door, domain: str) -> dict[str, Any]:
    """What an enrichment shows of a domain to a customer."""
    response = door.client.post(ENRICH, json={"domains": [domain]}, headers={"X-API-Key": API_KEY})
    assert response.status_code == 200, response.text
    (item,) = response.json()["results"]
    return dict(item)


# --- an address -----------------------------------------------------------------------------------


@pytest.mark.promise(
    "route.POST /v1/opt-out", "route.POST /v1/opt-out/confirm", "opt_out.email", "opt_out_confirm.again"
)
def test_an_address_is_not_shown_any_more(door: Door) -> None:
    assert "one@door-one.com" in _shown(door, "door-one.com")["data"]["emails"]
    asked = door.ask(email=" One@Door-One.com ")
    assert list(asked) == ["request", "email", "ticket", "expires_at", "next"]
    assert (asked["request"], asked["email"]) == ("opt_out", "one@door-one.com")
    assert 3_500 < _age_s(asked["expires_at"]) <= 3_600
    assert re.fullmatch(r"[A-Za-z0-9_-]{60,400}", asked["ticket"])
    assert "one@door-one.com" in _shown(door, "door-one.com")["data"]["emails"]

    code = door.outbox.code("one@door-one.com")
    expected = {"request": "opt_out", "email": "one@door-one.com", "suppressed": True, "effective_within_s": 60}
    for typed in (code, code, code.lower().replace("-", " ")):
        assert door.confirm(ticket=asked["ticket"], code=typed) == expected
    assert _shown(door, "door-one.com")["data"]["emails"] == ["shared@door-shared.com"]


@pytest.mark.promise("route.POST /v1/opt-out/confirm", "opt_out.request", "opt_out.record")
def test_what_is_held_about_an_address(door: Door) -> None:
    asked = door.ask(email="two@door-two.com", request="access")
    told = door.confirm(ticket=asked["ticket"], code=door.outbox.code("two@door-two.com"))
    assert list(told) == ["request", "email", "suppressed_since", "suppressed_on", "leads", "received_by"]
    assert (told["request"], told["email"], told["suppressed_since"]) == ("access", "two@door-two.com", None)
    assert told["leads"] == [
        {
            "domain": "door-two.com",
            "fields": ["emails"],
            "source": "leads.parquet",
            "crawled_at": "2026-09-21T14:13:20Z",
            "seen": [],
        }
    ]


def test_nothing_is_held_about_a_stranger(door: Door) -> None:
    asked = door.ask(email="nobody@door-nowhere.com", request="access")
    told = door.confirm(ticket=asked["ticket"], code=door.outbox.code("nobody@door-nowhere.com"))
    assert (told["suppressed_since"], told["suppressed_on"], told["leads"]) == (None, [], [])


@pytest.mark.promise("opt_out.request")
def test_access_says_since_when_and_where_it_is_not_shown(door: Door) -> None:
    address = "three@door-three.com"
    for request in ("opt_out", "access"):
        asked = door.ask(email=address, request=request)
        told = door.confirm(ticket=asked["ticket"], code=door.outbox.code(address))
    assert -30 < _age_s(told["suppressed_since"]) <= 1
    assert (told["suppressed_on"], told["leads"]) == (["door-three.com"], [])


@pytest.mark.promise("opt_out.same_answer")
def test_the_answer_is_the_same_whether_or_not_anything_is_held(door: Door) -> None:
    held, strange = (door.ask(email=address) for address in ("four@door-four.com", "four@door-nowhere.com"))
    assert held.keys() == strange.keys()
    assert held["next"] == strange["next"]
    assert len(door.outbox.mails("four@door-four.com")) == len(door.outbox.mails("four@door-nowhere.com")) == 1


@pytest.mark.promise("opt_out.email")
def test_the_mail(door: Door) -> None:
    texts = []
    for request in ("opt_out", "access"):
        door.ask(email="reader@door-mail.com", request=request)
        mail = door.outbox.mails("reader@door-mail.com")[-1]
        assert (mail["From"], mail["Subject"]) == ("Siteglass <privacy@sender.test>", "Your Siteglass code")
        texts.append(mail.get_content())
    for text in texts:
        assert re.search(r"^Your code:  [0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}$", text, re.MULTILINE)
        assert "It is valid for one hour" in text
        assert "If it was not you, ignore this email" in text
    assert "asked Siteglass to stop showing this email address" in texts[0]
    assert "asked Siteglass what data it stores about this email address" in texts[1]


# --- a domain -------------------------------------------------------------------------------------


@pytest.mark.promise("route.POST /v1/opt-out", "opt_out.domain", "opt_out_confirm.token")
def test_a_domain_proven_by_dns(door: Door) -> None:
    asked = door.ask(domain="https://www.Door-Four.com/about")
    assert list(asked) == ["request", "domain", "ticket", "expires_at", "token", "dns", "http", "next"]
    assert asked["domain"] == "door-four.com"
    assert 7 * 86_400 - 100 < _age_s(asked["expires_at"]) <= 7 * 86_400
    assert re.fullmatch(r"siteglass-proof=[0-9A-HJKMNP-TV-Z]{26}", asked["token"])
    assert asked["dns"] == {"name": "_siteglass.door-four.com", "type": "TXT", "value": asked["token"]}
    assert asked["http"] == [f"{scheme}://door-four.com/.well-known/siteglass.txt" for scheme in ("http", "https")]

    missing = door.post(CONFIRM, {"ticket": asked["ticket"]})
    places = ["DNS, TXT record of _siteglass.door-four.com", *asked["http"]]
    assert _told(missing) == [
        ("ticket", f"expected {asked['token']} at {place}, found {found}")
        for place, found in zip(places, NOT_PROVEN, strict=True)
    ]
    assert _shown(door, "door-four.com")["status"] == "success"

    door.names.say("_siteglass.door-four.com", "TXT", [f'"{asked["token"]}"'])
    expected = {"request": "opt_out", "domain": "door-four.com", "suppressed": True, "effective_within_s": 60}
    for _ in range(2):
        assert door.confirm(ticket=asked["ticket"]) == expected
    assert _shown(door, "door-four.com")["status"] == "not_found"


@pytest.mark.promise("opt_out.domain", "opt_out.record")
def test_what_is_held_about_a_domain_proven_by_its_site(door: Door) -> None:
    asked = door.ask(domain="door-five.com", request="access")
    door.names.say("door-five.com", "A", ["127.0.0.1"])
    found = [message for _, message in _told(door.post(CONFIRM, {"ticket": asked["ticket"]}))]
    assert found[1].endswith("found a response with status 404")
    door.site.say(f"{asked['token']}\n")
    told = door.confirm(ticket=asked["ticket"])
    (lead,) = told["leads"]
    assert list(lead) == ["domain", "fields", "source", "crawled_at", "seen", "record"]
    assert lead["domain"] == "door-five.com"
    assert lead["record"]["title"] == "The five site"
    assert "five@door-five.com" in lead["record"]["emails"]


@pytest.mark.promise("opt_out_confirm.token")
def test_a_token_proves_its_own_ticket_only(door: Door) -> None:
    """People who see the token of somebody else in DNS cannot use it. An opt-out cannot be turned into an access."""
    first = door.ask(domain="door-six.com")
    door.names.say("_siteglass.door-six.com", "TXT", [f'"{first["token"]}"'])
    for request in ("opt_out", "access"):
        second = door.ask(domain="door-six.com", request=request)
        assert second["token"] != first["token"]
        told = _told(door.post(CONFIRM, {"ticket": second["ticket"]}))
        assert told[0][1].endswith("found no TXT record with the token")


def test_dns_is_away(door: Door) -> None:
    asked = door.ask(domain="door-dns.com")
    door.names.broken = True
    told = _told(door.post(CONFIRM, {"ticket": asked["ticket"]}))
    assert [message.partition(", found ")[2] for _, message in told] == NOT_PROVEN


HOSTILE = [
    *("127.0.0.1", "http://127.0.0.1/", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.1"),
    *("[::1]", "::1", "[::ffff:127.0.0.1]", "http://[::1]:80/", "localhost", "http://localhost:16379/", "10.0.0.1"),
    *("169.254.169.254", "http://169.254.169.254/latest/meta-data/", "１２７.０.０.１", "127。0。0。1", "①②⑦.0.0.1"),
    *("0", "0.0.0.0", "a.b.c.1", "metadata", "file:///etc/passwd", "redis", "http://user:pw@127.0.0.1/", ".", ""),
    *("127.0.0.0x1", "127.0.0.0x7f", "example.1x", "example.x_y", "a.0x7f000001"),
    *("127.0.0.1.", "127.0.0.1:80", "example.com:80:80", "exa mple.com", "example.com\r\nHost: x", "com", "../../x"),
]  # fmt: skip


@pytest.mark.promise("opt_out_confirm.public")
@pytest.mark.parametrize("domain", HOSTILE)
def test_what_is_no_domain_reaches_nothing(door: Door, domain: str) -> None:
    asked = len(door.names.asked)
    ((field, _),) = _told(door.post(ASK, {"domain": domain}))
    assert field == "domain"
    assert (len(door.names.asked), door.site.asked) == (asked, door.site.asked)


def test_a_name_of_an_address_reaches_nothing(door: Door) -> None:
    """DNS does not read `0x1` as a number, and connecting uses DNS alone."""
    asked, before = door.ask(domain="127.0.0.0x1.com"), len(door.site.asked)
    assert len(_told(door.post(CONFIRM, {"ticket": asked["ticket"]}))) == 3
    assert len(door.site.asked) == before


# --- what does not open it ------------------------------------------------------------------------


@pytest.mark.promise("opt_out_confirm.code")
def test_a_wrong_code(door: Door) -> None:
    asked = door.ask(email="six@door-six.com")
    ticket = asked["ticket"]
    message = "not the code that was emailed for this ticket; use the code from the newest email"
    for code in (WRONG_CODE, "", "-", "' OR 1=1", "é", door.outbox.code("six@door-six.com")[:-1]):
        assert _told(door.post(CONFIRM, {"ticket": ticket, "code": code})) == [("code", message)]
    expected = [("code", "expected the code that was emailed to the address, found nothing")]
    assert _told(door.post(CONFIRM, {"ticket": ticket})) == expected
    assert "six@door-six.com" in _shown(door, "door-six.com")["data"]["emails"]


@pytest.mark.promise("opt_out_confirm.code")
def test_a_code_of_another_ticket(door: Door) -> None:
    tickets, codes = [], []
    for request in ("opt_out", "access"):
        tickets.append(door.ask(email="six@door-six.com", request=request)["ticket"])
        codes.append(door.outbox.code("six@door-six.com"))
    for ticket, code in zip(tickets, reversed(codes), strict=True):
        assert _told(door.post(CONFIRM, {"ticket": ticket, "code": code}))[0][0] == "code"


def test_a_code_for_a_domain(door: Door) -> None:
    asked = door.ask(domain="door-code.com")
    told = _told(door.post(CONFIRM, {"ticket": asked["ticket"], "code": WRONG_CODE}))
    assert told == [("code", "not used for a domain; omit it, the service looks for the token of the domain")]


@pytest.mark.promise("opt_out_confirm.ticket")
@pytest.mark.parametrize(
    ("value", "life_ms"), [({"email": "a@door-late.com"}, HOUR_MS), ({"domain": "door-late.com"}, 168 * HOUR_MS)]
)
def test_an_expired_ticket(door: Door, value: dict[str, str], life_ms: int) -> None:
    asked = door.ask(**value)
    proof = {"code": door.outbox.code("a@door-late.com")} if "email" in value else {}
    door.names.say("_siteglass.door-late.com", "TXT", [f'"{asked.get("token", "x")}"'])
    door.clock.ahead_ms = life_ms - 10_000
    door.confirm(ticket=asked["ticket"], **proof)
    door.clock.ahead_ms = life_ms
    told = _told(door.post(CONFIRM, {"ticket": asked["ticket"], **proof}))
    assert told == [("ticket", "has expired; request a new one with POST /v1/opt-out")]


@pytest.mark.promise("opt_out_confirm.ticket")
def test_a_ticket_that_was_changed(door: Door) -> None:
    ticket = door.ask(email="changed@door-six.com")["ticket"]
    code = door.outbox.code("changed@door-six.com")
    other = door.ask(email="other@door-six.com")["ticket"]
    middle = len(ticket) // 2
    for wrong in (ticket[:-2], ticket[1:], f"{ticket}AAAA", ticket.swapcase(), ticket[:middle] + other[middle:], "x"):
        told = _told(door.post(CONFIRM, {"ticket": wrong, "code": code}))
        assert told == [("ticket", "is not a ticket of this service; request a new one with POST /v1/opt-out")]


@pytest.mark.promise("opt_out.wrong", "opt_out_confirm.our_dns", "limit.opt_out_chars")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, [("email", f"{EITHER}, found neither")]),
        ({"email": "a@b.com", "domain": "b.com"}, [("email", f"{EITHER}, found both")]),
        ({"email": 7}, [("email", "expected a string, found a number")]),
        ({"email": "a" * 2_049}, [("email", f"expected at most {MAX_CHARS} characters, found 2049")]),
        ({"email": "a@b.com", "request": "delete"}, [("request", "expected opt_out or access")]),
        ({"mail": "a@b.com"}, [("mail", "unknown field; did you mean email?")]),
        ({"email": None, "domain": None}, [("email", f"{EITHER}, found neither")]),
        ({"domain": "www.co.uk"}, [("domain", SUFFIX)]),
        ({"domain": "github.io"}, [("domain", SUFFIX)]),
        ({"domain": "redis.default.svc.cluster.local"}, [("domain", NOT_PUBLIC)]),
        ({"domain": "wiki.internal"}, [("domain", NOT_PUBLIC)]),
        ({"email": "Jö@example.com"}, [("email", NOT_MAILED)]),
        ({"email": "root@mail.corp"}, [("email", NOT_PUBLIC)]),
        ({"email": f"sha256:{'0' * 64}"}, [("email", "expected one address such as anna@example.com, found a hash")]),
    ],
)
def test_bodies_that_ask_wrongly(door: Door, body: dict[str, Any], told: list[tuple[str, str]]) -> None:
    assert _told(door.post(ASK, body)) == told


@pytest.mark.parametrize(
    "email", ["jo", "jo@", "@door-six.com", "jo@127.0.0.1", "jo@door-six.com\nBcc: x@y.com", "a@b@c"]
)
def test_what_is_no_address_gets_no_mail(door: Door, email: str) -> None:
    ((field, _),) = _told(door.post(ASK, {"email": email}))
    assert field == "email"


@pytest.mark.promise("limit.opt_out_ticket_chars")
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, [("ticket", "expected the ticket that POST /v1/opt-out returned, found nothing")]),
        ({"ticket": ["x"]}, [("ticket", "expected a string, found an array")]),
        (
            {"ticket": "A" * (MAX_TICKET_CHARS + 1)},
            [("ticket", f"expected at most {MAX_TICKET_CHARS} characters, found {MAX_TICKET_CHARS + 1}")],
        ),
        ({"ticket": "x", "code": 1}, [("code", "expected a string, found a number")]),
        ({"tiket": "x"}, [("tiket", "unknown field; did you mean ticket?")]),
    ],
)
def test_bodies_that_confirm_wrongly(door: Door, body: dict[str, Any], told: list[tuple[str, str]]) -> None:
    assert _told(door.post(CONFIRM, body)) == told


@pytest.mark.promise("route.POST /v1/opt-out")
@pytest.mark.parametrize("path", [ASK, CONFIRM])
def test_no_key_is_asked_for_and_json_is(door: Door, path: str) -> None:
    refused(door.client.post(path, content=b"email=x"), 415, "UNSUPPORTED_MEDIA_TYPE")
    typed = {"Content-Type": "application/json"}
    refused(door.client.post(path, content=b"x" * 70_000, headers=typed), 413, "PAYLOAD_TOO_LARGE")
    refused(door.client.post(path, content=b"{", headers=typed), 400, "INVALID_REQUEST")
    refused(door.client.get(path), 405, "METHOD_NOT_ALLOWED")
    wrong_key = door.client.post(path, json={}, headers={"X-API-Key": "wrong"})
    assert json.loads(wrong_key.text)["error"] == "INVALID_REQUEST"


@pytest.mark.promise("opt_out.body_in_time")
@pytest.mark.parametrize("path", [ASK, CONFIRM])
def test_a_body_that_drips_in(door: Door, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody holds a connection by never coming to the end: it is answered and closed."""
    monkeypatch.setattr(subject_requests, "BODY_DEADLINE_S", 0.3)
    url = door.client.base_url
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"
    with socket.create_connection((url.host, url.port), timeout=5) as connection:
        connection.sendall(head.encode())
        for _ in range(4):
            connection.sendall(b" ")
            time.sleep(0.05)
        answer = b"".join(iter(lambda: connection.recv(65_536), b"")).decode()
    assert answer.startswith("HTTP/1.1 400 ")
    assert "\r\nconnection: close\r\n" in answer.lower()
    message = "expected all of it within 0.3 s"
    assert json.loads(answer.partition("\r\n\r\n")[2])["details"] == [{"field": "body", "message": message}]
