"""The link of a demo: it signs in once, for ten minutes, from the networks of the demo, and on no other service."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from siteglass.app import create_app
from siteglass.people.secrecy import Secrecy
from siteglass.people.sign_in import new_demo_link
from siteglass.platform.backends import Clock
from siteglass.settings import SettingsError
from testing.dashboard.visitors import SESSION, Office, Somebody, Visitor, office
from testing.service import SECRET

HERE = "127.0.0.1"


class MovedClock(Clock):
    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


CLOCK = MovedClock()


@pytest.fixture(scope="module")
def the_demo(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("demo")
    networks = ("127.0.0.0/8", "10.231.77.0/24")
    with office(f"demo-link-{worker_id}", folder, clock=CLOCK, demo_networks=networks) as made:
        yield made


def link(who: Somebody) -> str:
    token = new_demo_link(Secrecy((SECRET,)), who.email, CLOCK.now_ms() // 1000)
    return f"/dashboard/demo/{token}"


def entered(visitor: Visitor, path: str) -> bool:
    answer = visitor.get(path)
    if answer.status_code == 303:
        assert answer.headers["location"] == "/dashboard/explore"
        assert visitor.get("/dashboard/plan").status_code == 200
        return True
    assert SESSION not in visitor.cookies
    return False


@pytest.mark.parametrize("address", [HERE, "127.3.2.1", "10.231.77.1"])
def test_the_link_signs_in_once(the_demo: Office, address: str) -> None:
    path = link(the_demo.somebody())
    assert entered(the_demo.visitor(address=address), path)
    again = the_demo.visitor(address=address).get(path)
    assert again.status_code == 410
    assert "siteglass demo link" in again.text


def test_the_link_expires(the_demo: Office) -> None:
    who = the_demo.somebody()
    CLOCK.ahead_ms = 0
    first, second = link(who), link(who)
    try:
        CLOCK.ahead_ms = 9 * 60_000
        assert entered(the_demo.visitor(address=HERE), first)
        CLOCK.ahead_ms = 10 * 60_000
        assert the_demo.visitor(address=HERE).get(second).status_code == 410
    finally:
        CLOCK.ahead_ms = 0


@pytest.mark.parametrize("address", ["10.0.0.1", "203.0.113.9", "2001:db8::1", "not an address"])
def test_the_link_is_refused_from_another_address_and_not_used_up(the_demo: Office, address: str) -> None:
    path = link(the_demo.somebody())
    stranger = the_demo.visitor(address=address)
    refused = stranger.get(path)
    assert (refused.status_code, SESSION in stranger.cookies) == (403, False)
    assert "SITEGLASS_DEMO_NETWORKS" in refused.text
    assert entered(the_demo.visitor(address=HERE), path)


def test_looking_at_the_link_does_not_use_it_up(the_demo: Office) -> None:
    path = link(the_demo.somebody())
    visitor = the_demo.visitor(address=HERE)
    assert visitor.get(path, {"Sec-Purpose": "prefetch;prerender"}).status_code == 503
    assert visitor.send("HEAD", path, b"", {}).status_code == 503
    assert entered(visitor, path)


def test_a_changed_or_foreign_link_is_refused(the_demo: Office) -> None:
    who = the_demo.somebody()
    path = link(who)
    foreign = new_demo_link(Secrecy(("another secret that is long enough to be one",)), who.email, 2**33)
    for wrong in (path[:-1] + ("A" if path[-1] != "A" else "B"), path + "A", f"/dashboard/demo/{foreign}"):
        assert the_demo.visitor(address=HERE).get(wrong).status_code == 410
    nobody = new_demo_link(Secrecy((SECRET,)), "nobody@people.test", CLOCK.now_ms() // 1000)
    assert the_demo.visitor(address=HERE).get(f"/dashboard/demo/{nobody}").status_code == 410


def test_there_is_no_link_on_a_service_that_is_not_a_demo(the_office: Office) -> None:
    visitor = the_office.visitor(address=HERE)
    assert visitor.get(link(the_office.somebody())).status_code == 404
    assert "siteglass demo link" not in visitor.get("/dashboard/sign-in").text


def test_a_public_service_does_not_start_as_a_demo(the_demo: Office) -> None:
    public = replace(the_demo.settings, public_url="https://leads.example.com")
    with pytest.raises(SettingsError, match="SITEGLASS_PUBLIC_URL is https://leads"):
        create_app(public)
    with pytest.raises(SettingsError, match="SITEGLASS_DEMO_NETWORKS: 'everybody' is not a network"):
        create_app(replace(the_demo.settings, demo_networks=("everybody",)))


@pytest.mark.parametrize("network", ["0.0.0.0/0", "203.0.113.7", "10.0.0.0/7", "::/0", "2001:db8::/32"])
def test_strangers_cannot_be_let_in(the_demo: Office, network: str) -> None:
    with pytest.raises(SettingsError, match="is not a private network"):
        create_app(replace(the_demo.settings, demo_networks=("127.0.0.0/8", network)))
