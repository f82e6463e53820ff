"""How often one may ask: by where a request comes from, and by whom it is about. And what a 503 means here."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.access.limits import Policy
from siteglass.index import generations
from siteglass.index.administration import admin
from siteglass.index.names import written_as
from siteglass.privacy import code_mails, limits
from siteglass.settings import Settings
from testing.api_calls import refused
from testing.mails import Outbox
from testing.ports import free_port
from testing.service import run, serving
from tests.opt_out.conftest import ASK, CONFIRM, Door

# Requests here are free, so the message mentions no charge.
LATER = "The service is temporarily unavailable. Try again in 60 s."
WRONG = {"ticket": "A" * 100, "code": "0000-0000-0000"}


def _statuses(door: Door, path: str, bodies: list[dict[str, str]], callers: list[str]) -> list[int]:
    return [door.post(path, body, caller).status_code for body, caller in zip(bodies, callers, strict=True)]


def _from(number: int) -> dict[str, str]:
    return {"X-Forwarded-For": f"198.18.9.{number}"}


def _addresses(count: int, host: str) -> list[dict[str, str]]:
    return [{"email": f"n{number}@{host}"} for number in range(count)]


@pytest.mark.promise("limit.opt_out_asks")
def test_five_requests_an_hour_from_one_address(door: Door) -> None:
    callers = ["203.0.113.1"] * 6
    assert _statuses(door, ASK, _addresses(6, "caller-a.com"), callers) == [202] * 5 + [429]
    response = door.post(ASK, {"email": "n7@caller-a.com"}, "203.0.113.1")
    refused(response, 429, "TOO_MANY_REQUESTS")
    assert list(response.json()) == ["error", "message"]
    assert 700 <= int(response.headers["retry-after"]) <= 720
    assert response.headers["ratelimit-policy"] == '"caller";q=5;w=3600, "subject";q=3;w=3600'
    assert response.headers["ratelimit"].startswith('"caller";r=0;t=7')
    assert door.outbox.mails("n7@caller-a.com") == []
    assert door.post(ASK, {"email": "n7@caller-a.com"}, "203.0.113.2").status_code == 202


@pytest.mark.promise("limit.opt_out_asks")
def test_a_network_of_ipv6_is_one_caller(door: Door) -> None:
    callers = [f"2001:db8:1:2:{number:x}::{number:x}" for number in range(6)]
    assert _statuses(door, ASK, _addresses(6, "caller-b.com"), callers) == [202] * 5 + [429]
    assert door.post(ASK, {"email": "n9@caller-b.com"}, "2001:db8:1:3::1").status_code == 202
    mapped = ["::ffff:203.0.113.3", "203.0.113.3"] * 3
    assert _statuses(door, ASK, _addresses(6, "caller-c.com"), mapped) == [202] * 5 + [429]


def test_a_site_of_ipv6_has_twenty_mails_an_hour_for_all_its_networks(door: Door) -> None:
    callers = [f"2001:db8:77:{number:x}::1" for number in range(22)]
    bodies = [*_addresses(11, "caller-d.com"), *_addresses(11, "caller-dd.com")]
    assert _statuses(door, ASK, bodies, callers) == [*[202] * 10, 429, *[202] * 10, 429]  # ten of them for one domain
    assert door.post(ASK, {"email": "n22@caller-d.com"}, "2001:db8:78::1").status_code == 202


@pytest.mark.promise("limit.opt_out_mails_in_all")
def test_what_all_callers_ask_for_is_delayed_and_not_refused(
    leads: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strangers, each mailed from another network: five at once, then one every four seconds, three that wait."""
    monkeypatch.setattr(limits, "ALL_MAILS", Policy(rate_per_s=0.25, burst=5))
    monkeypatch.setattr(code_mails, "MAX_DELAY_S", 12)
    bodies = [{"email": f"stranger@many-{number}.com"} for number in range(14)]
    outbox = Outbox(tmp_path)
    with _serving(leads, mail_url=f"file:{tmp_path}", mail_from="privacy@sender.test") as client:
        started = time.monotonic()
        responses = [client.post(ASK, json=body, headers=_from(number)) for number, body in enumerate(bodies)]
        sent = len(list(tmp_path.glob("*.eml")))
        later = (time.monotonic() - started) / 4 + 1
        accepted = [body["email"] for body, one in zip(bodies, responses, strict=True) if one.status_code == 202]
        assert 5 <= sent <= 5 + later
        assert 8 <= len(accepted) <= 8 + later
        refused(responses[-1], 503, "UNAVAILABLE")
        assert responses[-1].headers["retry-after"] == "600"
        for email in accepted:
            assert len(outbox.wait(email, 1)) == 1
    assert len(list(tmp_path.glob("*.eml"))) == len(accepted)


SPELLED = ["flooded@many.com", "Flooded@Many.com", "flooded+x@many.com", "flooded+y@many.com", " flooded@MANY.com"]


@pytest.mark.promise("limit.opt_out_mails")
def test_three_mails_an_hour_for_one_address_and_caller(door: Door) -> None:
    """However the address is written; and nobody else has fewer for it."""
    callers = ["203.0.113.7"] * 5
    assert _statuses(door, ASK, [{"email": text} for text in SPELLED], callers) == [202] * 3 + [429] * 2
    assert len(door.outbox.mails("flooded@many.com")) == 3
    response = door.post(ASK, {"email": "flooded@many.com"}, "203.0.113.7")
    assert 1_100 < int(response.headers["retry-after"]) <= 1_200
    assert door.post(ASK, {"email": "flooded@many.com"}, "203.0.113.8").status_code == 202


@pytest.mark.promise("limit.opt_out_mails_in_all")
def test_ten_mails_an_hour_for_one_address(door: Door) -> None:
    """Wherever they are asked for. How often others asked is not shown: what the caller has left is as at any time."""
    bodies = [{"email": text.replace("looded", "ull")} for text in SPELLED + SPELLED]
    responses = [door.post(ASK, body) for body in [*bodies, bodies[0]]]
    assert [one.status_code for one in responses] == [202] * 10 + [429]
    assert len(door.outbox.mails("full@many.com")) == 10
    assert 350 < int(responses[10].headers["retry-after"]) <= 360
    assert {one.headers["ratelimit"] for one in responses} == {'"caller";r=4;t=720'}


@pytest.mark.promise("limit.opt_out_mails")
def test_what_is_refused_to_one_caller_takes_nothing_from_others(door: Door) -> None:
    for number in range(2):
        for _ in range(9):
            door.post(ASK, {"email": "busy@many.com"}, f"203.0.113.{10 + number}")
    assert (
        _statuses(door, ASK, [{"email": "busy@many.com"}] * 4, [f"203.0.113.{20 + n}" for n in range(4)]) == [202] * 4
    )


@pytest.mark.promise("limit.opt_out_mails_in_all")
def test_nobody_is_kept_from_asking_about_a_domain(door: Door) -> None:
    """It gets no mails; only the caller's own limit counts."""
    assert [door.post(ASK, {"domain": "busy-domain.com"}).status_code for _ in range(12)] == [202] * 12
    callers = ["203.0.113.9"] * 6
    assert _statuses(door, ASK, [{"domain": "busy-domain.com"}] * 6, callers) == [202] * 5 + [429]


@pytest.mark.promise("opt_out.wrong")
def test_a_slip_of_the_pen_costs_nothing(door: Door) -> None:
    for _ in range(8):
        assert door.post(ASK, {"email": "nobody"}, "203.0.113.5").status_code == 400
    assert door.post(ASK, {"email": "somebody@caller-e.com"}, "203.0.113.5").status_code == 202


@pytest.mark.promise("limit.opt_out_confirmations")
def test_twenty_tries_an_hour_from_one_address(door: Door) -> None:
    bodies = [{**WRONG, "ticket": secrets.token_hex(50)} for _ in range(21)]
    assert _statuses(door, CONFIRM, bodies, ["203.0.113.6"] * 21) == [400] * 20 + [429]
    response = door.post(CONFIRM, WRONG, "203.0.113.6")
    assert response.headers["ratelimit-policy"] == '"caller";q=20;w=3600, "subject";q=20;w=3600'
    assert 170 <= int(response.headers["retry-after"]) <= 180


@pytest.mark.promise("limit.opt_out_confirmations")
def test_twenty_tries_an_hour_at_one_ticket(door: Door) -> None:
    """From everywhere: nobody can have a thousand machines guess a code."""
    ticket = door.ask(email="guessed@caller-f.com")["ticket"]
    tries = [{"ticket": ticket, "code": f"0000-0000-{number:04}"} for number in range(25)]
    assert [door.post(CONFIRM, body).status_code for body in tries] == [400] * 20 + [429] * 5


# --- 503 ------------------------------------------------------------------------------------------


@contextmanager
def _serving(settings: Settings, **changes: Any) -> Iterator[httpx.Client]:
    """Another service, which shares its limits with no other."""
    prefix = f"{settings.redis_prefix}-{secrets.token_hex(4)}"
    with serving(replace(settings, redis_prefix=prefix, **changes)) as client:
        yield client


def _reason(caplog: pytest.LogCaptureFixture) -> str:
    (line,) = [record for record in caplog.records if record.message == "unavailable"]
    return str(line.__dict__["reason"])


@pytest.mark.promise("setting.mail_timeout_ms")
def test_the_mail_server_is_away(leads: Settings, caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    with _serving(leads, mail_url=f"smtp://127.0.0.1:{port}", mail_from="privacy@sender.test") as client:
        response = client.post(ASK, json={"email": "a@away.com"})
        refused(response, 503, "UNAVAILABLE")
        assert response.headers["retry-after"] == "60"
        assert response.json()["message"] == LATER
        assert client.post(ASK, json={"domain": "away.com"}).status_code == 202
    assert _reason(caplog) == f"mail cannot be sent: 127.0.0.1:{port}: ConnectionRefusedError"


def test_no_mail_is_set_up(leads: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with _serving(leads) as client:
        refused(client.post(ASK, json={"email": "a@away.com"}), 503, "UNAVAILABLE")
        assert client.post(ASK, json={"domain": "away.com"}).status_code == 202
    assert _reason(caplog) == "mail cannot be sent: SITEGLASS_MAIL_URL is not set"


@pytest.mark.promise("opt_out_confirm.again")
@pytest.mark.parametrize(
    ("address", "change", "reason"),
    [
        (
            "seven@door-seven.com",
            {"suppression_secret": "another secret than the list was begun with"},
            "SITEGLASS_SUPPRESSION_SECRET",
        ),
        ("nine@door-nine.com", {"opensearch_urls": (f"http://127.0.0.1:{free_port()}",)}, "opensearch "),
        ("eight@door-eight.com", {"lead_store": Path("/nowhere/at/all")}, "the lead store is not here"),
    ],
)
def test_what_cannot_be_carried_out(
    door: Door, address: str, change: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The same request succeeds once the service is fixed."""
    proof = {"ticket": door.ask(email=address)["ticket"], "code": door.outbox.code(address)}
    with _serving(door.settings, **change) as broken:
        response = broken.post(CONFIRM, json=proof)
        refused(response, 503, "UNAVAILABLE")
        assert response.json()["message"] == LATER
    assert reason in _reason(caplog)
    assert door.confirm(**proof)["suppressed"] is True


def test_a_generation_that_cannot_be_written_to(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """The operator sees it in the log, and the requester can retry."""
    proof = {"ticket": door.ask(email="ten@door-ten.com")["ticket"], "code": door.outbox.code("ten@door-ten.com")}
    (name,) = run(door.settings, generations.writable)
    where = f"/{name}/_alias/{written_as(name)}"
    run(door.settings, lambda live_index: admin(live_index, "DELETE", where))
    try:
        refused(door.post(CONFIRM, proof), 503, "UNAVAILABLE")
    finally:
        run(door.settings, lambda live_index: admin(live_index, "PUT", where))
    assert f"its alias {written_as(name)} is missing" in _reason(caplog)
    assert door.confirm(**proof)["suppressed"] is True
