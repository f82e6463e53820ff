"""Files of rows: JSON lines and CSV, written page by page so that a page can be cut off and written again."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from siteglass_client.errors import ResumeError

# What a spreadsheet takes for a formula, unless it is a number or a phone number.
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+\-]?[0-9][0-9 ().,/\-]*")


class Form(Protocol):
    """How rows are serialized."""

    name: str

    def read_start(self, file: IO[bytes]) -> None:
        """Learn from a file that is there already."""

    def start(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        """The text before the first rows."""

    def spelled(self, rows: Sequence[Mapping[str, Any]]) -> bytes: ...


class JsonLines:
    """One JSON object a line, as the service sent it."""

    name = "jsonl"

    def read_start(self, file: IO[bytes]) -> None:
        """There is no such text."""

    def start(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        return b""

    def spelled(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)


class Csv:
    """A table for spreadsheets and CRMs: UTF-8, a heading, elements of a list separated by `; `, a list of objects as
    JSON."""

    name = "csv"

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)

    def read_start(self, file: IO[bytes]) -> None:
        file.seek(0)
        self._columns = next(csv.reader([file.readline().decode()]))

    def start(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        """The heading: the expected columns, and what the first rows have beside them."""
        self._columns = list(dict.fromkeys([*self._columns, *(name for row in rows for name in row)]))
        return _line(self._columns)

    def spelled(self, rows: Sequence[Mapping[str, Any]]) -> bytes:
        return b"".join(_line([cell(row.get(name)) for name in self._columns]) for row in rows)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()


def cell(value: Any) -> str:
    """A value as the text of a cell, which no spreadsheet runs as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        value = "; ".join(f"{name}:{each}" for name, each in value.items())
    elif isinstance(value, (list, tuple)) and any(isinstance(each, Mapping) for each in value):
        value = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, (list, tuple)):
        value = "; ".join(str(each) for each in value)
    text = str(value).replace("\x00", "")
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    return all(_NUMBER.fullmatch(each) for each in text.split("; "))


class Sink:
    """A file that rows are written to."""

    def __init__(self, path: Path, form: Form, *, durable: bool, keep_bytes: int | None = None) -> None:
        """`keep_bytes`: continue the existing file, of which this much is recorded; None: a new one."""
        self._form = form
        self._durable = durable
        self._started = bool(keep_bytes)
        if not keep_bytes:
            self._file: IO[bytes] = path.open("wb")
            return
        try:
            self._file = path.open("r+b")
        except FileNotFoundError:
            raise ResumeError(
                f"{path} no longer exists, but the resume file continues it. Start again without the resume file."
            ) from None
        try:
            if self._file.seek(0, os.SEEK_END) < keep_bytes:
                raise ResumeError(f"{path} is shorter than the resume file says. Delete both and start again.")
            form.read_start(self._file)
        except BaseException:
            self._file.close()
            raise
        self._file.truncate(keep_bytes)
        self._file.seek(keep_bytes)

    def write(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """Write a page of rows; returns the length of the file."""
        if not self._started:
            self._file.write(self._form.start(rows))
            self._started = True
        self._file.write(self._form.spelled(rows))
        self._file.flush()
        if self._durable:
            os.fsync(self._file.fileno())
        return self._file.tell()

    def finish(self) -> None:
        """Make the file whole also if no row came."""
        if not self._started:
            self.write([])

    def close(self) -> None:
        self._file.close()
