"""The resume file: an append-only journal of a walk, each line on disk before the next step is taken.

1. what the walk is for
2. `ask`: the request that is sent next, with its Idempotency-Key
3. `did`: the state after a page, the current length of the output file, and the next `ask`

A walk that was killed sends the last `ask` again. If it had not arrived, it is a first request; if it had been charged,
the service returns the same response free of charge. Anything in an output file beyond the recorded length is a page
that was not recorded, partly or completely. It is cut off and written again. A half-written line at the end of the
journal does not count.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from siteglass_client.calls import Call
from siteglass_client.errors import ResumeError

if sys.platform != "win32":
    import fcntl

FORMAT = 1
# How long the service gives the same answer to the same Idempotency-Key.
REPLAYED_FOR_S = 24 * 3600
_LOG = logging.getLogger("siteglass_client")


def written_line(entry: Mapping[str, Any]) -> bytes:
    """An entry as a line that shows if it is not whole."""
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def read_lines(raw: bytes) -> tuple[list[dict[str, Any]], int]:
    """The entries, and the length of what is whole. Raises ValueError if something is wrong before the end."""
    entries: list[dict[str, Any]] = []
    place = 0
    while place < len(raw):
        end = raw.find(b"\n", place)
        line = raw[place:end] if end >= 0 else b""
        check, _, text = line.partition(b" ")
        if end < 0 or check != b"%08x" % zlib.crc32(text):
            if 0 <= end < len(raw) - 1:
                raise ValueError(f"byte {place}")
            break
        entries.append(json.loads(text))
        place = end + 1
    return entries, place


def sync_folder(path: Path) -> None:
    """Make sure that the name of a new file survives, where folders can be opened."""
    try:
        folder = os.open(path.parent, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class Journal:
    """An open resume file, which no other process may use meanwhile."""

    def __init__(self, path: Path, purpose: Mapping[str, Any]) -> None:
        self.path = path
        self.states: list[dict[str, Any]] = []
        self.pending: Call | None = None
        self.output_bytes = 0
        """How much of the output file is noted."""
        # Personal data may be in here: answers that are needed again.
        self._file: IO[bytes] = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        try:
            self._lock()
            self._load(purpose)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        if sys.platform == "win32":  # two walks with one file are not found out there
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ResumeError(
                f"{self.path} is in use by another run. Wait until it ends, or choose another file."
            ) from None

    def _load(self, purpose: Mapping[str, Any]) -> None:
        try:
            entries, length = read_lines(self._file.read())
        except ValueError as error:
            raise ResumeError(f"{self.path} is damaged at {error}, or is not a resume file. Choose another.") from None
        if not entries and length == 0 and self._file.tell() > 0 and not self._is_torn_start():
            raise ResumeError(f"{self.path} is not a resume file. Choose another name.")
        self._file.truncate(length)
        self._file.seek(length)
        self.is_new = not entries
        if self.is_new:
            return
        self._check(entries[0], purpose)
        asked_at = 0.0
        for entry in entries[1:]:
            if "did" in entry:
                self.states.append(entry["did"])
                self.output_bytes = entry["output_bytes"]
            asked = entry["ask"]
            self.pending = None if asked is None else Call("POST", asked["path"], asked["body"], asked["key"])
            asked_at = entry["at"]
        if self.pending is not None and time.time() - asked_at > REPLAYED_FOR_S:
            _LOG.warning("%s: the page in flight is older than a day and may be charged a second time", self.path)

    def _is_torn_start(self) -> bool:
        """Whether what is there can be the beginning of a first line that was not written whole."""
        self._file.seek(0)
        start = self._file.read(21)
        return len(start) < 21 or start[8:21] == b' {"siteglass"'

    def _check(self, header: Mapping[str, Any], purpose: Mapping[str, Any]) -> None:
        if header.get("siteglass") != FORMAT:
            raise ResumeError(f"{self.path} was written by another version of the client, or is not a resume file.")
        was = header["purpose"]
        if was != purpose:
            other = ", ".join(sorted(name for name in {*was, *purpose} if was.get(name) != purpose.get(name)))
            raise ResumeError(
                f"{self.path} belongs to another run: its {other} differs. Repeat the original call, or choose "
                "another resume file."
            )

    def _append(self, entry: Mapping[str, Any]) -> None:
        self._file.write(written_line(entry))
        self._file.flush()
        os.fsync(self._file.fileno())

    def begin(self, purpose: Mapping[str, Any]) -> None:
        """Make a new file that of this walk."""
        if self.is_new:
            self._append({"siteglass": FORMAT, "purpose": dict(purpose)})
            sync_folder(self.path)

    def asking(self, call: Call | None) -> None:
        """Note what is sent next, unless it is noted already."""
        if call is not None and call != self.pending:
            self._append({"ask": _noted(call), "at": int(time.time())})
        self.pending = call

    def passed(self, state: Mapping[str, Any], next_call: Call | None, output_bytes: int) -> None:
        """Note that a page is where it belongs, and what is sent next."""
        self._append(
            {"did": state, "output_bytes": output_bytes, "ask": _noted(next_call), "at": int(time.time())},
        )
        self.pending = next_call

    def close(self) -> None:
        self._file.close()


def _noted(call: Call | None) -> dict[str, Any] | None:
    return None if call is None else {"path": call.path, "body": call.body, "key": call.idempotency_key}
