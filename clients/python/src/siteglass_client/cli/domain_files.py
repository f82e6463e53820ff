"""Files that hold domains: tables of any delimiter with or without a heading, and plain lists."""

from __future__ import annotations

import csv
import functools
import io
import re
import sys
from collections.abc import Callable, Sequence
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
# The first email address of a cell, which may be in `Name <address>` or in a list; not part of a path.
_MAIL = re.compile(r"(?:^|[\s<;,:])[^\s@<>;,:/]+@((?:[\w-]+\.)+[^\W\d_]{2,})(?=$|[\s>;,])")
# An address there says nothing of a company, and the provider's own record would cost a credit.
_PROVIDER = re.compile(
    r"(?:gmail|googlemail|hotmail|outlook|yahoo|ymail|aol|gmx|icloud|protonmail|yandex)\.[a-z]{2,3}(?:\.[a-z]{2})?"
    r"|(?:live|msn|me|mac|mail|fastmail|zoho|qq|163|126)\.com|proton\.me|pm\.me|mail\.ru|web\.de|t-online\.de|freenet\.de"
    r"|orange\.fr|free\.fr|wanadoo\.fr|laposte\.net|libero\.it"
)
_NAMES = ("domain", "website", "url", "homepage", "site", "web")


@dataclass(frozen=True)
class DomainFile:
    """Rows as they were read, each as long as the header, and the column of the domain."""

    heading: list[str]
    rows: list[list[str]]
    place: int

    @property
    def domains(self) -> list[str]:
        """The domain of each row; empty where there is none."""
        return [domain_of(row[self.place]) for row in self.rows]

    @property
    def where(self) -> str:
        """Where the domains come from, as a sentence."""
        hosts = [_mail_host(row[self.place]) for row in self.rows if row[self.place].strip()]
        mails = [host for host in hosts if host]
        what = "e-mail addresses in the column" if len(mails) * 2 > len(hosts) else "column"
        told = f"Domains are taken from the {what} {self.heading[self.place]!r}."
        private = sum(map(_is_provider, mails))
        return f"{told} Rows skipped because of mail providers such as gmail.com: {private:,}." if private else told


def domain_of(cell: str) -> str:
    """The domain that a cell names, by its site or its e-mail address; empty if there is none.

    Spellings that mean the same become the same: the client pays for a domain once, however far apart its rows are.
    """
    if looks_like_site(cell):
        host = re.split(r"[/?#:]", re.sub(r"^https?://", "", cell.strip().lower()))[0].rstrip(".")
        short = host.removeprefix("www.")
        return short if "." in short else host
    host_of_mail = _mail_host(cell)
    if host_of_mail is None:
        return cell.strip()
    return "" if _is_provider(host_of_mail) else host_of_mail


def _is_provider(host: str) -> bool:
    return _PROVIDER.fullmatch(host) is not None


def _mail_host(cell: str) -> str | None:
    found = _MAIL.search(cell)
    return found[1].lower() if found else None


def read_domains(path: Path, column: str | None) -> DomainFile:
    """Read a file and find the column that holds domains, unless `column` names it."""
    table = _parsed(_text(path))
    if not table:
        raise Failure(f"{path} is empty. Use a file with one domain per line, or a table.", WRONG_INPUT)
    width = max(map(len, table))
    table = [row + [""] * (width - len(row)) for row in table]
    if column is not None:
        return DomainFile(_whole(table[0]), table[1:], _named(path, table[0], column))
    place = _found(path, table)
    if _names_domain(table[0][place]):  # no heading: the first line is a row itself
        heading = ["domain" if each == place else f"column_{each + 1}" for each in range(width)]
        return DomainFile(heading, table, place)
    return DomainFile(_whole(table[0]), table[1:], place)


def _text(path: Path) -> str:
    if str(path) == "-":
        raw = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    else:
        if path.is_dir():
            raise Failure(f"{path} is a folder. Use a file that contains domains.", WRONG_INPUT)
        if not path.exists():
            raise Failure(f"There is no file {path} in {Path.cwd()}. Check its name and folder.", WRONG_INPUT)
        with path.open("rb") as file:
            raw = file.read(MAX_INPUT_BYTES + 1)
    if len(raw) > MAX_INPUT_BYTES:
        raise Failure(f"{path} is larger than {MAX_INPUT_BYTES >> 20} MiB. Split it.", WRONG_INPUT)
    if raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise Failure(f"{path} is a workbook. Save the sheet as CSV and use that file.", WRONG_INPUT)
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


def _names_domain(cell: str) -> bool:
    return looks_like_site(cell) or _mail_host(cell) is not None


def _named(path: Path, heading: Sequence[str], column: str) -> int:
    wanted = column.strip().lower()
    for place, name in enumerate(heading):
        if name.strip().lower() == wanted:
            return place
    raise Failure(f"{path} has no column {column!r}. It has: {', '.join(heading)}.", WRONG_INPUT)


def _found(path: Path, table: Sequence[Sequence[str]]) -> int:
    """The column in which most cells are sites, or else e-mail addresses.

    Among equals it is the one whose name says so, then the first.
    """
    if len(table) == 1 and not any(map(_names_domain, table[0])):
        raise Failure(f"{path} has a header but no rows: there is nothing to enrich.", WRONG_INPUT)

    def fitting(place: int, fits: Callable[[str], bool]) -> tuple[float, bool]:
        cells = [row[place] for row in table[1 : SAMPLE_ROWS + 1] if row[place].strip()]
        name = table[0][place].lower()
        if fits(name):
            cells.append(name)
        share = sum(map(fits, cells)) / len(cells) if cells else 0.0
        return share, any(each in name for each in _NAMES)

    for fits in (looks_like_site, _names_domain):
        share = functools.partial(fitting, fits=fits)
        best = max(range(len(table[0])), key=share)
        if share(best)[0] >= 0.5:
            return best
    columns = ", ".join(each.strip() for each in table[0])
    raise Failure(
        f"{path} has no column of domains or email addresses. Name one with --column; the columns are: {columns}.",
        WRONG_INPUT,
    )
