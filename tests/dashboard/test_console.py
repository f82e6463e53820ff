"""The console and the admin API: who may reach them, and what operators do there."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from siteglass.access import audit
from siteglass.access.keys import create_key
from siteglass.admin.endpoints import DOCUMENT, BoundRoute
from siteglass.admin.operations import API, OPERATIONS
from siteglass.admin.operators import actor_of, make_token
from siteglass.app import create_app
from siteglass.billing import ledger
from siteglass.people import sessions
from siteglass.people.credentials import change_password
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from testing.dashboard.visitors import SESSION, Office, Somebody, Visitor, office
from tests.suppression.world import command

INSIDE, OUTSIDE = "198.51.100.7", "198.51.101.7"
NETWORK = "198.51.100.0/24"


@dataclass(frozen=True, slots=True)
class Place:
    """One way to a route: its path with the ids of an account, and whether a program asks for it."""

    method: str
    path: str

    @property
    def of_api(self) -> bool:
        return self.path.startswith(API)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(slots=True)
class House:
    """A service with a console, somebody of each role, and a customer."""

    office: Office
    people: dict[str, Somebody]
    tokens: dict[str, str]
    customer: Somebody
    key: str
    client: httpx.Client

    def visitor(self, who: Somebody, address: str = INSIDE) -> Visitor:
        """Somebody who gave password and code just now."""
        made = self.office.visitor(address=address)
        started = self.office.do(
            lambda postgres: sessions.start(postgres, who.id, self.office.hashed, who.account_id, "", address)
        )
        assert started is not None
        made.cookies[SESSION] = started
        return made

    def call(
        self, method: str, path: str, body: Any = None, *, address: str = INSIDE, **headers: str
    ) -> httpx.Response:
        """A program's request."""
        return self.client.request(method, path, json=body, headers={"X-Forwarded-For": address, **headers})

    def api(self, role: str, method: str, path: str, body: Any = None) -> Any:
        """The response to somebody's program."""
        answer = self.call(method, API + path, body, Authorization=f"Bearer {self.tokens[role]}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def places(self, settings: Settings) -> list[Place]:
        """Every route of console and admin API, from the router."""
        ids: dict[str, object] = {
            "account_id": self.customer.account_id,
            "report_id": 1,
            "person_id": self.people["support"].id,
        }
        ids["request_id"] = "none"
        return [
            Place(method, re.sub(r"{(\w+)}", lambda found: str(ids[found[1]]), route.path))
            for route in create_app(settings).routes
            if isinstance(route, BoundRoute)
            for method in sorted((route.methods or set()) - {"HEAD"})
        ]

    def audit_id(self) -> int:
        """The number of the last action."""

        async def last(postgres: Postgres) -> int:
            return (await audit.list_audit(postgres))[-1].id

        return self.office.do(last)


def second_factor(made: Office, who: Somebody, sealed: bytes | None) -> None:
    """Somebody has one from now on; None: no longer."""
    made.do(lambda postgres: postgres.fetch("UPDATE {schema}.people SET totp = $2 WHERE id = $1", who.id, sealed))


def _token(made: Office, who: Somebody) -> str:
    return made.do(lambda postgres: make_token(postgres, who.id))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("console")
    with office(f"console-{worker_id}", folder, own_tables=True, console_networks=(NETWORK,)) as made:
        company = made.account("The company")
        people = {role: made.somebody(company, name=role) for role in ("operator", "support", "careless", "plain")}
        customer = made.somebody(made.account("Northwind", api=5, lead=5), email="jo@northwind.example")

        for who in people.values():
            second_factor(made, who, b"\0")
        for name, role in (("operator", "operator"), ("support", "support"), ("careless", "operator")):
            command(made.settings, "operator", "add", people[name].email, "--role", role)
        tokens = {name: _token(made, people[name]) for name in ("operator", "support", "careless")}
        second_factor(made, people["careless"], None)
        _, key = made.do(
            lambda postgres: create_key(
                postgres, made.settings.key_secrets, customer.account_id, "Production", actor="tests"
            )
        )
        with httpx.Client(base_url=made.url, trust_env=False, timeout=60) as client:
            yield House(made, people, tokens, customer, key, client)


@pytest.mark.promise("console.closed")
def test_every_route_is_closed_to_everybody_else(house: House) -> None:
    places = house.places(house.office.settings)
    assert {place.path for place in places} >= {DOCUMENT, "/admin", "/admin/accounts"}
    assert len(places) == 2 * len(OPERATIONS) + 3
    before = house.audit_id()
    people = {name: house.visitor(who) for name, who in house.people.items()}
    away = house.visitor(house.people["operator"], OUTSIDE)
    customer = house.visitor(house.customer)

    def asked(visitor: Visitor, place: Place) -> int:
        answer = visitor.post(place.path) if place.method == "POST" else visitor.get(place.path)
        return answer.status_code

    for place in places:
        body: dict[str, str] | None = {} if place.method == "POST" else None
        bearer = {"Authorization": f"Bearer {house.tokens['operator']}"}
        for headers in (
            {}, {"X-API-Key": house.key}, {"Authorization": f"Bearer {house.key}"}, {"Authorization": "Bearer x"},
            {"Authorization": f"Bearer {house.tokens['careless']}"},
        ):  # fmt: skip
            answer = house.call(place.method, place.path, body, **headers)
            assert answer.status_code in ((403,) if place.of_api else (403, 415)), (place, answer.text)
        assert house.call(place.method, place.path, body, address=OUTSIDE, **bearer).status_code == 404, place
        # Of another network, the path is no other than one that does not exist, whatever the method.
        for method in ("GET", "POST", "DELETE"):
            missing = house.call(method, place.path, address=OUTSIDE, **bearer)
            assert missing.status_code == 404
            assert missing.json() == {
                **house.call(method, place.path + "x", address=OUTSIDE).json(), "message": missing.json()["message"],
            }  # fmt: skip
        assert asked(away, place) == 404, place
        expected = (403,) if place.of_api else (403, 404)
        for visitor in (customer, people["plain"], people["careless"]):
            assert asked(visitor, place) in (*expected, 415 if place.of_api else 403), place
    assert house.audit_id() == before


@pytest.mark.promise("console.roles")
def test_support_reads_everything_and_does_nothing(house: House) -> None:
    support = house.visitor(house.people["support"])
    before = house.audit_id()
    for operation in OPERATIONS:
        path = operation.path.replace("{account_id}", str(house.customer.account_id))
        path = path.replace("{person_id}", "1").replace("{report_id}", "1").replace("{request_id}", "none")
        page = "/admin" + path.removeprefix(API)
        if operation.scope == "operator":
            assert support.post(page, {"name": "x", "reason": "x"}).status_code == 403, page
            headers = {"Authorization": f"Bearer {house.tokens['support']}"}
            assert house.call("POST", path, {}, **headers).status_code == 403, path
        elif "none" not in path:
            asked = support.get(page) if operation.method == "GET" else support.post(page)
            assert asked.status_code == 200, page
            body: dict[str, str] | None = None if operation.method == "GET" else {}
            house.api("support", operation.method, path.removeprefix(API), body)
    assert house.audit_id() == before
    assert "Grant credits" not in support.get(f"/admin/accounts/{house.customer.account_id}").text


def test_forms_need_a_token_and_a_fresh_password(house: House) -> None:
    operator = house.visitor(house.people["operator"])
    path = f"/admin/accounts/{house.customer.account_id}/suspend"
    assert operator.post(path, {"token": "old", "reason": "x"}).status_code == 403
    assert operator.post(path, {"reason": "x"}, Origin="http://evil.test").status_code == 403
    house.office.do(
        lambda postgres: postgres.fetch(
            "UPDATE {schema}.sessions SET proven_at = now() - interval '1 hour' WHERE person_id = $1",
            house.people["operator"].id,
        )
    )
    stale = operator.post(path, {"reason": "x"}, Referer=f"{operator.url}/admin/accounts")
    assert (stale.status_code, stale.headers["location"]) == (303, "/dashboard/confirm?next=%2Fadmin%2Faccounts")
    assert house.api("support", "GET", f"/accounts/{house.customer.account_id}")["account"]["state"] == "active"


@pytest.mark.promise("console.find")
def test_an_account_is_found_by_anything(house: House) -> None:
    number = house.customer.account_id
    entry = house.api("support", "GET", f"/accounts/{number}")["entries"][0]
    assert (entry["kind"], entry["api"], entry["lead"]) == ("grant", 5, 5)
    for text in ("northWIND", str(number), "jo@northwind.example", "northwind.example", house.key[:12], house.key):
        found = house.api("support", "POST", "/accounts/find", {"find": text})["accounts"]
        assert [account["id"] for account in found] == [number], text
    assert house.api("support", "POST", "/accounts/find", {"find": "wind.example"})["accounts"] == []
    bearer = {"Authorization": f"Bearer {house.tokens['support']}"}
    answer = house.call("POST", f"{API}/accounts/find", {"fnd": "x"}, **bearer)
    assert (answer.status_code, answer.json()["details"][0]["nearest"]) == (400, "find")


@pytest.mark.promise("console.find")
def test_what_was_searched_for_is_in_no_address(house: House) -> None:
    bearer = {"Authorization": f"Bearer {house.tokens['support']}"}
    assert house.call("GET", f"{API}/accounts?find=x", **bearer).status_code == 400
    support = house.visitor(house.people["support"])
    assert support.get("/admin/accounts?find=x").status_code == 200
    shown = support.get("/admin/accounts").text
    assert 'method="post" action="/admin/accounts/find"' in shown
    found = support.post("/admin/accounts/find", {"find": house.key})
    assert (found.status_code, found.headers["location"]) == (303, f"/admin/accounts/{house.customer.account_id}")
    several = support.post("/admin/accounts/find", {"find": "o"})
    assert (several.status_code, "Northwind" in several.text) == (200, True)
    nobody = support.post("/admin/accounts/find", {"find": "jo@nobody.example"})
    assert (nobody.status_code, "No account found" in nobody.text) == (200, True)


@pytest.mark.promise("console.acts")
def test_a_program_does_what_the_commands_do(house: House) -> None:
    def operator(path: str, body: Any = None) -> Any:
        return house.api("operator", "POST", path, body or {})["account"]

    def refused(path: str, body: Any) -> str:
        answer = house.call("POST", API + path, body, Authorization=f"Bearer {house.tokens['operator']}")
        assert answer.status_code == 400, answer.text
        return str(answer.json()["message"])

    made = operator("/accounts", {"name": f"Contoso {secrets.token_hex(4)}"})
    one = f"/accounts/{made['id']}"
    assert operator(f"{one}/grants", {"api": 10, "lead": 20, "reference": "INV-1"})["lead"] == 20
    assert "INV-1" in refused(f"{one}/grants", {"lead": 20, "reference": "INV-1"})
    assert operator(one, {"plan": "demo"})["plan"] == "demo"
    assert refused(one, {"plan": "gold"}).startswith("body: There is no plan 'gold'")
    assert refused(f"{one}/refunds", {"row": 1, "reason": "x", "reference": "r"}).endswith("lists its rows.")
    assert refused(f"{one}/grants", {"lead": -1, "reference": "r"}) == "lead: Expected `int` >= 0"
    assert refused(f"{one}/suspend", {}) == "body: Object missing required field `reason`"
    assert operator(f"{one}/suspend", {"reason": "Not paid"})["state_reason"] == "Not paid"
    assert operator(f"{one}/resume")["state"] == "active"
    email = f"{secrets.token_hex(4)}@contoso.example"
    link = house.api("operator", "POST", f"{one}/invitations", {"email": email})["link"]
    assert link in house.office.outbox.wait(email, 1)[0].get_content()
    assert operator(f"{one}/close", {"reason": "Asked for"})["state"] == "closed"
    actions = house.api("support", "GET", one)["actions"]
    assert [action["action"] for action in actions] == [
        *("account.close", "person.invite", "account.resume", "account.suspend", "account.set", "credits.grant"),
        "account.create",
    ]
    assert {action["actor_id"] for action in actions} == {actor_of(house.people["operator"].id)}
    assert house.office.do(lambda postgres: ledger.verify(postgres, made["id"])).problems == []


@pytest.mark.promise("console.acts")
def test_an_old_page_changes_only_what_was_changed_on_it(house: House) -> None:
    operator = house.visitor(house.people["operator"])
    name = f"Before {secrets.token_hex(4)}"
    account = house.office.account(name)
    path = f"/admin/accounts/{account}"
    shown = {"was_name": name, "was_plan": "standard", "name": name, "plan": "standard"}
    for field in shown:
        assert f'name="{field}"' in operator.get(path).text
    assert operator.post(path, shown | {"plan": "demo"}).status_code == 303
    assert operator.post(path, shown | {"name": f"{name} Ltd"}).status_code == 303
    found = house.api("support", "GET", f"/accounts/{account}")["account"]
    assert (found["name"], found["plan"]) == (f"{name} Ltd", "demo")
    before = house.audit_id()
    refused = operator.post(path, shown)
    assert (refused.status_code, "Nothing is to be changed" in refused.text) == (422, True)
    assert house.audit_id() == before


def test_what_no_row_can_hold_is_refused_and_references_are_stripped(house: House) -> None:
    headers = {"Authorization": f"Bearer {house.tokens['operator']}"}
    for path in ("/accounts/9223372036854775808", "/accounts?after=9223372036854775808"):
        assert house.call("GET", API + path, **headers).status_code == 400, path
    assert house.call("POST", f"{API}/accounts/find", {"find": "\0"}, **headers).status_code == 400
    account = house.office.account("Strip", api=0, lead=0)
    granted = [
        house.call("POST", f"{API}/accounts/{account}/grants", {"lead": 5, "reference": reference}, **headers)
        for reference in ("INV-1", " INV-1 ", " ")
    ]
    assert [answer.status_code for answer in granted] == [200, 400, 400]
    assert house.api("support", "GET", f"/accounts/{account}")["account"]["lead"] == 5


def test_the_document_is_valid_and_has_every_operation(house: House) -> None:
    document = house.api("support", "GET", "/openapi.json")
    validate(document)
    declared = {one["operationId"] for path in document["paths"].values() for one in path.values()}
    assert declared == {operation.name for operation in OPERATIONS}
    public = house.client.get("/openapi.json").text
    assert "/admin" not in public


@pytest.mark.promise("console.operators")
def test_the_last_operator_stays_and_others_lose_everything_at_once(house: House) -> None:
    settings = house.office.settings
    new = house.office.somebody(house.people["plain"].account_id)
    refusal = command(settings, "operator", "add", new.email, code=2).stderr
    assert "They have no two-step sign-in" in refusal
    assert "Nobody signs in" in command(settings, "operator", "add", "nobody@x.test", code=2).stderr
    page, token = house.visitor(house.people["careless"]), house.tokens["careless"]
    second_factor(house.office, house.people["careless"], b"\0")
    assert page.get("/admin/operators").status_code == 200
    house.api("operator", "POST", f"/operators/{house.people['careless'].id}/remove", {})
    assert page.get("/admin/operators").status_code == 404
    assert house.call("GET", f"{API}/operators", Authorization=f"Bearer {token}").status_code == 403
    number = str(house.people["operator"].id)
    assert "Nobody would be operator" in command(settings, "operator", "remove", number, code=2).stderr
    assert "Nobody would be operator" in command(
        settings, "operator", "add", house.people["operator"].email, "--role", "support", code=2
    ).stderr  # fmt: skip
    assert number in command(settings, "operator", "list").stdout


@pytest.mark.promise("console.operators")
def test_tokens_and_the_role_end_with_what_proved_them(house: House) -> None:
    """Else whoever learns a password keeps or gets what the second factor kept from them."""
    made, settings = house.office, house.office.settings
    who = made.somebody(house.people["plain"].account_id)
    second_factor(made, who, b"\0")
    command(settings, "operator", "add", who.email, "--role", "operator")

    def status() -> int:
        return house.call("GET", f"{API}/operators", Authorization=f"Bearer {token}").status_code

    for end in (
        lambda: made.do(lambda postgres: change_password(postgres, who.id, "another hash", 0)),
        lambda: made.do(lambda postgres: sessions.end_others(postgres, who.id, 0)),
        lambda: command(settings, "person", "second-factor-off", who.email),
    ):
        token = _token(made, who)
        assert status() == 200
        end()
        assert status() == 403
    second_factor(made, who, b"\0")
    assert status() == 403
    assert who.email not in command(settings, "operator", "list").stdout


def test_a_job_that_fails_is_shown(house: House) -> None:
    house.office.do(
        lambda postgres: postgres.fetch(
            "INSERT INTO {schema}.job_leases (name, due_at, failure) VALUES ($1, now(), 'KeyError')",
            f"{house.office.settings.index_prefix}: made up job",
        )
    )
    shown = house.visitor(house.people["support"]).get("/admin/service").text
    assert re.search("made up job.*failed.*KeyError", shown, re.DOTALL)
    assert house.api("support", "GET", "/service")["money"]["active"] >= 2
