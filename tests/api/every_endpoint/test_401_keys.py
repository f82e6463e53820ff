"""Every key that does not work gets the same refusal, byte for byte; one that ends is refused within a second."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from siteglass import app
from siteglass.access.key_form import checksum, make_key
from siteglass.access.keys import KeyLimits
from siteglass.settings import Settings
from testing.api_calls import DIAGNOSE, ENRICH, FACETS, INTERPRET, SEARCH, answered, refused
from testing.customers import IN_ORDER, STOCK, Bank, marks
from testing.service import serving

ROUTES = [SEARCH, f"{SEARCH}/some-cursor", INTERPRET, FACETS, DIAGNOSE, ENRICH]
NEWEST = "the newer secret of the tests, long enough"


def _kind(key: str, start: str) -> str:
    """The same key as one of another kind, its checksum right."""
    text = start + key[len("sg_live_") : -6]
    return text + checksum(text)


@pytest.fixture(scope="module")
def bad_keys(bank: Bank) -> dict[str, str | None]:
    """A key for each reason; those that were good once are an account's that could pay."""
    good = bank.customer(api=100, lead=100)
    expired = bank.another(good.account_id, limits=KeyLimits(expires_at=datetime.now(UTC) - timedelta(seconds=1)))
    revoked = bank.another(good.account_id)
    bank.revoke(revoked.key_id)
    key = good.key
    swapped = "A" if key[-1] != "A" else "B"
    middle = "x" if key[20] != "x" else "y"
    return {
        "missing": None,
        "empty": "",
        "malformed": "not a key",
        "short": key[:-1],
        "long": key + "0",
        "other case": key.swapcase(),
        "quoted": f'"{key}"',
        "twice": f"{key}, {key}",
        "typo in the checksum": key[:-1] + swapped,
        "typo in the middle": key[:20] + middle + key[21:],
        "two characters swapped": key[:8] + key[8:-6][::-1] + key[-6:],
        "unknown": make_key(),
        "test key, unknown": _kind(make_key(), "sg_test_"),
        "test key of a good one": _kind(key, "sg_test_"),
        "other prefix": _kind(key, "sg_prod_"),
        "expired": expired.key,
        "revoked": revoked.key,
    }


@pytest.mark.promise("auth.invalid", "auth.expired", "error.UNAUTHORIZED", "order.two_keys", "key.one_body")
@pytest.mark.parametrize("path", ROUTES)
def test_one_body_for_every_reason(bank: Bank, bad_keys: dict[str, str | None], path: str) -> None:
    answers: dict[tuple[bytes, frozenset[str]], list[str]] = {}
    bare = bank.client(None)
    for reason, key in bad_keys.items():
        headers = {} if key is None else {"X-API-Key": key}
        response = bare.post(path, json={"domains": ["stock-01.com"]} if path == ENRICH else {}, headers=headers)
        refused(response, 401, "UNAUTHORIZED")
        assert list(response.json()) == ["error", "message"]
        same = {name for name in response.headers if name not in ("date", "x-request-id")}
        answers.setdefault((response.content, frozenset(same)), []).append(reason)
        for part in ((key or "")[8:38], (key or "")[-6:]):
            assert len(part) < 6 or part not in response.text + str(response.headers)
    assert len(answers) == 1, answers


@pytest.mark.promise("auth.invalid", "key.form")
def test_every_typo_in_one_place(bank: Bank) -> None:
    good = bank.customer(lead=100)
    with good.untouched():
        for place in range(len(good.key)):
            other = "Z" if good.key[place] != "Z" else "Y"
            typo = good.key[:place] + other + good.key[place + 1 :]
            refused(good.client.post(SEARCH, json={}, headers={"X-API-Key": typo}), 401, "UNAUTHORIZED")
    answered(good.client.post(SEARCH, json={"limit": 1}))


@pytest.mark.promise("key.revoked")
def test_a_revoked_key_pays_nothing_from_then_on(bank: Bank) -> None:
    customer = bank.customer(api=10, lead=100)
    path = answered(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 3}))["next"]
    bank.revoke(customer.key_id)
    # Still remembered perhaps, but a charge looks again: no answer without one.
    with customer.untouched():
        refused(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 3}), 401, "UNAUTHORIZED")
        refused(customer.client.post(SEARCH, json={**IN_ORDER, "limit": 1}), 401, "UNAUTHORIZED")
        refused(customer.client.post(path, json={}), 401, "UNAUTHORIZED")
        refused(customer.client.post(ENRICH, json={"domains": ["stock-01.com"]}), 401, "UNAUTHORIZED")
        refused(customer.client.post(ENRICH, json={"domains": ["nope.invalid"]}), 401, "UNAUTHORIZED")
    # The account's other keys still work, also with the cursor of the one that ended.
    bank.another(customer.account_id).pays(path, {}, "page", 0, marks(STOCK[3:6]))


@pytest.mark.promise("key.revoked")
@pytest.mark.alone
def test_a_revoked_key_is_refused_first_within_a_second(bank: Bank) -> None:
    customer = bank.customer(lead=100)
    refused(customer.client.post(SEARCH, json={"limt": 1}), 400, "INVALID_REQUEST")
    bank.revoke(customer.key_id)
    time.sleep(1.001)
    refused(customer.client.post(SEARCH, json={"limt": 1}), 401, "UNAUTHORIZED")
    refused(customer.client.post(SEARCH, content=b"x"), 401, "UNAUTHORIZED")


@pytest.mark.promise("auth.expired", "key.expiry")
@pytest.mark.alone
def test_a_key_that_expires_while_it_is_used(bank: Bank) -> None:
    ends = datetime.now(UTC) + timedelta(seconds=1.5)
    customer = bank.customer(lead=1000, limits=KeyLimits(expires_at=ends))
    answered(customer.client.post(SEARCH, json={"limit": 1}))
    while datetime.now(UTC) < ends + timedelta(seconds=0.05):
        response = customer.client.post(SEARCH, json={"limit": 1})
        if response.status_code != 200:
            refused(response, 401, "UNAUTHORIZED")
            assert datetime.now(UTC) >= ends
    with customer.untouched():
        refused(customer.client.post(SEARCH, json={"limit": 1}), 401, "UNAUTHORIZED")


def test_a_new_key_works_at_once(bank: Bank) -> None:
    customer = bank.customer(lead=1)
    customer.pays(SEARCH, {**IN_ORDER, "limit": 2}, "search", 0, marks(STOCK[:2]))


@pytest.mark.promise("key.rotation")
@pytest.mark.alone
def test_a_key_is_replaced_with_an_overlap(bank: Bank) -> None:
    old = bank.customer(lead=10)
    ends = time.monotonic() + 2
    new = bank.rotate(old, timedelta(seconds=2))
    body = {**IN_ORDER, "limit": 2}
    for customer in (old, new, old):
        customer.pays(SEARCH, body, "search", 0, marks(STOCK[:2]))
    time.sleep(ends + 0.2 - time.monotonic())
    with old.untouched():
        refused(old.post(SEARCH, body), 401, "UNAUTHORIZED")
    new.pays(SEARCH, body, "search", 0, marks(STOCK[:2]))


@pytest.mark.promise("key.family")
def test_a_replaced_key_and_the_new_one_share_their_rate(bank: Bank) -> None:
    old = bank.customer(lead=100, limits=KeyLimits(rate_per_s=0.001, burst=3))
    new = bank.rotate(old, timedelta(hours=1))
    body = {"limit": 1}
    for customer in (old, new, old):
        answered(customer.post(SEARCH, body))
    for customer in (old, new):
        refused(customer.post(SEARCH, body), 429, "TOO_MANY_REQUESTS")


@pytest.mark.promise("key.last_used")
def test_the_last_use_is_written_in_the_background(
    bank: Bank, stock_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "WRITE_USES_EVERY_S", 0.1)
    with serving(stock_settings) as client:
        user = bank.customer(lead=100)
        bare = bank.another(user.account_id)
        written = []
        for _ in range(2):
            called = datetime.now(UTC)
            answered(user.post(SEARCH, {"limit": 1}, client))
            deadline = time.monotonic() + 5
            while (used := bank.listed(user.account_id)[user.key_id].last_used_at) is None or used < called:
                assert time.monotonic() < deadline, "the use was not written"
                time.sleep(0.02)
            written.append(used)
        assert written[0] < written[1] <= datetime.now(UTC)
        assert bank.listed(user.account_id)[bare.key_id].last_used_at is None


@pytest.mark.promise("key.last_used")
def test_the_last_use_is_written_when_the_service_stops(bank: Bank, stock_settings: Settings) -> None:
    user = bank.customer(lead=100)
    with serving(stock_settings) as client:
        answered(user.post(SEARCH, {"limit": 1}, client))
        assert bank.listed(user.account_id)[user.key_id].last_used_at is None
    assert bank.listed(user.account_id)[user.key_id].last_used_at is not None


@pytest.mark.promise("key.secret_rotation")
def test_the_secret_changes_and_no_key_in_use_must_be_made_again(bank: Bank, stock_settings: Settings) -> None:
    used, unused = bank.customer(lead=10), bank.customer(lead=10)
    old = stock_settings.key_secrets
    with serving(replace(stock_settings, key_secrets=(NEWEST, *old))) as client:
        answered(used.post(SEARCH, {"limit": 1}, client))
    with serving(replace(stock_settings, key_secrets=(NEWEST,))) as client:
        answered(used.post(SEARCH, {"limit": 1}, client))
        refused(unused.post(SEARCH, {"limit": 1}, client), 401, "UNAUTHORIZED")


@pytest.fixture(scope="module")
def rotated(stock_settings: Settings) -> Iterator[httpx.Client]:
    """The service after the secret of the keys was rotated: the old one is still there."""
    with serving(replace(stock_settings, key_secrets=(NEWEST, *stock_settings.key_secrets))) as client:
        yield client


@pytest.mark.promise("key.secret_rotation")
def test_keys_of_both_secrets_work_while_both_are_set(bank: Bank, rotated: httpx.Client) -> None:
    old = bank.customer(lead=10)
    new = bank.another(old.account_id, key_secrets=(NEWEST, *bank.settings.key_secrets))
    for customer in (old, new, old):
        body = {**IN_ORDER, "limit": 3}
        customer.pays(SEARCH, body, "search", 0, marks(STOCK[:3]), rotated)
    # A service that has only the old secret knows nothing of the new key.
    with new.untouched():
        refused(new.client.post(SEARCH, json={}), 401, "UNAUTHORIZED")
    old.client.post(SEARCH, json={"limit": 1}).raise_for_status()
    bank.revoke(old.key_id)
    bank.revoke(new.key_id)
    with old.untouched():
        for customer in (old, new):
            refused(customer.post(SEARCH, {}, rotated), 401, "UNAUTHORIZED")


@pytest.mark.promise("key.secret_rotation")
def test_after_the_old_secret_is_gone_its_keys_are_unknown(bank: Bank, stock_settings: Settings) -> None:
    old = bank.customer(lead=10)
    new = bank.another(old.account_id, key_secrets=(NEWEST,))
    with serving(replace(stock_settings, key_secrets=(NEWEST,))) as client:
        refused(old.post(SEARCH, {}, client), 401, "UNAUTHORIZED")
        answered(new.post(SEARCH, {"limit": 1}, client))
