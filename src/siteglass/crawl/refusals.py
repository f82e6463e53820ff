"""Domains that must not be fetched: those on the opt-out list, and those in the operator's file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from siteglass.corpus.domains import NotAHost, normalise
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, variable
from siteglass.suppression.entries import among
from siteglass.suppression.redaction import names

MAX_LIST_BYTES = 100_000_000


class Refusals:
    """One per fetcher; `postgres` is the database of the service."""

    def __init__(self, settings: Settings, postgres: Postgres) -> None:
        self._postgres = postgres
        self._path = Path(settings.crawl_excluded) if settings.crawl_excluded else None
        self._changed_at = -1
        self._excluded: frozenset[str] = frozenset()

    async def refuses(self, host: str) -> bool:
        """Whether a host must not be fetched from; raises Unavailable if the opt-out list cannot be read."""
        return bool(await self.among((host,)))

    async def among(self, hosts: Iterable[str]) -> set[str]:
        """Those that must not be fetched from; raises Unavailable if the opt-out list cannot be read."""
        if self._path is not None and (changed_at := self._path.stat().st_mtime_ns) != self._changed_at:
            self._excluded = await asyncio.to_thread(read_domains, self._path, variable("crawl_excluded"))
            self._changed_at = changed_at
        listed_as = {host: names(host) for host in hosts}
        found = {host for host, named in listed_as.items() if not self._excluded.isdisjoint(named)}
        asked = {name for host, named in listed_as.items() if host not in found for name in named}
        listed = (await among(self._postgres, asked, ())).domains if asked else frozenset()
        return found | {host for host, named in listed_as.items() if not listed.isdisjoint(named)}


def read_domains(path: Path, what: str) -> frozenset[str]:
    """The domains of a file, one per line; blank lines and comments are left out. Raises SettingsError.

    One that cannot be read is an error: to leave it out would mean to fetch what was excluded.
    """
    if path.stat().st_size > MAX_LIST_BYTES:
        raise SettingsError(f"{what}: {path} has more than {MAX_LIST_BYTES} bytes. Split it.")
    domains = set()
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                domains.add(normalise(text))
            except NotAHost as error:
                raise SettingsError(f"{what}: {path}, line {number}: {text[:100]!r} {error}.") from None
    return frozenset(domains)
