"""What /openapi.json says of the front door is what it answers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from siteglass.errors import Unavailable
from siteglass.privacy import opt_out
from testing.api_calls import refused
from tests.api.describing import Description
from tests.opt_out.conftest import ASK, CONFIRM, Door

PATHS = {"opt_out": ASK, "opt_out_confirm": CONFIRM}


@pytest.fixture(scope="module")
def described(door: Door) -> Description:
    return Description(door.client)


def _proven(door: Door, address: str, request: str) -> dict[str, Any]:
    return {"ticket": door.ask(email=address, request=request)["ticket"], "code": door.outbox.code(address)}


def test_every_answer_is_as_described(door: Door, described: Description) -> None:
    for body in described.body_examples("opt_out").values():
        described.check(described.schemas["OptOutBody"], body)
    for body in ({"email": "told@door-told.com"}, {"domain": "door-told.com"}):
        described.check_answer("opt_out", door.post(ASK, body))
    for address, request in (("gone@door-told.com", "opt_out"), ("two@door-two.com", "access")):
        proof = _proven(door, address, request)
        described.check(described.schemas["OptOutConfirmBody"], proof)
        described.check_answer("opt_out_confirm", door.post(CONFIRM, proof))
    asked = door.ask(domain="door-one.com", request="access")
    door.names.say("_siteglass.door-one.com", "TXT", [f'"{asked["token"]}"'])
    described.check_answer("opt_out_confirm", door.post(CONFIRM, {"ticket": asked["ticket"]}))
    described.check_answer("opt_out_page", door.client.get("/opt-out"))


def test_the_bodies_shown_are_taken(door: Door, described: Description) -> None:
    for body in described.body_examples("opt_out").values():
        assert door.post(ASK, body).status_code == 202
    for body in described.body_examples("opt_out_confirm").values():
        assert door.post(CONFIRM, body).json()["details"][0]["field"] == "ticket"


@pytest.mark.parametrize("name", PATHS)
def test_every_refusal_is_as_described(
    door: Door, described: Description, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, client = PATHS[name], door.client
    typed = {"Content-Type": "application/json"}
    wrong = {"mail": "jo@example.com", "request": "delete"} if name == "opt_out" else {"code": "7K2M-X94D-QRTV"}
    responses: dict[str, httpx.Response] = {
        "INVALID_REQUEST": door.post(path, wrong),
        "PAYLOAD_TOO_LARGE": client.post(path, content=b"x" * 70_000, headers=typed),
        "UNSUPPORTED_MEDIA_TYPE": client.post(path, content=b"{}"),
    }
    for code, response in responses.items():
        assert response.json() == described.error_example(name, response.status_code, code)
    body = {"domain": "door-many.com"} if name == "opt_out" else {"ticket": "A" * 80}
    for _ in range(21):
        responses["TOO_MANY_REQUESTS"] = door.post(path, body, "203.0.113.99")
    proof = _proven(door, f"{name}@door-fault.com", "opt_out")
    for code, error in (("UNAVAILABLE", Unavailable("not told")), ("INTERNAL", RuntimeError("a fault"))):

        async def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("siteglass.privacy.subject_requests.SubjectRequests._mail_code", fail)
        monkeypatch.setattr(opt_out, "suppress", fail)
        responses[code] = door.post(path, {"email": "a@door-fault.com"} if name == "opt_out" else proof)
    for code, response in responses.items():
        refused(response, response.status_code, code)
        described.check_answer(name, response)
    announced = described.operation(name)["responses"]
    errors = {code for one in announced.values() for code in one["content"]["application/json"]["examples"]}
    assert {code for code in errors if code.isupper()} == set(responses)
