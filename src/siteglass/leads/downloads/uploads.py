"""Tables that people uploaded: statements on `uploads`."""

from __future__ import annotations

from datetime import timedelta

from siteglass.leads.downloads.jobs import WRITE_TIMEOUT_MS
from siteglass.platform.postgres import Postgres

MAX_UPLOADS = 10
KEPT_FOR = timedelta(hours=24)


class Uploads:
    """The uploads of all accounts."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    async def add(self, account_id: int, name: str, packed: bytes) -> int:
        """Keep a packed table; returns its number. The account's oldest uploads beyond the maximum are deleted."""
        async with self._postgres.transaction(WRITE_TIMEOUT_MS) as connection:
            await self._postgres.wait_for_turn(connection, "uploads of an account", account_id)
            await connection.execute(
                self._postgres.sql(
                    "DELETE FROM {schema}.uploads WHERE account_id = $1 AND id NOT IN (SELECT id FROM {schema}.uploads"
                    " WHERE account_id = $1 ORDER BY id DESC LIMIT $2)"
                ),
                account_id,
                MAX_UPLOADS - 1,
            )
            number: int = await connection.fetchval(
                self._postgres.sql(
                    "INSERT INTO {schema}.uploads (account_id, name, content) VALUES ($1, $2, $3) RETURNING id"
                ),
                account_id,
                name,
                packed,
            )
            return number

    async def find(self, account_id: int, upload_id: int) -> tuple[str, bytes] | None:
        """The name and the packed table of an upload."""
        row = await self._postgres.fetchrow(
            "SELECT name, content FROM {schema}.uploads WHERE account_id = $1 AND id = $2"
            " AND made_at > clock_timestamp() - $3::interval",
            account_id,
            upload_id,
            KEPT_FOR,
            timeout_ms=WRITE_TIMEOUT_MS,
        )
        return None if row is None else (row["name"], row["content"])

    async def forget_old(self) -> None:
        """Delete uploads after a day, whatever was done with them."""
        await self._postgres.fetch(
            "DELETE FROM {schema}.uploads WHERE made_at < clock_timestamp() - $1::interval",
            KEPT_FOR,
            timeout_ms=WRITE_TIMEOUT_MS,
        )
