"""The lists of accounts: statements on `lists` and `list_domains`.

A domain is stored as text, with the number of its lead where there is one. Numbers never change, so a rebuild of the
index changes no list. The bitmap of a list has the numbers of its domains; a search passes it to the engine. The rows
are the truth: what they say is checked again before a response is charged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pyroaring import BitMap

from siteglass.billing.received import update_paid, update_received
from siteglass.errors import BadRequest, NotFound, Problem, repeated
from siteglass.index.index import Index
from siteglass.index.lead_numbers import find_numbers
from siteglass.leads.lists.bitmaps import BitmapCache, changed, pack

if TYPE_CHECKING:
    import asyncpg

    from siteglass.platform.postgres import Connection

NAME = re.compile("[a-z0-9][a-z0-9_-]{0,62}")
PAID = "paid"
RECEIVED = "received"
"""Leads that charges returned, paid for or free."""
DOWNLOADED = "downloaded"
"""Leads that people downloaded in the dashboard."""
BUILT_IN = (DOWNLOADED, PAID, RECEIVED)
"""Lists that every account has, and names that callers cannot give to lists."""
RUN_PREFIX = "watch-run-"
"""Names of lists with the new leads of a watch run start so; callers cannot give such names to lists."""
MAX_LISTS = 100
"""Lists of an account, the built-in ones not counted."""
MAX_LIST_DOMAINS = 100_000
"""Domains of a list; the built-in ones have as many as there are."""
WRITE_TIMEOUT_MS = 10_000
RESOLVE_AGAIN_AFTER = timedelta(minutes=10)
RESOLVE_AT_ONCE = 2_000
CHECK_AT_ONCE = 2_000
BATCHES_AT_ONCE = 10
NUMBER_EVERY_S = 30.0

# now() is one time for the whole statement, so an index finds what is later; clock_timestamp() is not.
FREE_NUMBERS = """
SELECT DISTINCT d.lead_no FROM {schema}.received r JOIN {schema}.list_domains d ON d.domain = r.domain
WHERE r.account_id = $1 AND r.charged AND r.at > now() - make_interval(days => $2) AND d.list_id = $3
"""
_COLUMNS = "id, name, built_in, domains, made_at, changed_at, revision"


@dataclass(frozen=True, slots=True)
class DomainList:
    """A list without its domains."""

    id: int
    name: str
    built_in: bool
    domains: int
    made_at: datetime
    changed_at: datetime
    revision: int


class Lists:
    """The lists of one dataset: of the live leads, or of the made-up ones that test keys search."""

    def __init__(self, index: Index, *, test: bool) -> None:
        self._index = index
        self._postgres = index.postgres
        self._test = test
        self._bitmaps = BitmapCache()

    # --- lists ----------------------------------------------------------------------------------

    async def of_account(self, account_id: int, needed: Collection[str] = BUILT_IN) -> list[DomainList]:
        """All lists of an account by name; of the built-in ones, those that are needed are up to date."""
        await self._update(account_id, needed)
        lists = await self.stored(account_id)
        if sum(list_.built_in for list_ in lists) < len(BUILT_IN):
            await self._postgres.fetch(
                "INSERT INTO {schema}.lists (account_id, test, name, built_in, bitmap)"
                " SELECT $1, $2, name, true, $4 FROM unnest($3::text[]) name ON CONFLICT DO NOTHING",
                account_id,
                self._test,
                list(BUILT_IN),
                pack(BitMap()),
            )
            lists = await self.stored(account_id)
        return lists

    async def stored(self, account_id: int) -> list[DomainList]:
        """All lists as they are stored: built-in ones may be missing, or lack the newest ledger rows."""
        rows = await self._postgres.fetch(
            f"SELECT {_COLUMNS} FROM {{schema}}.lists WHERE account_id = $1 AND test = $2 AND run_id IS NULL"  # noqa: S608 - names of ours
            " ORDER BY name",
            account_id,
            self._test,
        )
        return [DomainList(*row) for row in rows]

    async def of_runs(
        self, account_id: int, names: Collection[str] = (), ids: Collection[int] = ()
    ) -> list[DomainList]:
        """The lists among these that are the new leads of watch runs: only searches see them."""
        rows = await self._postgres.fetch(
            f"SELECT {_COLUMNS} FROM {{schema}}.lists WHERE account_id = $1 AND test = $2 AND run_id IS NOT NULL"  # noqa: S608 - names of ours
            " AND (name = ANY($3::text[]) OR id = ANY($4::bigint[]))",
            account_id,
            self._test,
            list(names),
            list(ids),
        )
        return [DomainList(*row) for row in rows]

    async def find(self, account_id: int, name: str) -> DomainList:
        """A list by its name; raises NotFound."""
        if not NAME.fullmatch(name):
            raise NotFound(repeated(name), missing="list")
        if name in BUILT_IN:
            return next(list_ for list_ in await self.of_account(account_id, (name,)) if list_.name == name)
        row = await self._postgres.fetchrow(
            f"SELECT {_COLUMNS} FROM {{schema}}.lists WHERE account_id = $1 AND test = $2 AND name = $3"  # noqa: S608 - names of ours
            " AND run_id IS NULL",
            account_id,
            self._test,
            name,
        )
        if row is None:
            raise NotFound(repeated(name), missing="list")
        return DomainList(*row)

    async def create(self, account_id: int, name: str) -> DomainList:
        """A new, empty list; raises BadRequest if the name is taken or there are too many."""
        if name.startswith(RUN_PREFIX):
            message = f"names that start with {RUN_PREFIX} are those of watch runs; choose another name"
            raise BadRequest([Problem("name", message)])
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            # Two requests could both count one list less than is allowed.
            await self._postgres.wait_for_turn(connection, "lists of an account", account_id)
            count = await connection.fetchval(
                self._postgres.sql(
                    "SELECT count(*) FROM {schema}.lists WHERE account_id = $1 AND NOT built_in AND run_id IS NULL"
                ),
                account_id,
            )
            if count >= MAX_LISTS:
                raise BadRequest(
                    [Problem("name", f"the account has {count} lists, the maximum; delete one that is not needed")]
                )
            row = await connection.fetchrow(
                self._postgres.sql(
                    "INSERT INTO {schema}.lists (account_id, test, name, bitmap) VALUES ($1, $2, $3, $4)"  # noqa: S608 - names of ours
                    f" ON CONFLICT DO NOTHING RETURNING {_COLUMNS}"
                ),
                account_id,
                self._test,
                name,
                pack(BitMap()),
            )
            if row is None:
                message = f"a list named {name} exists; add domains to it with POST /v1/lists/{name}/domains"
                raise BadRequest([Problem("name", message)])
            return DomainList(*row)

    async def delete(self, list_: DomainList) -> None:
        """Delete a list with its domains."""
        await self._postgres.fetch("DELETE FROM {schema}.lists WHERE id = $1", list_.id, timeout_ms=WRITE_TIMEOUT_MS)

    # --- domains --------------------------------------------------------------------------------

    async def domains(self, list_: DomainList, after: str, limit: int) -> list[str]:
        """Domains in their order, from after this one on. Which of them have a lead is not said: some opted out."""
        rows = await self._postgres.fetch(
            "SELECT domain FROM {schema}.list_domains WHERE list_id = $1 AND domain > $2 ORDER BY domain LIMIT $3",
            list_.id,
            after,
            limit,
        )
        return [row["domain"] for row in rows]

    async def add(self, list_: DomainList, hosts: Sequence[tuple[str, ...]]) -> tuple[DomainList, int]:
        """Add domains, each under the name that its lead has; returns how many are new. Aliases are not resolved.

        A domain without a lead is stored as its registrable domain, as most leads are.
        """
        numbers = await find_numbers(self._index, sorted({name for names in hosts for name in names}))
        chosen = {next((name for name in names if name in numbers), names[-1]) for names in hosts}
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            packed = await self._lock(connection, list_)
            rows = await connection.fetch(
                self._postgres.sql(
                    """
                    INSERT INTO {schema}.list_domains AS d (list_id, domain, lead_no, tried_at)
                    SELECT $1, domain, lead_no, clock_timestamp() FROM unnest($2::text[], $3::int[]) n (domain, lead_no)
                    ON CONFLICT (list_id, domain) DO UPDATE SET lead_no = excluded.lead_no
                    WHERE d.lead_no IS NULL AND excluded.lead_no IS NOT NULL
                    RETURNING lead_no, xmax = 0 AS is_new
                    """
                ),
                list_.id,
                sorted(chosen),
                [numbers.get(domain) for domain in sorted(chosen)],
            )
            added = sum(row["is_new"] for row in rows)
            packed = changed(packed, add=_numbers(rows))
            after = await self._store(connection, list_, packed, added)
            if after.domains > MAX_LIST_DOMAINS and not after.built_in:
                raise BadRequest(
                    [
                        Problem(
                            "domains",
                            f"a list can have at most {MAX_LIST_DOMAINS} domains; this one would have {after.domains}. "
                            "No domain was added: use another list for the rest",
                        )
                    ]
                )
        return after, added

    async def remove(self, list_: DomainList, hosts: Sequence[tuple[str, ...]]) -> tuple[DomainList, int]:
        """Remove domains, each by the first of its names that is on the list; returns how many were."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            packed = await self._lock(connection, list_)
            there = await connection.fetch(
                self._postgres.sql(
                    "SELECT domain FROM {schema}.list_domains WHERE list_id = $1 AND domain = ANY($2::text[])"
                ),
                list_.id,
                sorted({name for names in hosts for name in names}),
            )
            listed = {row["domain"] for row in there}
            chosen = {name for names in hosts if (name := next((one for one in names if one in listed), None))}
            rows = await connection.fetch(
                self._postgres.sql(
                    "DELETE FROM {schema}.list_domains WHERE list_id = $1 AND domain = ANY($2::text[])"
                    " RETURNING lead_no"
                ),
                list_.id,
                sorted(chosen),
            )
            packed = changed(packed, remove=_numbers(rows))
            return await self._store(connection, list_, packed, -len(rows)), len(rows)

    async def unwanted(self, exclude: Sequence[int], only: Sequence[int], domains: Sequence[str]) -> frozenset[str]:
        """The domains among these that are on an excluded list, or on none of the lists to choose from."""
        unwanted: set[str] = set()
        for start in range(0, len(domains), CHECK_AT_ONCE):
            names = list(domains[start : start + CHECK_AT_ONCE])
            row = await self._postgres.call(
                "unwanted_domains", exclude_lists=list(exclude), only_lists=list(only), names=names
            )
            unwanted.update(row[0])
        return frozenset(unwanted)

    async def counts(self, account_id: int, domains: Sequence[str]) -> dict[str, int]:
        """How many of these domains are on each list of the account, by name; lists without any are left out."""
        await self._update(account_id, BUILT_IN)
        rows = await self._postgres.fetch(
            "SELECT l.name, count(*) AS domains FROM {schema}.lists l JOIN {schema}.list_domains d ON d.list_id = l.id"
            " WHERE l.account_id = $1 AND l.test = $2 AND l.run_id IS NULL AND d.domain = ANY($3::text[])"
            " GROUP BY l.name ORDER BY l.name",
            account_id,
            self._test,
            list(domains),
        )
        return {row["name"]: row["domains"] for row in rows}

    # --- numbers and bitmaps --------------------------------------------------------------------

    async def bitmap(self, list_id: int, revision: int) -> BitMap:
        """The numbers of a list, at least as new as this revision; empty if the list is gone."""
        cached = self._bitmaps.find(list_id, revision)
        if cached is not None:
            return cached
        row = await self._postgres.fetchrow("SELECT revision, bitmap FROM {schema}.lists WHERE id = $1", list_id)
        if row is None:
            return BitMap()
        if row["bitmap"] is None:
            return await self._make_bitmap(list_id)
        return self._bitmaps.keep(list_id, row["revision"], row["bitmap"])

    async def _make_bitmap(self, list_id: int) -> BitMap:
        """Make the bitmap again from the rows, after domains left the list `paid`."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            revision = await connection.fetchval(
                self._postgres.sql("SELECT revision FROM {schema}.lists WHERE id = $1 FOR UPDATE"), list_id
            )
            if revision is None:
                return BitMap()
            packed = await self._pack_rows(connection, list_id)
            await connection.execute(
                self._postgres.sql("UPDATE {schema}.lists SET bitmap = $2 WHERE id = $1"), list_id, packed
            )
        return self._bitmaps.keep(list_id, revision, packed)

    async def _pack_rows(self, connection: Connection, list_id: int) -> bytes:
        rows = await connection.fetch(
            self._postgres.sql("SELECT lead_no FROM {schema}.list_domains WHERE list_id = $1 AND lead_no IS NOT NULL"),
            list_id,
        )
        return pack(BitMap(_numbers(rows)))

    async def _lock(self, connection: Connection, list_: DomainList) -> bytes:
        """Lock a list, and return its bitmap; raises NotFound if it was deleted meanwhile."""
        row = await connection.fetchrow(
            self._postgres.sql("SELECT bitmap FROM {schema}.lists WHERE id = $1 FOR UPDATE"), list_.id
        )
        if row is None:
            raise NotFound(list_.name, missing="list")
        return await self._pack_rows(connection, list_.id) if row["bitmap"] is None else row["bitmap"]

    async def _store(self, connection: Connection, list_: DomainList, packed: bytes, added: int) -> DomainList:
        """Store the bitmap of a locked list that got so many domains more."""
        row = await connection.fetchrow(
            self._postgres.sql(
                "UPDATE {schema}.lists SET bitmap = $2, domains = domains + $3, revision = revision + 1,"  # noqa: S608 - names of ours
                " changed_at = CASE WHEN $3 = 0 THEN changed_at ELSE clock_timestamp() END"
                f" WHERE id = $1 RETURNING {_COLUMNS}"
            ),
            list_.id,
            packed,
            added,
        )
        assert row is not None  # noqa: S101 - it is locked
        return DomainList(*row)

    async def _number(self, list_id: int, domains: Sequence[str]) -> None:
        """Look up leads of domains that had none, and add their numbers to the list."""
        numbers = await find_numbers(self._index, domains)
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            row = await connection.fetchrow(
                self._postgres.sql("SELECT bitmap FROM {schema}.lists WHERE id = $1 FOR UPDATE"), list_id
            )
            rows = await connection.fetch(
                self._postgres.sql(
                    """
                    UPDATE {schema}.list_domains d SET lead_no = n.lead_no, tried_at = clock_timestamp()
                    FROM unnest($2::text[], $3::int[]) n (domain, lead_no)
                    WHERE d.list_id = $1 AND d.domain = n.domain AND d.lead_no IS NULL
                    RETURNING d.lead_no
                    """
                ),
                list_id,
                domains,
                [numbers.get(domain) for domain in domains],
            )
            added = _numbers(rows)
            if row is None or not added:
                return
            # A bitmap that is to be made again from the rows gets the new numbers then.
            packed = None if row["bitmap"] is None else changed(row["bitmap"], add=added)
            await connection.execute(
                self._postgres.sql("UPDATE {schema}.lists SET bitmap = $2, revision = revision + 1 WHERE id = $1"),
                list_id,
                packed,
            )

    async def _update(self, account_id: int, names: Collection[str]) -> None:
        """Bring the lists `paid` and `received` up to the ledger. Raises Unavailable while a long ledger is read.

        Test keys are not charged, so theirs stay empty.
        """
        if self._test:
            return
        if PAID in names:
            await self._number_all(await update_paid(self._postgres, account_id))
        if RECEIVED in names:
            await self._number_all(await update_received(self._postgres, account_id))

    async def _number_all(self, list_id: int) -> None:
        """Look up the leads of domains that are new on a list."""
        while untried := await self._postgres.fetch(
            "SELECT domain FROM {schema}.list_domains WHERE list_id = $1 AND lead_no IS NULL AND tried_at IS NULL"
            " LIMIT $2",
            list_id,
            RESOLVE_AT_ONCE,
        ):
            await self._number(list_id, [found["domain"] for found in untried])

    async def free_numbers(self, account_id: int, days: int) -> BitMap:
        """The numbers of leads that the account paid for within so many days."""
        list_ = await self.find(account_id, RECEIVED)
        rows = await self._postgres.fetch(FREE_NUMBERS, account_id, days, list_.id)
        return BitMap(_numbers(rows))

    async def number_new_leads(self) -> None:
        """Look again for leads of domains that had none, those first that were looked for longest ago.

        What one worker claims, no other looks up.
        """
        for _ in range(BATCHES_AT_ONCE):
            rows = await self._postgres.fetch(
                """
                UPDATE {schema}.list_domains d SET tried_at = clock_timestamp()
                FROM (
                    SELECT u.list_id, u.domain FROM {schema}.list_domains u JOIN {schema}.lists l ON l.id = u.list_id
                    WHERE u.lead_no IS NULL AND u.tried_at < clock_timestamp() - $2::interval AND l.test = $1
                    ORDER BY u.tried_at LIMIT $3 FOR UPDATE OF u SKIP LOCKED
                ) claimed
                WHERE d.list_id = claimed.list_id AND d.domain = claimed.domain RETURNING d.list_id, d.domain
                """,
                self._test,
                RESOLVE_AGAIN_AFTER,
                RESOLVE_AT_ONCE,
                timeout_ms=WRITE_TIMEOUT_MS,
            )
            by_list: dict[int, list[str]] = {}
            for row in rows:
                by_list.setdefault(row["list_id"], []).append(row["domain"])
            for list_id, domains in by_list.items():
                await self._number(list_id, domains)
            if len(rows) < RESOLVE_AT_ONCE:
                return


def _numbers(rows: Iterable[asyncpg.Record]) -> list[int]:
    return [row["lead_no"] for row in rows if row["lead_no"] is not None]
