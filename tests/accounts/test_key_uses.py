"""What using a key writes: no statement of the request's own, and nothing that moves back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from siteglass.access import key_uses, keys
from siteglass.access.key_form import digest, make_key, secret_version
from siteglass.access.key_uses import KeyUses
from siteglass.access.keys import KeyRow, Keys
from siteglass.errors import Unauthorized, Unavailable
from siteglass.platform.postgres import Postgres
from testing.accounts import SECRETS, TIMEOUT_MS, CountingPostgres, open_account, open_key
from tests.accounts.test_keys import Watch

pytestmark = pytest.mark.anyio

NEWER = ("a newer secret of the tests, long enough", *SECRETS)
AWAY = "postgresql://siteglass@127.0.0.1:1/siteglass"


async def _row(postgres: Postgres, key_id: int) -> KeyRow:
    owner = await postgres.fetchrow("SELECT account_id FROM {schema}.keys WHERE id = $1", key_id)
    assert owner is not None
    return next(row for row in await keys.list_keys(postgres, owner["account_id"]) if row.id == key_id)


async def _last_used(postgres: Postgres, key_id: int) -> datetime | None:
    return (await _row(postgres, key_id)).last_used_at


@pytest.mark.promise("key.last_used")
async def test_a_use_costs_no_statement_and_all_are_written_by_one(dsn: str, schema_name: str) -> None:
    postgres, watch = CountingPostgres(dsn, schema_name), Watch()
    account = (await open_account(postgres)).account_id
    made = [await open_key(postgres, account) for _ in range(3)]
    finder = Keys(postgres, SECRETS, TIMEOUT_MS, watch)
    for _, key in made:
        await finder.find(key)
    with pytest.raises(Unauthorized):
        await finder.find(make_key())
    sent = postgres.sent
    for _ in range(100):
        for _, key in made:
            await finder.find(key)
    assert postgres.sent == sent
    await finder.uses.write()
    assert postgres.sent == sent + 1
    await finder.uses.write()  # nothing new: nothing is sent
    assert postgres.sent == sent + 1
    for caller, _ in made:
        used = await _last_used(postgres, caller.key_id)
        assert used is not None
        assert abs(datetime.now(UTC) - used) < timedelta(seconds=5)
    await postgres.close()


@pytest.mark.promise("key.last_used")
async def test_the_time_is_that_of_the_use_and_never_moves_back(postgres: Postgres) -> None:
    caller, _ = await open_key(postgres, (await open_account(postgres)).account_id)
    watch = Watch()
    early, late = KeyUses(postgres, watch), KeyUses(postgres, watch)
    early.used(caller.key_id)
    watch.now += 60
    late.used(caller.key_id)
    watch.now += 10
    await late.write()
    used = await _last_used(postgres, caller.key_id)
    assert used is not None
    assert timedelta(seconds=10) <= datetime.now(UTC) - used < timedelta(seconds=15)
    await early.write()
    assert await _last_used(postgres, caller.key_id) == used


async def test_a_failed_write_is_kept_for_the_next(postgres: Postgres, schema_name: str) -> None:
    caller, key = await open_key(postgres, (await open_account(postgres)).account_id)
    other, _ = await open_key(postgres, caller.account_id)
    finder = Keys(postgres, NEWER, TIMEOUT_MS)
    await finder.find(key)
    uses = finder.uses
    uses._postgres = Postgres(AWAY, schema_name)
    with pytest.raises(Unavailable):
        await uses.write()
    uses.used(other.key_id)
    with pytest.raises(Unavailable):
        await uses.write()
    uses._postgres = postgres
    await uses.write()
    for number in (caller.key_id, other.key_id):
        assert await _last_used(postgres, number) is not None
    assert (await _row(postgres, caller.key_id)).secret_version == secret_version(NEWER[0].encode())


async def test_what_is_remembered_is_bounded(
    postgres: Postgres, schema_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_uses, "MAX_REMEMBERED", 3)
    uses = KeyUses(Postgres(AWAY, schema_name))
    for number in (1, 2, 3, 4, 2, 5):
        uses.used(number)
        uses.rehashed(number, key_uses.NewDigest(b"", b"", ""))
    assert list(uses._used) == [4, 2, 5]
    assert list(uses._rehashed) == [1, 2, 3]
    with pytest.raises(Unavailable):
        await uses.write()
    assert list(uses._used) == [4, 2, 5]


@pytest.mark.race
async def test_workers_that_write_at_once_do_not_stop_each_other(dsn: str, schema_name: str) -> None:
    """Many workers, the same keys, used in other orders; keys move to the newest secret meanwhile."""
    pools = [Postgres(dsn, schema_name, max_connections=1) for _ in range(4)]
    account = (await open_account(pools[0])).account_id
    made = [await open_key(pools[0], account) for _ in range(30)]
    workers = [Keys(pool, NEWER, TIMEOUT_MS) for pool in pools]
    for place, worker in enumerate(workers):
        for _, key in made[::-1] if place % 2 else made:
            await worker.find(key)
    for _ in range(20):
        await asyncio.gather(*(worker.uses.write() for worker in workers))
        for place, worker in enumerate(workers):
            for caller, _ in made[::-1] if place % 2 else made:
                worker.uses.used(caller.key_id)
    versions = {row.secret_version for row in await keys.list_keys(pools[0], account) if row.last_used_at}
    assert versions == {secret_version(NEWER[0].encode())}
    await asyncio.gather(*(pool.close() for pool in pools))


async def test_a_used_key_moves_to_the_newest_secret(postgres: Postgres) -> None:
    account = (await open_account(postgres)).account_id
    used, key = await open_key(postgres, account)
    unused, _ = await open_key(postgres, account)
    both = Keys(postgres, NEWER, TIMEOUT_MS)
    assert await both.find(key) == used
    await both.uses.write()
    assert await Keys(postgres, NEWER[:1], TIMEOUT_MS).find(key) == used
    with pytest.raises(Unauthorized):
        await Keys(postgres, SECRETS, TIMEOUT_MS).find(key)
    assert (await _row(postgres, unused.key_id)).secret_version == secret_version(SECRETS[0].encode())


async def test_a_digest_that_changed_meanwhile_stays(postgres: Postgres) -> None:
    caller, key = await open_key(postgres, (await open_account(postgres)).account_id)
    slow = Keys(postgres, NEWER, TIMEOUT_MS)
    await slow.find(key)
    third = "a third secret of the tests, long enough"
    fast = Keys(postgres, (third, *SECRETS), TIMEOUT_MS)
    await fast.find(key)
    await fast.uses.write()
    await slow.uses.write()
    row = await postgres.fetchrow("SELECT digest FROM {schema}.keys WHERE id = $1", caller.key_id)
    assert row is not None
    assert row["digest"] == digest(third.encode(), key)
