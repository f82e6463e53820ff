"""Domain names: the short way for names that are already in their stored form gives what the long way gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siteglass.corpus.domains import NotAHost, normalise, registrable

_LETTERS = "ab-_z09é.:/@ A"
_HOSTS = st.lists(st.text(_LETTERS, min_size=0, max_size=66), min_size=1, max_size=6).map(".".join)


def _normalised(text: str) -> str | None:
    try:
        return normalise(text)
    except NotAHost:
        return None


@given(_HOSTS | st.from_regex(r"[a-z0-9_-]{1,64}(\.[a-z0-9_-]{1,64}){0,4}", fullmatch=True))
def test_a_host_alone_is_read_as_in_a_url(host: str) -> None:
    """With a scheme before it, a host takes the long way."""
    if "/" not in host and "@" not in host and ":" not in host:
        assert _normalised(host) == _normalised(f"https://{host}/")


@pytest.mark.parametrize(
    ("host", "is_host"),
    [
        ("a.b", True),
        ("xn--bcher-kva.example", True),
        ("a_b.example", True),
        ("1.2.3.4", False),
        ("1.2.3.x4", True),
        ("a.1", False),
        ("-a.example", False),
        ("a-.example", False),
        ("a..example", False),
        ("example", False),
        ("a.example\n", True),
        (f"{'a' * 63}.example", True),
        (f"{'a' * 64}.example", False),
        (f"{'a' * 49}." * 5 + "abc", True),  # 253 characters
        (f"{'a' * 49}." * 5 + "abcd", False),
    ],
)
def test_what_is_a_host(host: str, is_host: bool) -> None:
    assert _normalised(host) == (host.strip() if is_host else None)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("shop.example.com", "example.com"),
        ("co.uk", "co.uk"),
        ("a.co.uk", "a.co.uk"),
        ("b.a.co.uk", "a.co.uk"),
        ("foo.ck", "foo.ck"),
        ("www.ck", "www.ck"),
        ("github.io", "github.io"),
        ("me.github.io", "me.github.io"),
    ],
)
def test_the_registrable_domain(host: str, domain: str) -> None:
    assert registrable(host) == domain
