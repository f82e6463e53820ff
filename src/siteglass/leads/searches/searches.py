"""The saved searches of accounts: statements on `saved_searches`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg
import orjson

from siteglass.access.keys import Caller
from siteglass.errors import BadRequest, NotFound, Problem, repeated
from siteglass.leads.lists.lists import NAME
from siteglass.platform.postgres import Postgres

MAX_SEARCHES = 500
"""Saved searches of an account."""
DELETE_TIMEOUT_MS = 10_000

_COLUMNS = "id, name, owner_key_id, shared, body, made_at, counted_at, total"
# What a key sees: its own, those of keys that it replaced by rotation, and shared ones.
_SEEN = "account_id = $1 AND test = $2 AND (shared OR owner_key_id = $3)"


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search with its name, and what the last count found."""

    id: int
    name: str
    owner_key_id: int
    shared: bool
    body: str
    made_at: datetime
    counted_at: datetime | None
    total: int | None

    @property
    def search(self) -> dict[str, Any]:
        """The body of the search, as it was sent."""
        body: dict[str, Any] = orjson.loads(self.body)
        return body


class SavedSearches:
    """The saved searches of one dataset: of the live leads, or of the made-up ones that test keys search."""

    def __init__(self, postgres: Postgres, *, test: bool) -> None:
        self._postgres = postgres
        self._test = test

    def _seen_by(self, caller: Caller) -> tuple[int, bool, int]:
        return caller.account_id, self._test, caller.family_id

    async def seen(self, caller: Caller) -> list[SavedSearch]:
        """All that this key sees, by name."""
        rows = await self._postgres.fetch(
            f"SELECT {_COLUMNS} FROM {{schema}}.saved_searches WHERE {_SEEN} ORDER BY name",  # noqa: S608 - names of ours
            *self._seen_by(caller),
        )
        return [SavedSearch(*row) for row in rows]

    async def find(self, caller: Caller, name: str) -> SavedSearch:
        """A search by its name; raises NotFound if there is none, or none that this key sees."""
        row = None
        if NAME.fullmatch(name):
            row = await self._postgres.fetchrow(
                f"SELECT {_COLUMNS} FROM {{schema}}.saved_searches WHERE {_SEEN} AND name = $4",  # noqa: S608 - names of ours
                *self._seen_by(caller),
                name,
            )
        if row is None:
            raise NotFound(repeated(name), missing="saved search")
        return SavedSearch(*row)

    async def save(self, caller: Caller, name: str, body: dict[str, Any], *, shared: bool) -> SavedSearch:
        """Save a search; raises BadRequest if the name is taken or there are too many."""
        async with self._postgres.transaction() as connection:
            # Two requests could both count one search less than is allowed.
            await self._postgres.wait_for_turn(connection, "searches of an account", caller.account_id)
            count = await connection.fetchval(
                self._postgres.sql("SELECT count(*) FROM {schema}.saved_searches WHERE account_id = $1"),
                caller.account_id,
            )
            if count >= MAX_SEARCHES:
                message = f"the account has {count} saved searches, the maximum; delete one that is not needed"
                raise BadRequest([Problem("name", message)])
            row = await connection.fetchrow(
                self._postgres.sql(
                    "INSERT INTO {schema}.saved_searches (account_id, test, owner_key_id, name, shared, body)"  # noqa: S608 - names of ours
                    f" VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING {_COLUMNS}"
                ),
                *self._seen_by(caller),
                name,
                shared,
                orjson.dumps(body).decode(),
            )
            if row is None:
                message = f"the account has a saved search {name}; delete it first, or choose another name"
                raise BadRequest([Problem("name", message)])
            return SavedSearch(*row)

    async def change(self, saved: SavedSearch, name: str, *, shared: bool) -> None:
        """Give a search another name, or share it or not; raises BadRequest if the name is taken."""
        try:
            await self._postgres.fetch(
                "UPDATE {schema}.saved_searches SET name = $2, shared = $3 WHERE id = $1", saved.id, name, shared
            )
        except asyncpg.UniqueViolationError:
            message = f"the account has a saved search {name}; choose another name"
            raise BadRequest([Problem("name", message)]) from None

    async def delete(self, saved: SavedSearch) -> None:
        """Delete a search, with its watch and the lists of all its runs."""
        await self._postgres.fetch(
            "DELETE FROM {schema}.saved_searches WHERE id = $1", saved.id, timeout_ms=DELETE_TIMEOUT_MS
        )

    async def note_count(self, saved: SavedSearch, total: int) -> None:
        """Store how many leads match now."""
        await self._postgres.fetch(
            "UPDATE {schema}.saved_searches SET total = $2, counted_at = clock_timestamp() WHERE id = $1",
            saved.id,
            total,
        )
