"""A key is replaced by another: what it inherits, when the old one ends, and which keys can be rotated at all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from siteglass.access import keys
from siteglass.access.accounts import AccountError
from siteglass.access.keys import KeyLimits, KeyRow, Keys, create_key, revoke_key
from siteglass.access.networks import read_networks
from siteglass.access.rotation import rotate_key
from siteglass.errors import Unauthorized
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, TIMEOUT_MS, open_account, open_key

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)
SOON = timedelta(seconds=5)


async def _row(postgres: Postgres, account_id: int, key_id: int) -> KeyRow:
    return next(row for row in await keys.list_keys(postgres, account_id) if row.id == key_id)


async def _rotate(postgres: Postgres, key_id: int, overlap: timedelta = DAY) -> tuple[int, str]:
    return await rotate_key(postgres, SECRETS, key_id, overlap, "tests")


@pytest.mark.promise("key.rotation_inherits")
async def test_the_new_key_has_all_that_the_old_one_has(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    ends = datetime.now(UTC) + 30 * DAY
    limits = KeyLimits(ends, 5, 7, 2.5, 3, read_networks(["203.0.113.0/24", "2001:db8::/32"]))
    first, key = await create_key(postgres, SECRETS, account, "office", ["search"], limits, actor="tests")
    second, new = await _rotate(postgres, first)
    third, newest = await _rotate(postgres, second)
    finder = Keys(postgres, SECRETS, TIMEOUT_MS)
    found = [await finder.find(made) for made in (key, new, newest)]
    assert [caller.key_id for caller in found] == [first, second, third]
    for caller in found:
        assert (caller.family_id, caller.scopes, caller.key_rate_per_s, caller.key_burst, caller.networks) == (
            first, frozenset({"search"}), 2.5, 3, limits.networks,
        )  # fmt: skip
    row = await _row(postgres, account, third)
    assert (row.name, row.expires_at, row.daily_api_cap, row.daily_lead_cap) == ("office", ends, 5, 7)
    assert row.shown == f"{newest[:12]}...{newest[-4:]}"
    assert [(await _row(postgres, account, number)).rotated_to for number in (first, second, third)] == [
        second, third, None,
    ]  # fmt: skip


@pytest.mark.promise("key.rotation_end")
async def test_the_old_key_ends_after_the_overlap_and_never_later_than_before(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    before = datetime.now(UTC)
    endless, _ = await create_key(postgres, SECRETS, account, "endless", actor="tests")
    ending, _ = await create_key(postgres, SECRETS, account, "ending", limits=KeyLimits(before + SOON), actor="tests")
    for number in (endless, ending):
        await _rotate(postgres, number)
    ends = (await _row(postgres, account, endless)).expires_at
    assert ends is not None
    assert before + DAY <= ends <= datetime.now(UTC) + DAY
    assert (await _row(postgres, account, ending)).expires_at == before + SOON


@pytest.mark.promise("key.rotation_end")
async def test_without_an_overlap_the_old_key_ends_now(postgres: Postgres) -> None:
    found, key = await open_key(postgres, (await open_account(postgres)).account_id)
    _, new = await _rotate(postgres, found.key_id, timedelta())
    finder = Keys(postgres, SECRETS, TIMEOUT_MS)
    with pytest.raises(Unauthorized):
        await finder.find(key)
    assert (await finder.find(new)).family_id == found.key_id


@pytest.mark.promise("key.rotation_end")
@pytest.mark.parametrize("overlap", [timedelta(microseconds=-1), 7 * DAY + timedelta(microseconds=1)])
async def test_an_overlap_has_its_limits(postgres: Postgres, overlap: timedelta) -> None:
    found, _ = await open_key(postgres, (await open_account(postgres)).account_id)
    with pytest.raises(AccountError, match=r"The overlap must be 0 to 168 hours\."):
        await _rotate(postgres, found.key_id, overlap)
    await _rotate(postgres, found.key_id, 7 * DAY)


@pytest.mark.promise("key.rotation_refused")
async def test_what_has_ended_is_not_rotated(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    past = KeyLimits(datetime.now(UTC) - SOON)
    expired, _ = await create_key(postgres, SECRETS, account, "expired", limits=past, actor="tests")
    revoked, _ = await create_key(postgres, SECRETS, account, "revoked", actor="tests")
    await revoke_key(postgres, revoked, "tests")
    count = len(await keys.list_keys(postgres, account))
    for number, what in ((expired, "has expired"), (revoked, "was revoked")):
        with pytest.raises(
            AccountError, match=f"Key {number} {what}. Create a new key: siteglass key create {account}"
        ):
            await _rotate(postgres, number)
    with pytest.raises(AccountError, match="There is no key 99000000"):
        await _rotate(postgres, 99_000_000)
    assert len(await keys.list_keys(postgres, account)) == count


@pytest.mark.promise("key.rotation_refused")
async def test_only_the_newest_of_a_family_is_rotated(postgres: Postgres) -> None:
    found, _ = await open_key(postgres, (await open_account(postgres)).account_id)
    newer, _ = await _rotate(postgres, found.key_id)
    with pytest.raises(
        AccountError, match=f"already rotated. Rotate its newest replacement: siteglass key rotate {newer}"
    ):
        await _rotate(postgres, found.key_id)


@pytest.mark.promise("key.rotation_inherits")
async def test_when_the_newest_was_revoked_the_one_before_is_rotated_with_the_first_expiry(postgres: Postgres) -> None:
    """The old key ends with its overlap; the key that takes its place once more must not end with it."""
    account = (await open_account(postgres)).account_id
    for expiry in (None, datetime.now(UTC) + 30 * DAY):
        first, _ = await create_key(postgres, SECRETS, account, "k", limits=KeyLimits(expiry), actor="tests")
        leaked, _ = await _rotate(postgres, first)
        await revoke_key(postgres, leaked, "tests")
        third, _ = await _rotate(postgres, first)
        assert (await _row(postgres, account, third)).expires_at == expiry


@pytest.mark.promise("key.rotation_refused")
@pytest.mark.race
async def test_of_several_who_rotate_at_once_one_does(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    for _ in range(10):
        found, _ = await open_key(postgres, account)
        done = await asyncio.gather(*(_rotate(postgres, found.key_id) for _ in range(6)), return_exceptions=True)
        made = [each for each in done if isinstance(each, tuple)]
        assert len(made) == 1
        refusals = {str(each) for each in done if isinstance(each, AccountError)}
        assert refusals == {
            f"Key {found.key_id} was already rotated. Rotate its newest replacement: siteglass key rotate {made[0][0]}"
        }
        assert (await _row(postgres, account, made[0][0])).expires_at is None
