"""The archive: responses as WARC records, a gzip member each, and a line for each request sent.

Steps of visits are acknowledged in the frontier only after their records are on disk: a kill loses no page. The name
of an archive ends in `.open` while it is written, and its writer has a lock on it. So the next run finds what a killed
fetcher left, and closes it.
"""

from __future__ import annotations

import asyncio
import base64
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from uuid import uuid4

from fastwarc.stream_io import GzipWriter
from fastwarc.warc import WarcRecord, WarcRecordType

from siteglass.crawl.frontier import NOT_MODIFIED, Frontier
from siteglass.crawl.results import DnsRecords, KnownPage, Response, Step
from siteglass.errors import Unavailable
from siteglass.platform.disk import sync_to_disk

SYNC_EVERY_S = 1.0
SYNC_RECORDS = 64
# More takes twice the time for a hundredth of the bytes.
LEVEL = 4
MAX_ARCHIVE_BYTES = 1_000_000_000
MAX_AWAY_S = 60
RETRY_S = 0.5
_OPEN = ".open"
_HTTP = "application/http; msgtype=response"
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"


class ArchiveFailed(Exception):
    """Our disk cannot be written. Not an OSError, which would be taken for a failure of the site."""

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"{folder} cannot be written: {error.strerror or error}. Nothing was recorded of the visits under way. "
            "Free space, and run the command again: it continues."
        )


@contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Raises ArchiveFailed for errors of files in the folder."""
    try:
        yield
    except OSError as error:
        raise ArchiveFailed(folder, error) from error


class Archive:
    """One per fetcher. Run `keep_syncing` beside the visits. After an ArchiveFailed, only `close` may follow."""

    def __init__(self, folder: Path, frontier: Frontier, user_agent: str, sync_every_s: float) -> None:
        self._folder = folder
        self._failure: ArchiveFailed | None = None
        self._frontier = frontier
        self._user_agent = user_agent
        self._sync_every_s = min(SYNC_EVERY_S, sync_every_s)
        folder.mkdir(parents=True, exist_ok=True)
        name = f"crawl-{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
        self._name, self._number = name, 0
        self._sends = (folder / f"{name}.sends.tsv").open("a", buffering=1)
        self._file: IO[bytes] | None = None
        self._path = folder
        self._waiting: list[tuple[Step, asyncio.Future[None]]] = []
        self._is_full = asyncio.Event()
        self.pages = 0

    def note_send(self, domain: str, address: str, url: str) -> None:
        """Record a request that is sent now."""
        with self._writing():
            self._sends.write(f"{time.time_ns() // 1_000_000}\t{domain}\t{address}\t{url}\n")

    async def put(self, step: Step) -> None:
        """Write the records of a step; returns when they are on disk and the frontier knows of it."""
        with self._writing():
            for response in step.responses:
                if response.unchanged is None:
                    self._write(response)
                else:
                    self._write_revisit(response, response.unchanged)
            if step.dns is not None:
                self._write_dns(step.dns)
        known = asyncio.get_running_loop().create_future()
        self._waiting.append((step, known))
        if len(self._waiting) >= SYNC_RECORDS:
            self._is_full.set()
        await known

    async def keep_syncing(self) -> None:
        """Sync and acknowledge until cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._sync_every_s):
                    await self._is_full.wait()
            except TimeoutError:
                pass
            self._is_full.clear()
            await self.sync()

    async def sync(self) -> None:
        """Write to disk and acknowledge what waits for it."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            with self._writing():
                if self._file is not None:
                    await asyncio.to_thread(_to_disk, self._file)
            await self._acknowledge([step for step, _ in waiting])
        except Exception as error:
            for _, known in waiting:
                if not known.done():
                    known.set_exception(error)
            return
        for _, known in waiting:
            if not known.done():
                known.set_result(None)
        if self._file is not None and self._file.tell() > MAX_ARCHIVE_BYTES:
            with self._writing():
                self._close_file()

    async def _acknowledge(self, steps: list[Step]) -> None:
        """A frontier that does not respond for moments costs no repeated request."""
        give_up = time.monotonic() + MAX_AWAY_S
        while True:
            try:
                return await self._frontier.acknowledge(steps)
            except Unavailable:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(RETRY_S)

    def close(self) -> None:
        """End the archive; what was not synced is not acknowledged either."""
        with suppress(ArchiveFailed) if self._failure else nullcontext(), on_disk(self._folder):
            self._sends.close()
            self._close_file()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """After a failure nothing more is written: it would come after half a record, where no reader gets."""
        if self._failure:
            raise self._failure
        try:
            with on_disk(self._folder):
                yield
        except ArchiveFailed as failure:
            self._failure = failure
            raise

    def _close_file(self) -> None:
        if self._file is not None:
            _to_disk(self._file)
            self._path.rename(self._path.with_suffix(""))
            self._file.close()
            self._file = None

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._number += 1
            name = f"{self._name}-{self._number:04}.warc.gz"
            path = self._folder / (name + _OPEN)
            new = path.with_suffix(
                ".new"
            )  # gets its name with the lock, so that nobody takes it for one of a killed fetcher
            self._file = file = new.open("xb")
            fcntl.flock(file, fcntl.LOCK_EX)
            new.rename(path)
            sync_to_disk(str(self._folder))  # its name, too
            self._path = path
            info = f"software: siteglass\r\nhttp-header-user-agent: {self._user_agent}\r\n"
            self._record(
                file, WarcRecordType.warcinfo, {"WARC-Filename": name}, "application/warc-fields", info.encode()
            )
        return self._file

    def _write(self, response: Response) -> None:
        file, common = self._opened(), _common(response.url, response.sent_at_ms)
        fields = {
            **common,
            "WARC-IP-Address": response.address,
            "WARC-Payload-Digest": _sha1(response.body),
            **({"WARC-Truncated": "length"} if response.is_cut else {}),
        }
        content = response.head + response.body
        self._record(file, WarcRecordType.response, fields, _HTTP, content)
        self._write_time(file, common, response)
        self.pages += 1

    def _write_revisit(self, response: Response, page: KnownPage) -> None:
        """The headers alone; the page itself is in an earlier archive, and in the facts store under its digest."""
        file, common = self._opened(), _common(response.url, response.sent_at_ms)
        is_whole = response.status != NOT_MODIFIED
        fields = {
            **common,
            "WARC-IP-Address": response.address,
            "WARC-Profile": _PROFILE + ("identical-payload-digest" if is_whole else "server-not-modified"),
            "WARC-Refers-To-Target-URI": response.url,
            "WARC-Refers-To-Date": _date(page.full_at),
            "WARC-Page-Digest": page.digest,
            **({"WARC-Payload-Digest": _sha1(response.body)} if is_whole else {}),
        }
        self._record(file, WarcRecordType.revisit, fields, _HTTP, response.head)
        if is_whole:
            self._write_time(file, common, response)
        self.pages += 1

    def _write_time(self, file: IO[bytes], common: dict[str, str], response: Response) -> None:
        took = f"fetchTimeMs: {response.took_ms}\r\n".encode()
        self._record(file, WarcRecordType.metadata, common, "application/warc-fields", took)

    def _write_dns(self, records: DnsRecords) -> None:
        """As Heritrix writes it: the time, then a record per line."""
        fields = _common(f"dns:{records.domain}", records.asked_at_ms)
        if records.server:
            fields["WARC-IP-Address"] = records.server
        at = datetime.fromtimestamp(records.asked_at_ms / 1000, UTC)
        content = f"{at:%Y%m%d%H%M%S}\n{records.text}\n".encode("ascii", "replace")
        self._record(self._opened(), WarcRecordType.response, fields, "text/dns", content)

    def _record(
        self, file: IO[bytes], kind: WarcRecordType, fields: dict[str, str], content_type: str, block: bytes
    ) -> None:
        record = WarcRecord()
        record.init_headers(kind)
        for name, value in fields.items():
            record.headers[name] = value
        record.headers["Content-Type"] = content_type
        record.set_bytes_content(block)
        member = GzipWriter(file, compression_level=LEVEL)
        record.write(member)
        member.finish()


def _common(url: str, at_ms: int) -> dict[str, str]:
    return {"WARC-Target-URI": url, "WARC-Date": _date(datetime.fromtimestamp(at_ms / 1000, UTC))}


def _date(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _sha1(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()


def _to_disk(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def finished_archives(folder: Path) -> list[Path]:
    """Archives that nobody writes to; those that killed fetchers left are closed first."""
    for path in folder.glob("*.warc.gz" + _OPEN):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            path.rename(path.with_suffix(""))
    return sorted(folder.glob("*.warc.gz"))
