"""Networks as operators write them, and addresses as callers have them."""

from __future__ import annotations

import pytest

from siteglass.access.accounts import AccountError
from siteglass.access.networks import is_among, read_networks
from siteglass.platform.addresses import read_address


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["203.0.113.0/24"], ["203.0.113.0/24"]),
        (["203.0.113.7"], ["203.0.113.7/32"]),
        (["2001:DB8::/32", "10.0.0.0/8", "2001:db8::/32", "9.0.0.0/8"], ["9.0.0.0/8", "10.0.0.0/8", "2001:db8::/32"]),
        (["::1"], ["::1/128"]),
        (["::ffff:203.0.113.0/120"], ["203.0.113.0/24"]),
        (["::ffff:203.0.113.7"], ["203.0.113.7/32"]),
        (["0.0.0.0/0", "::/0"], ["0.0.0.0/0", "::/0"]),
    ],
)
def test_read(given: list[str], read: list[str]) -> None:
    assert [str(network) for network in read_networks(given)] == read


@pytest.mark.parametrize(
    "given", ["", "office", "203.0.113", "203.0.113.0/33", "203.0.113.7 ", "fe80::1%eth0", "fe80::1%eth0/64"]
)
def test_what_is_no_network_is_told(given: str) -> None:
    with pytest.raises(
        AccountError,
        match=r"is not a network. Use an IP address, or a network such as "
        r"203\.0\.113\.0/24",
    ):
        read_networks([given])


def test_an_address_with_the_length_of_a_network_is_not_widened() -> None:
    with pytest.raises(
        AccountError, match=r"'203\.0\.113\.7/24' is not a network.* Its network is 203\.0\.113\.0/24\."
    ):
        read_networks(["203.0.113.7/24"])


@pytest.mark.promise("key.networks")
def test_a_list_has_its_limits() -> None:
    assert len(read_networks([f"10.0.0.{number}" for number in range(100)])) == 100
    for count in (0, 101):
        with pytest.raises(AccountError, match=f"1 to 100 entries, not {count}"):
            read_networks([f"10.0.0.{number}" for number in range(count)])


@pytest.mark.promise("key.networks")
@pytest.mark.parametrize(
    ("address", "there"),
    [
        ("203.0.113.7", True),
        ("203.0.113.8", True),
        ("203.0.114.7", False),
        ("::ffff:203.0.113.7", True),
        ("::ffff:203.0.114.7", False),
        ("2001:db8::5", True),
        ("2001:DB8:0:0::5%eth0", True),
        ("2001:db9::5", False),
        ("::203.0.113.7", False),
        ("", False),
        ("unknown", False),
        ("203.0.113.7, 203.0.113.8", False),
    ],
)
def test_addresses(address: str, there: bool) -> None:
    assert is_among(read_address(address), read_networks(["203.0.113.0/24", "2001:db8::/32"])) is there
