"""Domains that must not be fetched: those on the opt-out list, and those in the operator's file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from siteglass.corpus.domain_files import excluded_domains
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings
from siteglass.suppression.entries import among
from siteglass.suppression.redaction import names


class Refusals:
    """One per fetcher; `postgres` is the database of the service."""

    def __init__(self, settings: Settings, postgres: Postgres) -> None:
        self._postgres = postgres
        self._settings = settings
        self._path = Path(settings.crawl_excluded) if settings.crawl_excluded else None
        self._changed_at = -1
        self._excluded: frozenset[str] = frozenset()

    async def refuses(self, host: str) -> bool:
        """Whether a host must not be fetched from; raises Unavailable if the opt-out list cannot be read."""
        return bool(await self.among((host,)))

    async def among(self, hosts: Iterable[str]) -> set[str]:
        """Those that must not be fetched from; raises Unavailable if the opt-out list cannot be read."""
        if self._path is not None and (changed_at := self._path.stat().st_mtime_ns) != self._changed_at:
            self._excluded = await asyncio.to_thread(excluded_domains, self._settings)
            self._changed_at = changed_at
        listed_as = {host: names(host.rstrip(".")) for host in hosts}  # a dot at the end names the same host
        found = {host for host, named in listed_as.items() if not self._excluded.isdisjoint(named)}
        asked = {name for host, named in listed_as.items() if host not in found for name in named}
        listed = (await among(self._postgres, asked, ())).domains if asked else frozenset()
        return found | {host for host, named in listed_as.items() if not listed.isdisjoint(named)}
