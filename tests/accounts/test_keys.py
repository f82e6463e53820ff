"""Keys: their form, who is found by them, how long that is remembered, and that all refusals are the same."""

from __future__ import annotations

import asyncio
import functools
import re
import string
from datetime import UTC, datetime, timedelta

import pytest

from siteglass.access import key_form, keys
from siteglass.access.accounts import AccountError
from siteglass.access.keys import KeyLimits, Keys, create_key, revoke_key
from siteglass.errors import Unauthorized, Unavailable
from siteglass.platform.postgres import Postgres
from siteglass.settings import SettingsError
from testing import account_proofs
from testing.accounts import SECRETS, TIMEOUT_MS, CountingPostgres, open_account, open_key

pytestmark = pytest.mark.anyio


class Watch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.promise("key.form")
def test_the_form_is_fixed() -> None:
    assert re.fullmatch(r"sg_live_[0-9A-Za-z]{36}", key_form.make_key())
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    value = functools.reduce(lambda so_far, digit: so_far * 62 + digits.index(digit), key_form.checksum("123456789"), 0)
    assert value == 0xCBF43926  # the check value of CRC32


@pytest.mark.parametrize(
    "presented", ["", "sg_live_", "x" * 44, "sg_live_" + "é" * 36, "sg_live_" + "0" * 36, "0" * 100_000, "\n"]
)
async def test_what_is_no_key_is_refused_without_a_query(presented: str, dsn: str, schema_name: str) -> None:
    postgres = CountingPostgres(dsn, schema_name)
    with pytest.raises(Unauthorized):
        await Keys(postgres, SECRETS, TIMEOUT_MS).find(presented)
    assert postgres.sent == 0


async def test_every_typo_is_refused_without_a_query(dsn: str, schema_name: str) -> None:
    assert await account_proofs.typos(dsn, schema_name, 20) > 50_000


async def test_a_key_of_another_kind_is_refused_without_a_query(dsn: str, schema_name: str) -> None:
    text = "sg_demo_" + "a" * 30
    postgres = CountingPostgres(dsn, schema_name)
    with pytest.raises(Unauthorized):
        await Keys(postgres, SECRETS, TIMEOUT_MS).find(text + key_form.checksum(text))
    assert postgres.sent == 0


async def test_a_test_key_is_known_as_one(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    _, key = await create_key(postgres, SECRETS, account, "k", actor="tests", test=True)
    assert key.startswith("sg_test_")
    assert (await Keys(postgres, SECRETS, TIMEOUT_MS).find(key)).test is True


async def test_the_caller_is_known_with_plan_and_limits(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    limits = KeyLimits(rate_per_s=2.5, burst=3)
    number, key = await create_key(postgres, SECRETS, account, "k", ["search"], limits, actor="tests")
    caller = await Keys(postgres, SECRETS, TIMEOUT_MS).find(key)
    assert caller == keys.Caller(account, number, number, frozenset({"search"}), "standard", 10.0, 20, 2.5, 3)


@pytest.mark.promise("key.hashed")
async def test_the_key_itself_is_nowhere_in_the_database(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    number, key = await create_key(postgres, SECRETS, account, "k", actor="tests")
    row = await postgres.fetchrow("SELECT k::text AS all FROM {schema}.keys k WHERE id = $1", number)
    assert row is not None
    assert key not in row["all"]
    assert key[12:-4] not in row["all"]
    [shown] = [k for k in await keys.list_keys(postgres, account) if k.id == number]
    assert shown.shown == f"{key[:12]}...{key[-4:]}"


async def test_two_secrets_live_at_once(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    newer = ("another secret of the tests, longer", *SECRETS)
    _, old = await create_key(postgres, SECRETS, account, "old", actor="tests")
    _, new = await create_key(postgres, newer, account, "new", actor="tests")
    both = Keys(postgres, newer, TIMEOUT_MS)
    assert (await both.find(old)).key_id < (await both.find(new)).key_id
    with pytest.raises(Unauthorized):
        await Keys(postgres, SECRETS, TIMEOUT_MS).find(new)
    versions = [k.secret_version for k in await keys.list_keys(postgres, account)]
    assert versions[0] != versions[1] == versions[2]


@pytest.mark.parametrize("secrets", [(), ("short",), tuple(f"{n}" * 40 for n in range(3))])
def test_secrets_must_be_long_and_few(secrets: tuple[str, ...], dsn: str, schema_name: str) -> None:
    with pytest.raises(SettingsError, match="SITEGLASS_KEY_SECRETS"):
        Keys(Postgres(dsn, schema_name), secrets, TIMEOUT_MS)


async def test_found_and_not_found_are_remembered_for_a_second(dsn: str, schema_name: str) -> None:
    postgres, watch = CountingPostgres(dsn, schema_name), Watch()
    caller = await open_account(postgres)
    found, key = await open_key(postgres, caller.account_id)
    finder = Keys(postgres, SECRETS, TIMEOUT_MS, watch)
    await finder.find(key)
    unknown = key_form.make_key()
    with pytest.raises(Unauthorized):
        await finder.find(unknown)
    sent = postgres.sent
    await revoke_key(postgres, found.key_id, "tests")
    watch.now += 0.999
    assert await finder.find(key) == found
    with pytest.raises(Unauthorized):
        await finder.find(unknown)
    assert postgres.sent == sent + 1  # the revocation
    watch.now += 0.001
    with pytest.raises(Unauthorized):
        await finder.find(key)
    assert postgres.sent == sent + 2
    await postgres.close()


async def test_the_second_counts_from_the_start_of_the_look_up(postgres: Postgres) -> None:
    """A look-up that saw the key before its revocation, and took long, is not worth another second when it ends."""
    watch = Watch()
    slow = _SlowPostgres(postgres)
    finder = Keys(slow, SECRETS, TIMEOUT_MS, watch)
    found, key = await open_key(postgres, (await open_account(postgres)).account_id)
    first = asyncio.create_task(finder.find(key))
    await slow.looked.wait()
    await revoke_key(postgres, found.key_id, "tests")
    watch.now += 1.1
    slow.hold.set()  # only now does the first look-up end
    assert await first == found  # it began before the revocation
    with pytest.raises(Unauthorized):
        await finder.find(key)


async def test_who_comes_a_second_into_a_slow_look_up_starts_another(postgres: Postgres) -> None:
    watch = Watch()
    slow = _SlowPostgres(postgres)
    finder = Keys(slow, SECRETS, TIMEOUT_MS, watch)
    found, key = await open_key(postgres, (await open_account(postgres)).account_id)
    first = asyncio.create_task(finder.find(key))
    await slow.looked.wait()
    await revoke_key(postgres, found.key_id, "tests")
    watch.now += 1.1
    second = asyncio.create_task(finder.find(key))
    await asyncio.sleep(0)
    slow.hold.set()
    assert await first == found
    with pytest.raises(Unauthorized):
        await second


class _SlowPostgres(Postgres):
    """Has its answer, and holds it back until `hold` is set."""

    def __init__(self, inner: Postgres) -> None:
        super().__init__("postgresql://nowhere", inner.schema)
        self.fast, self.looked, self.hold = inner, asyncio.Event(), asyncio.Event()

    async def fetchrow(self, *arguments, **options):  # type: ignore[no-untyped-def]  # as Postgres has it
        row = await self.fast.fetchrow(*arguments, **options)
        self.looked.set()
        await self.hold.wait()
        return row


async def test_many_at_once_make_one_query_and_one_may_leave(dsn: str, schema_name: str) -> None:
    postgres = CountingPostgres(dsn, schema_name)
    found, key = await open_key(postgres, (await open_account(postgres)).account_id)
    finder = Keys(postgres, SECRETS, TIMEOUT_MS)
    sent = postgres.sent
    waiting = [asyncio.create_task(finder.find(key)) for _ in range(200)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert answers[1:] == [found] * 199
    assert postgres.sent == sent + 1
    await postgres.close()


async def test_the_cache_is_bounded(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "CACHE_SIZE", 10)
    finder = Keys(postgres, SECRETS, TIMEOUT_MS)
    for _ in range(50):
        with pytest.raises(Unauthorized):
            await finder.find(key_form.make_key())
        assert len(finder._lookups) <= 10


async def test_a_failed_look_up_is_not_remembered(schema_name: str, postgres: Postgres) -> None:
    found, key = await open_key(postgres, (await open_account(postgres)).account_id)
    away = Postgres("postgresql://siteglass@127.0.0.1:1/siteglass", schema_name)
    finder = Keys(away, SECRETS, TIMEOUT_MS)
    with pytest.raises(Unavailable):
        await finder.find(key)
    finder._postgres = postgres
    assert await finder.find(key) == found


@pytest.mark.nightly
@pytest.mark.alone
async def test_refusals_take_the_same_time(postgres: Postgres) -> None:
    # Medians to 50 µs want a quiet machine: bench/prove_accounts.py. The fastest tenth is steady on a busy one too.
    times = await account_proofs.refusal_times_us(postgres, 400, percentile=10)
    assert max(times.values()) - min(times.values()) < 150, times


async def test_an_expired_and_a_revoked_key_are_refused(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    soon = KeyLimits(expires_at=datetime.now(UTC) + timedelta(seconds=0.5))
    number, key = await create_key(postgres, SECRETS, account, "short", limits=soon, actor="tests")
    assert (await Keys(postgres, SECRETS, TIMEOUT_MS).find(key)).key_id == number
    await asyncio.sleep(0.6)
    with pytest.raises(Unauthorized):
        await Keys(postgres, SECRETS, TIMEOUT_MS).find(key)
    found, other = await open_key(postgres, account)
    await revoke_key(postgres, found.key_id, "tests")
    await revoke_key(postgres, found.key_id, "tests")  # again: no error, and not a later time
    with pytest.raises(Unauthorized):
        await Keys(postgres, SECRETS, TIMEOUT_MS).find(other)


async def test_mistakes_of_an_operator_are_explained(postgres: Postgres) -> None:
    with pytest.raises(AccountError, match="no account 99"):
        await create_key(postgres, SECRETS, 99_000_000, "k", actor="tests")
    with pytest.raises(AccountError, match="no key 99"):
        await revoke_key(postgres, 99_000_000, "tests")
    account = (await open_account(postgres)).account_id
    with pytest.raises(AccountError, match="at least one of the scopes"):
        await create_key(postgres, SECRETS, account, "k", ["everything"], actor="tests")
