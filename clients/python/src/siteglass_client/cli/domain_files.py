"""Files that hold domains: tables of any delimiter with or without a heading, and plain lists."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from siteglass_client.cli.failures import WRONG_INPUT, Failure

MAX_INPUT_BYTES = 256 * 1024 * 1024
DELIMITERS = ",;\t|"
SAMPLE_ROWS = 200
# A host with a dot and a name of letters at its end, in any script, perhaps in an address; no e-mail address.
_SITE = re.compile(
    r"(?:https?://)?(?:[\w-]+\.)+(?:[^\W\d_]{2,}|xn--[a-z0-9-]+)\.?(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE
)
_NAMES = ("domain", "website", "url", "homepage", "site", "web")


@dataclass(frozen=True)
class DomainFile:
    """Rows as they were read, each as long as the heading, and where the domain of a row stands."""

    heading: list[str]
    rows: list[list[str]]
    place: int

    @property
    def domains(self) -> list[str]:
        """The domain of each row; empty where there is none."""
        return [row[self.place].strip() for row in self.rows]


def read_domains(path: Path, column: str | None) -> DomainFile:
    """Read a file and find the column that holds domains, unless `column` names it."""
    table = _parsed(_text(path))
    if not table:
        raise Failure(f"{path} is empty. Give a file with a domain on each line, or a table.", WRONG_INPUT)
    width = max(map(len, table))
    table = [row + [""] * (width - len(row)) for row in table]
    if column is not None:
        return DomainFile(_whole(table[0]), table[1:], _named(path, table[0], column))
    place = _found(path, table)
    if looks_like_site(table[0][place]):  # no heading: the first line is a row itself
        heading = ["domain" if each == place else f"column_{each + 1}" for each in range(width)]
        return DomainFile(heading, table, place)
    return DomainFile(_whole(table[0]), table[1:], place)


def _text(path: Path) -> str:
    if str(path) == "-":
        raw = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    else:
        with path.open("rb") as file:
            raw = file.read(MAX_INPUT_BYTES + 1)
    if len(raw) > MAX_INPUT_BYTES:
        raise Failure(f"{path} has more than {MAX_INPUT_BYTES >> 20} MiB. Split it.", WRONG_INPUT)
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise Failure(f"{path} is a workbook. Save the sheet as CSV, and give that.", WRONG_INPUT)
    try:
        return raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        # What spreadsheets of the west write if they do not write UTF-8; it has a letter for nearly every byte.
        return raw.decode("cp1252", errors="replace")


def _parsed(text: str) -> list[list[str]]:
    first = text.lstrip().partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    limit = csv.field_size_limit(MAX_INPUT_BYTES)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return [row for row in rows if row]
    except csv.Error as error:
        raise Failure(f"The table cannot be read: {error}. Save it as CSV in UTF-8.", WRONG_INPUT) from None
    finally:
        csv.field_size_limit(limit)


def _whole(heading: Sequence[str]) -> list[str]:
    return [name if name.strip() else f"column_{place + 1}" for place, name in enumerate(heading)]


def looks_like_site(text: str) -> bool:
    """Whether a cell holds a domain or the address of a site."""
    return _SITE.fullmatch(text.strip()) is not None


def _named(path: Path, heading: Sequence[str], column: str) -> int:
    wanted = column.strip().lower()
    for place, name in enumerate(heading):
        if name.strip().lower() == wanted:
            return place
    raise Failure(f"{path} has no column {column!r}. It has: {', '.join(heading)}.", WRONG_INPUT)


def _found(path: Path, table: Sequence[Sequence[str]]) -> int:
    """The column in which most cells are sites; among equals the one whose name says so, then the first."""

    def fitting(place: int) -> tuple[float, bool]:
        cells = [row[place] for row in table[1 : SAMPLE_ROWS + 1] if row[place].strip()]
        name = table[0][place].lower()
        if looks_like_site(name):
            cells.append(name)
        share = sum(map(looks_like_site, cells)) / len(cells) if cells else 0.0
        return share, any(each in name for each in _NAMES)

    best = max(range(len(table[0])), key=fitting)
    if fitting(best)[0] < 0.5:
        columns = ", ".join(each.strip() for each in table[0])
        raise Failure(f"{path} has no column of domains. Name it with --column; there are: {columns}.", WRONG_INPUT)
    return best
