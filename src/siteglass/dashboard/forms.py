"""Reads submitted forms: only our own, and only up to a limit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from urllib.parse import parse_qsl

from starlette.requests import Request

from siteglass.dashboard.refusals import NOT_A_FORM, TOO_LARGE

FORM = "application/x-www-form-urlencoded"
MAX_BODY_BYTES = 20_000
MAX_FIELDS = 100
MAX_AMOUNT = 1_000_000_000_000
# So many digits always fit into a number of the database.
MAX_NUMBER_DIGITS = 18


class FormError(ValueError):
    """A field cannot be read; the message says what is expected."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Form:
    """The fields of a form, or the parameters of an address."""

    def __init__(self, fields: Sequence[tuple[str, str]] = ()) -> None:
        self._fields = tuple(fields)

    def get(self, name: str, default: str = "") -> str:
        """What was given first under a name."""
        return next((value for given, value in self._fields if given == name), default)

    def all(self, name: str) -> list[str]:
        """All that was given under a name."""
        return [value for given, value in self._fields if given == name]

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


async def read_form(request: Request, max_bytes: int = MAX_BODY_BYTES) -> Form:
    """The body; raises Refused."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise NOT_A_FORM
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise TOO_LARGE
    return Form(_fields(body.decode("utf-8", "replace")))


def _fields(text: str) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        return []
    # A null byte is text to no database.
    return [(name, value.replace("\0", "")) for name, value in pairs]
