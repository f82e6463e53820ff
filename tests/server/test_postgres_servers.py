"""A DSN with several hosts is taken apart; one with a single host stays as it is."""

from __future__ import annotations

import pytest

from siteglass.platform.postgres_servers import Servers
from siteglass.settings import SettingsError


def test_one_dsn_for_each_host() -> None:
    servers = Servers.read("postgresql://us%40er:p%2Fw@a:1,[::1]:2,c/db?target_session_attrs=read-write&ssl=x%20y")
    assert servers.dsns == (
        "postgresql://us%40er:p%2Fw@a:1/db?ssl=x+y",
        "postgresql://us%40er:p%2Fw@[::1]:2/db?ssl=x+y",
        "postgresql://us%40er:p%2Fw@c/db?ssl=x+y",
    )
    assert servers.role == "us@er"
    assert servers.places == ("[::1]:2", "a:1", "c", "/db")


@pytest.mark.parametrize(
    "dsn", ["postgresql://u@h/db", "postgresql:///db?host=/run/postgresql", "postgresql://h:1/db?x=y"]
)
def test_a_single_host_stays_as_it_is(dsn: str) -> None:
    assert Servers.read(dsn).dsns == (dsn,)


def test_the_order_of_hosts_does_not_matter() -> None:
    assert Servers.read("postgresql://o@a,b/db").places == Servers.read("postgresql://s@b,a/db").places


def test_the_service_cannot_use_a_standby() -> None:
    with pytest.raises(SettingsError, match="target_session_attrs of a DSN must be read-write or primary"):
        Servers.read("postgresql://a,b/db?target_session_attrs=standby")
