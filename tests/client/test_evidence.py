"""Where values were seen: both clients and `sgl evidence`, free, and the message of a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from siteglass_client import AsyncSiteglass, Evidence, Forbidden, InvalidRequest, NotFound, Siteglass
from siteglass_client.calls import evidence_call
from testing.customers import Bank, Customer
from testing.cutting_proxy import KINDS, CuttingProxy
from tests.api.evidence.conftest import PHONE, evident
from tests.client.commanding import Desk
from tests.client.conftest import Connect


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Bank]:
    """Makes customers of a service over leads with evidence."""
    with evident(f"client-evidence-{worker_id}", tmp_path_factory.mktemp("store")) as made:
        yield made


@pytest.fixture
def customer(bank: Bank, connect: Connect) -> Customer:
    """Somebody who paid for two of the leads, and has ten credits of each kind left."""
    made = bank.customer(api=11, lead=12)
    list(connect(made).enrich(["seen.example", "c-none.example"]))
    return made


def _pages(told: Evidence) -> list[tuple[str, str, str]]:
    return [(each.value, one.page, one.method) for each in told.emails + told.phones for one in each.seen]


@pytest.mark.promise("feature.evidence")
def test_each_value_with_its_pages(connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    told = client.evidence("seen.example")
    assert told.domain == "seen.example"
    assert _pages(told) == [
        ("info@seen.example", "https://seen.example/contact", "mailto"),
        ("info@seen.example", "https://seen.example/imprint", "text"),
        ("eve@seen.example", "https://seen.example/team", "cloudflare"),
        (PHONE, "https://seen.example/contact", "tel"),
    ]
    first = told.emails[0].seen[0]
    assert (first.first_seen, first.last_seen) == ("2026-08-22T14:13:20Z", "2026-09-21T14:13:20Z")
    assert customer.balance() == (10, 10)


def test_the_asynchronous_client_tells_the_same(bank: Bank, connect: Connect, customer: Customer) -> None:
    async def ask() -> Evidence:
        async with AsyncSiteglass(customer.key, bank.base_url) as client:
            return await client.evidence("seen.example")

    told, other = asyncio.run(ask()), connect(customer).evidence("seen.example")
    assert (told.domain, told.emails, told.phones) == (other.domain, other.emails, other.phones)
    assert customer.balance() == (10, 10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_broken_line_is_asked_again(bank: Bank, customer: Customer, kind: str) -> None:
    port = int(bank.base_url.rpartition(":")[2])
    with CuttingProxy(port, {1: kind}) as proxy, Siteglass(customer.key, proxy.url) as client:
        assert client.evidence("seen.example").domain == "seen.example"
        assert (proxy.requests, proxy.cut) == (2, [kind])
    assert customer.balance() == (10, 10)


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ("seen.example", "seen.example"),
        (" HTTPS://www.seen.example/contact?a=1 ", "www.seen.example"),
        ("büro.example", "b%C3%BCro.example"),
        ("a b%", "a%20b%25"),
    ],
)
def test_what_is_asked_for(given: str, host: str) -> None:
    call = evidence_call(given)
    assert (call.method, call.path, call.content()) == ("GET", f"/v1/leads/{host}/evidence", None)
    assert call.headers() == {}


def test_what_is_refused_costs_nothing(connect: Connect, customer: Customer) -> None:
    client = connect(customer)
    with customer.untouched():
        for domain, error in (
            ("b-many.example", Forbidden),
            ("nobody.example", NotFound),
            ("10.0.0.1", InvalidRequest),
        ):
            with pytest.raises(error, match=domain):
                client.evidence(domain)
        for domain in ("", " ", "..", "https:///contact"):
            with pytest.raises(ValueError, match="is not a domain: give one, such as"):
                client.evidence(domain)


def test_in_a_pipe(desk: Desk, customer: Customer) -> None:
    done = desk.run("evidence", "https://seen.example/")
    assert (done.code, done.err) == (0, "")
    assert done.json == customer.client.get("/v1/leads/seen.example/evidence").json()


def test_on_a_terminal(desk: Desk) -> None:
    code, shown = desk.on_terminal("evidence", "seen.example")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
    assert (code, len(rows)) == (0, 5)
    assert rows[4][:2] == ["Klaviyo", "script //static.klaviyo.com/a.js"]
    assert rows[1] == [
        *("info@seen.example", "email", "https://seen.example/imprint", "text"),
        *("2026-08-19", "2026-09-18"),
    ]
    assert rows[3][:2] == [PHONE, "phone"]
    assert "Values without a page" not in shown


def test_on_a_narrow_terminal(desk: Desk) -> None:
    """No address is broken: whoever copies that of a page gets all of it."""
    desk.environment["COLUMNS"] = "80"
    _, shown = desk.on_terminal("evidence", "seen.example")
    assert shown.splitlines()[:6] == [
        "info@seen.example",
        "  kind        email",
        "  page        https://seen.example/contact",
        "  method      mailto",
        "  first seen  2026-08-22",
        "  last seen   2026-09-21",
    ]


def test_nothing_known_on_a_terminal(desk: Desk) -> None:
    code, shown = desk.on_terminal("evidence", "c-none.example")
    assert code == 0
    assert "hello@c-none.example" in shown
    assert "Values without a page come from another source; ask the operator of the service." in shown


def test_first_mistakes(desk: Desk, customer: Customer) -> None:
    with customer.untouched():
        told = desk.refused(3, "evidence", "b-many.example")
        assert told.startswith(
            "sgl: This account has not paid for the lead b-many.example. Pay for it first (a lead credit): "
            "echo b-many.example | sgl enrich - ; then run the same command again. (request "
        )
        told = desk.refused(2, "evidence", "nobody.example")
        assert told.startswith(
            "sgl: There is no lead nobody.example. Check its spelling: evidence exists for the domains that `sgl "
            "enrich` finds. (request "
        )
        told = desk.refused(2, "evidence", "10.0.0.1")
        assert told.startswith(
            "sgl: domain: '10.0.0.1' is an IP address, not a domain. Correct it, then run the command again. (request "
        )
        assert desk.refused(2, "evidence", "") == (
            "sgl: '' is not a domain: give one, such as example.com. See: sgl evidence --help"
        )
        assert desk.refused(2, "evidence") == (
            "sgl: Missing argument 'DOMAIN'. For example: sgl evidence example.com. See: sgl evidence --help"
        )
    # What the first of them says to do.
    assert desk.run("enrich", "-", typed="b-many.example\n").code == 0
    assert desk.run("evidence", "b-many.example").json["domain"] == "b-many.example"


def test_without_credits(bank: Bank, connect: Connect, tmp_path: Path) -> None:
    poor = bank.customer(api=1, lead=1)
    list(connect(poor).enrich(["seen.example"]))
    assert Desk(tmp_path, bank.base_url, poor.key).run("evidence", "seen.example").json["domain"] == "seen.example"
