"""Reads submitted forms: only our own, and only up to a limit."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from siteglass.dashboard.refusals import FILE_TOO_LARGE, NOT_A_FORM, TOO_LARGE

FORM = "application/x-www-form-urlencoded"
FORM_WITH_FILE = "multipart/form-data"
MAX_FILE_NAME_CHARS = 200
MAX_BODY_BYTES = 20_000
# A page of 100 leads, each ticked, and what else its form has.
MAX_FIELDS = 120
MAX_AMOUNT = 1_000_000_000_000
# So many digits always fit into a number of the database.
MAX_NUMBER_DIGITS = 18
SHOWN_AS = "was_"
"""Before the name of a field: what the form showed at first."""


class FormError(ValueError):
    """A field cannot be read; the message says what is expected."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file that a form brought."""

    name: str
    content: bytes


class Form:
    """The fields of a form, or the parameters of an address."""

    def __init__(self, fields: Sequence[tuple[str, str]] = (), file: FormFile | None = None) -> None:
        self._fields = tuple(fields)
        self.file = file

    def get(self, name: str, default: str = "") -> str:
        """What was given first under a name."""
        return next((value for given, value in self._fields if given == name), default)

    def all(self, name: str) -> list[str]:
        """All that was given under a name."""
        return [value for given, value in self._fields if given == name]

    def is_changed(self, name: str) -> bool:
        """Whether a person changed this field. Meanwhile somebody else may have changed those that are not."""
        return self.all(SHOWN_AS + name) != [self.get(name)]

    def text(self, name: str, most: int, *, label: str, least: int = 1) -> str:
        """A line of text; raises FormError."""
        value = " ".join(self.get(name).split())
        if not least <= len(value) <= most or not (value.isprintable() or not value):
            raise FormError(name, f"{label}: {least} to {most} characters.")
        return value

    def amount(self, name: str, *, label: str, least: int = 0) -> int | None:
        """A whole number, with or without separators, None if nothing was given; raises FormError."""
        value = self.get(name).strip().replace(",", "").replace(" ", "")
        if not value:
            return None
        if not (value.isascii() and value.isdigit()) or len(value) > 15 or not least <= int(value) <= MAX_AMOUNT:
            raise FormError(name, f"{label}: enter a whole number from {least:,} to {MAX_AMOUNT:,}, or leave it empty.")
        return int(value)

    def number(self, name: str) -> int | None:
        """The number of something, such as a key or a ledger row; None if it is not a number."""
        text = self.get(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_NUMBER_DIGITS else None

    def day(self, name: str, *, label: str) -> date | None:
        """A day such as 2026-11-15, None if nothing was given; raises FormError."""
        value = self.get(name).strip()
        if not value:
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise FormError(name, f"{label}: enter a day such as 2026-11-15, or leave it empty.") from None


def read_query(request: Request) -> Form:
    """The parameters of an address; what is too much of them is not looked at."""
    query = request.url.query
    return Form() if len(query) > MAX_BODY_BYTES else Form(_fields(query))


async def read_form(request: Request, max_bytes: int = MAX_BODY_BYTES, max_file_bytes: int = 0) -> Form:
    """The body; raises PageRefusal. With a maximum, it may have a file."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == FORM_WITH_FILE and max_file_bytes:
        return await _read_file(request, max_file_bytes)
    if media_type != FORM:
        raise NOT_A_FORM
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise TOO_LARGE
    return Form(_fields(body.decode("utf-8", "replace")))


async def _read_file(request: Request, max_bytes: int) -> Form:
    async def bounded() -> AsyncGenerator[bytes, None]:
        received = 0
        async for part in request.stream():
            received += len(part)
            if received > max_bytes + MAX_BODY_BYTES:
                raise FILE_TOO_LARGE
            yield part

    parser = MultiPartParser(request.headers, bounded(), max_files=1, max_fields=10, max_part_size=MAX_BODY_BYTES)
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError):
        raise NOT_A_FORM from None
    async with contextlib.AsyncExitStack() as files:
        file = None
        for value in form.values():
            if isinstance(value, UploadFile):
                files.push_async_callback(value.close)
                content = await value.read(max_bytes + 1)
                if len(content) > max_bytes:
                    raise FILE_TOO_LARGE
                file = FormFile((value.filename or "")[-MAX_FILE_NAME_CHARS:].replace("\0", ""), content)
        fields = [(name, value.replace("\0", "")) for name, value in form.multi_items() if isinstance(value, str)]
        return Form(fields, file)


def _fields(text: str) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        return []
    # A null byte is text to no database.
    return [(name, value.replace("\0", "")) for name, value in pairs]
