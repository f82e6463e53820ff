"""Cursors and bodies of a page that are refused; every bad cursor gets the same error."""

from __future__ import annotations

import string
from dataclasses import replace
from typing import Any

import httpx
import pytest

from siteglass.settings import Settings
from testing.api_calls import SEARCH, answered, bad_fields, refused, search
from testing.customers import Bank
from testing.service import serving

ALPHABET = string.ascii_letters + string.digits + "-_"


@pytest.fixture(scope="module")
def path(own: httpx.Client) -> str:
    """A good cursor."""
    found: str = search(own, {"limit": 10})["next"]
    return found


def _refused(own: httpx.Client, path: str) -> bytes:
    response = own.post(path, json={})
    refused(response, 400, "INVALID_CURSOR")
    return response.content


def _other(character: str, step: int = 1) -> str:
    return ALPHABET[(ALPHABET.index(character) + step) % 64]


@pytest.mark.promise("error.INVALID_CURSOR", "cursor.same_error", "errors.details")
def test_tampered_truncated_foreign_malformed_get_the_same_error(
    own: httpx.Client, path: str, own_settings: Settings
) -> None:
    cursor = path.removeprefix(f"{SEARCH}/")
    bad = ["x", "-", "_", "abc", "A" * 40, "A" * 200, "A" * 7000, "%00", "%FF", "%C3%A9", "a.b", "a%20b", "a=b"]
    bad += [cursor[:-1], cursor[:-4], cursor[: len(cursor) // 2], cursor[1:], cursor * 2]
    bad += [f"{cursor}A", f"{cursor}AAAA", f"{cursor}=", f"{cursor}==", f"{cursor}%0A", f"%20{cursor}", f"{cursor}+"]
    bad += [cursor.swapcase(), cursor[::-1]]
    with serving(replace(own_settings, cursor_secrets=("another secret of somebody else, long enough",))) as other:
        bad.append(search(other, {"limit": 10})["next"].removeprefix(f"{SEARCH}/"))
    assert len({_refused(own, f"{SEARCH}/{text}") for text in bad}) == 1


@pytest.mark.promise("cursor.account", "cursor.same_error")
def test_another_account_cannot_use_it_and_learns_nothing(bank: Bank) -> None:
    owner, stranger = bank.customer(lead=10), bank.customer(lead=10)
    path = answered(owner.post(SEARCH, {"limit": 1}))["next"]
    with stranger.untouched():
        foreign, malformed = stranger.post(path, {}), stranger.post(f"{SEARCH}/malformed", {})
    for response in (foreign, malformed):
        refused(response, 400, "INVALID_CURSOR")
    assert foreign.content == malformed.content
    answered(bank.another(owner.account_id).post(path, {}))


@pytest.mark.promise("cursor.sealed")
def test_every_changed_character_is_noticed(own: httpx.Client, path: str) -> None:
    start = len(f"{SEARCH}/")
    for at in range(start, len(path), 5):
        _refused(own, path[:at] + _other(path[at]) + path[at + 1 :])


@pytest.mark.promise("cursor.sealed")
def test_every_other_last_character_is_noticed(own: httpx.Client, path: str) -> None:
    # The last character of unpadded Base64 may have bits that mean nothing.
    for step in range(1, 64):
        _refused(own, path[:-1] + _other(path[-1], step))


def test_last_characters_of_cursors_of_every_length(own: httpx.Client) -> None:
    for length in (1, 2, 3, 4):
        cursor = search(own, {"wrapped_query": f"!@keywords({'x' * length})", "limit": 10})["next"]
        for step in (1, 2, 3, 4, 8, 16, 32):
            _refused(own, cursor[:-1] + _other(cursor[-1], step))


@pytest.mark.promise("body.integers", "body.nothing_ignored", "limit.outside", "page.else")
@pytest.mark.parametrize(
    "body",
    [
        {"limit": 0},
        {"limit": 101},
        {"limit": True},
        {"limit": "20"},
        {"limit": 1.5},
        {"limt": 5},
        {"query": "dentist"},
        {"country": "USA", "select": ["domain"]},
        {"sort": "domain", "limit": 0},
        {"wrapped_query": "@nope"},
        {"country": None},
    ],
    ids=str,
)
def test_bodies(own: httpx.Client, path: str, body: dict[str, Any]) -> None:
    assert bad_fields(own, body, path) == set(body)


@pytest.mark.promise("body.unknown_field")
def test_the_nearest_field_of_a_page(own: httpx.Client, path: str) -> None:
    (detail,) = refused(own.post(path, json={"limt": 5}), 400, "INVALID_REQUEST")
    assert "limit" in detail["message"]


@pytest.mark.parametrize("content", [b"[]", b"null", b"{", b"3", b"\xff", b'"x"'])
def test_no_json_object(own: httpx.Client, path: str, content: bytes) -> None:
    response = own.post(path, content=content, headers={"Content-Type": "application/json"})
    refused(response, 400, "INVALID_REQUEST")


@pytest.mark.promise("cursor.any_worker")
def test_a_cursor_is_bound_to_no_worker(own: httpx.Client, path: str, own_settings: Settings) -> None:
    with serving(own_settings) as other:
        there, here = other.post(path, json={}).json(), own.post(path, json={}).json()
        assert there["results"] == here["results"]
        assert there["result_id"] == here["result_id"]
