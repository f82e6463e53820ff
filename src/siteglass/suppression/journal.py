"""The journal: every opt-out in a file outside the database, so that restoring an older backup brings nobody back.

A line holds what the list holds: the name of a domain, or the keyed hash of an address or phone. Lines are appended and
synced to disk after the list has the entry, and before the person reads that it is done. So an entry that the journal
has and the list lacks means that the database was restored; `missing` finds those.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

from siteglass.errors import Unavailable
from siteglass.platform.disk import append_lines
from siteglass.platform.postgres import Postgres
from siteglass.settings import Settings, SettingsError, variable
from siteglass.suppression.entries import MAX_ADDED, SuppressionError, among
from siteglass.suppression.values import Hasher, Kind

# A worker that starts compares so much of the end: a restore loses the newest entries.
TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry of the list, as the list holds it."""

    kind: Kind
    value: bytes
    at: str

    @property
    def pair(self) -> tuple[Kind, bytes]:
        return self.kind, self.value


class Journal:
    """The file of these settings. Several workers and commands append to it."""

    def __init__(self, path: Path, hasher: Hasher) -> None:
        self.path = path
        self._secret = hasher.proof().hex()[:16]

    async def require_replayed(self, postgres: Postgres) -> None:
        """Raises Unavailable if the list lacks one of the newest entries, as after a restore."""
        if lacking := await missing(postgres, await asyncio.to_thread(self.tail)):
            raise Unavailable(
                f"the journal of opt-outs has {len(lacking)} entries that the database lacks, as after a restore: run "
                "`siteglass suppress replay` first"
            )

    async def append(self, pairs: Iterable[tuple[Kind, bytes]]) -> None:
        """Write entries, and return once they are on disk; raises Unavailable if that fails."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        lines = [_line(kind, value, at, self._secret) for kind, value in pairs]
        try:
            await asyncio.to_thread(append_lines, self.path, b"".join(lines))
        except OSError as error:
            raise Unavailable(f"the journal of opt-outs, {self.path}, cannot be written: {error.strerror}") from error

    def tail(self) -> list[JournalEntry]:
        """The newest entries; raises Unavailable if the file cannot be read."""
        try:
            with self.path.open("rb") as file:
                start = max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES)
                file.seek(start)
                # Without the start of the file, the first line is most likely the end of one.
                lines = file.read().splitlines()[bool(start) :]
            return list(self._entries(self.path, lines))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise Unavailable(f"the journal of opt-outs, {self.path}, cannot be read: {error.strerror}") from error
        except SuppressionError as error:
            raise Unavailable(str(error)) from error

    def read(self, path: Path) -> Iterator[JournalEntry]:
        """All entries of a journal; raises SuppressionError if it was written with another secret."""
        with path.open("rb") as file:
            yield from self._entries(path, file)

    def _entries(self, path: Path, lines: Iterable[bytes]) -> Iterator[JournalEntry]:
        for line in lines:
            try:
                fields = orjson.loads(line)
                kind, text, at, secret = Kind(fields["kind"]), fields["value"], fields["at"], fields["secret"]
                value = text.encode() if kind is Kind.DOMAIN else bytes.fromhex(text)
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # a crash cut the line
            if kind is not Kind.DOMAIN and secret != self._secret:
                raise SuppressionError(
                    f"{path} was written with another {variable('suppression_secret')}. Set the secret that the "
                    "service had then."
                )
            yield JournalEntry(kind, value, at)


def open_journal(settings: Settings, hasher: Hasher) -> Journal | None:
    """The journal of these settings, if they name one; raises SettingsError if it cannot be written."""
    if not settings.opt_out_journal:
        return None
    path = Path(settings.opt_out_journal)
    if not path.parent.is_dir():
        raise SettingsError(f"{variable('opt_out_journal')}: there is no folder {path.parent}.")
    place = path if path.exists() else path.parent
    if not os.access(place, os.W_OK):
        raise SettingsError(
            f"{variable('opt_out_journal')}: {place} cannot be written. Give it to the user of the service (uid "
            f"{os.getuid()})."
        )
    return Journal(path, hasher)


async def missing(postgres: Postgres, entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """The entries that the list does not have, each once."""
    distinct = list({entry.pair: entry for entry in entries}.values())
    lacking: list[JournalEntry] = []
    for start in range(0, len(distinct), MAX_ADDED):
        part = distinct[start : start + MAX_ADDED]
        domains = [entry.value.decode() for entry in part if entry.kind is Kind.DOMAIN]
        listed = await among(postgres, domains, [entry.value for entry in part if entry.kind is not Kind.DOMAIN])
        known = listed.values()
        lacking += [entry for entry in part if entry.value not in known]
    return lacking


def _line(kind: Kind, value: bytes, at: str, secret: str) -> bytes:
    text = value.decode() if kind is Kind.DOMAIN else value.hex()
    return orjson.dumps({"at": at, "kind": kind.value, "value": text, "secret": secret}) + b"\n"
