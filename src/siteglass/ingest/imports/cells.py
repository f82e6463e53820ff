"""Cells of a table as values of a lead. A cell is text, or what a line of JSON or a Parquet file has. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final

import msgspec

from siteglass.corpus.domains import NotAHost, is_suffix, normalise, registrable, website_host
from siteglass.corpus.lead import SOCIAL_NETWORKS, Lead
from siteglass.ingest.imports.columns import Target
from siteglass.suppression.values import NotAValue, phone_digits, spelled_address

Reject = Callable[[str, str], None]
"""Called with a value and the reason why it is left out."""

_BLANK = frozenset(("", "-", "–", "—", "n/a", "#n/a", "null", "none", "[not provided]"))
_SPREADSHEET_ERRORS = frozenset(("#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#####"))
# The signs before which our own CSV files put an apostrophe.
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MOJIBAKE = re.compile(r"Ã[\u0080-\u00bf\u2018-\u203a€‚ƒ„…†‡ˆ‰Š‹ŒŽ™š›œžŸ]|â€|Â[\u00a0-\u00bf]")
_SHORTENED = re.compile(r"\d[.,]\d+E\+?\d+", re.IGNORECASE)
_PHONE = re.compile(r"[+\d\s()./\u2010-\u2015-]+(?:(?:ext\.?|x|#)\s*\d{1,6})?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+(?:\.0+)?")
_YES, _NO = frozenset(("yes", "y", "true", "1", "ja")), frozenset(("no", "n", "false", "0", "nein"))
_NETWORK_HOSTS = {"facebook": ("fb",), "twitter": ("x",), "youtube": ("youtu",), "linkedin": ("lnkd",)}
_SECONDS_BELOW = 10**11
"""Whole numbers below this are seconds since 1970, others milliseconds."""
_FIRST_SECONDS = 10**9
"""Smaller numbers are not times: spreadsheets count days."""

_HOSTS: Final = ("domain", "aliases")
_WEB_ADDRESSES: Final = ("url", "favicon")


class CellError(ValueError):
    """A value that is left out; the message is the reason."""


def _type_of(field: msgspec.structs.FieldInfo) -> msgspec.inspect.Type:
    kind = msgspec.inspect.type_info(field.type)
    if isinstance(kind, msgspec.inspect.UnionType):
        (kind,) = (one for one in kind.types if not isinstance(one, msgspec.inspect.NoneType))
    return kind


_TYPES = {field.name: _type_of(field) for field in msgspec.structs.fields(Lead)}


def read_cell(target: Target, cell: Any, now_ms: int, reject: Reject) -> Any:
    """The value of a cell, a tuple for a list; None if there is none. What is left out goes to `reject`."""
    if target.field == "social_links" and not target.network:
        return _read_profiles(cell, now_ms, reject)
    values = []
    for piece in _pieces(target, cell):
        try:
            text = clean(piece)
            if text:
                values.append(read_text(target, text, now_ms))
        except CellError as error:
            reject(str(piece).strip(), str(error))
    if not target.is_list:
        return values[0] if values else None
    return within_maximum(target, values, reject) or None


def within_maximum(target: Target, values: Iterable[str], reject: Reject) -> tuple[str, ...]:
    """Each value of a list once, and as many as the field may have."""
    distinct = tuple(dict.fromkeys(values))
    maximum = _maximum_length(_TYPES[target.field])
    for value in distinct[maximum:]:
        reject(value, f"more than {maximum} values")
    return distinct[:maximum]


def _pieces(target: Target, cell: Any) -> Iterable[Any]:
    """The values of a cell. A text has several if the field is a list; commas separate if nothing else does."""
    if cell is None:
        return ()
    if isinstance(cell, list | tuple):
        return cell if target.is_list or len(cell) < 2 else (cell,)
    if not target.is_list or not isinstance(cell, str):
        return (cell,)
    return re.split(r"[;|\n]" if re.search(r"[;|\n]", cell) else ",", cell)


def _read_profiles(cell: Any, now_ms: int, reject: Reject) -> dict[str, str] | None:
    """Profiles by network, as lines of JSON and Parquet files have them."""
    if cell in (None, ""):
        return None
    try:
        profiles = dict(cell)
    except (TypeError, ValueError):
        reject(str(cell), "give each network its own column, such as facebook")
        return None
    read = {}
    for network, profile in profiles.items():
        if network not in SOCIAL_NETWORKS:
            reject(str(network), "not a known network")
        elif value := read_cell(Target("social_links", network), profile, now_ms, reject):
            read[network] = value
    return read or None


def clean(cell: Any) -> str:
    """The text of a cell without what spreadsheets add; empty if it says that there is no value. Raises CellError."""
    if isinstance(cell, datetime | date):
        return cell.isoformat()
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return ""
        cell = int(cell) if cell.is_integer() else cell
    if isinstance(cell, Mapping | list | tuple | bytes):
        raise CellError("expected text or a number")
    text = " ".join(str(cell).split())
    if text.casefold() in _BLANK:
        return ""
    if text.startswith("'") and text[1:].startswith(_FORMULA):
        text = text[1:]
    elif text.startswith("="):
        raise CellError("a formula; save the table with values")
    if text.upper() in _SPREADSHEET_ERRORS:
        raise CellError("an error of the spreadsheet")
    if "\ufffd" in text:
        raise CellError("has characters that cannot be read; save the file as UTF-8")
    if _CONTROL.search(text):
        raise CellError("has control characters")
    if _MOJIBAKE.search(text):
        raise CellError("is UTF-8 that was read as windows-1252; save the file as UTF-8 again")
    return text


def read_text(target: Target, text: str, now_ms: int) -> Any:
    """The value that a text without blanks around it means; raises CellError."""
    field = target.field
    if target.network:
        return _read_profile(target.network, text)
    if field in _HOSTS:
        return read_host(text)
    if field == "emails":
        return _bounded(_read_email(text), field)
    if field == "phones":
        return _bounded(_read_phone(text), field)
    if field in _WEB_ADDRESSES:
        return _bounded(_read_web_address(text), field)
    if field.endswith("_at_ms") or field == "first_seen_ms":
        return _read_time(text, now_ms)
    match _TYPES[field]:
        case msgspec.inspect.IntType() as kind:
            return _read_number(text, kind)
        case msgspec.inspect.BoolType():
            return _read_flag(text) != target.negated
    return _bounded(text, field)


def read_host(text: str) -> str:
    """The domain of a website, as leads are stored: without `www.`. Raises CellError."""
    try:
        host = website_host(text)
    except NotAHost as error:
        raise CellError(str(error)) from None
    bare = host.removeprefix("www.")
    host = bare if "." in bare else host
    if is_suffix(host):
        raise CellError("is a suffix that many websites share, not a website")
    return host


def _read_email(text: str) -> str:
    # "Jo Smith <jo@example.com>"
    text = text.rpartition("<")[2].removesuffix(">") if text.endswith(">") else text
    try:
        return spelled_address(text)
    except NotAValue:
        raise CellError("not an email address such as anna@example.com") from None


def _read_phone(text: str) -> str:
    text = text.removeprefix("tel:").strip()
    if _SHORTENED.fullmatch(text):
        raise CellError("a number that a spreadsheet shortened; store the column as text")
    try:
        phone_digits(text)
    except NotAValue as error:
        raise CellError(str(error)) from None
    if not _PHONE.fullmatch(text):
        raise CellError("not a phone number such as +1 512 555 0100")
    return text


def _read_web_address(text: str) -> str:
    """A URL. A host alone says no more than the domain does, and its scheme is not known: it is left out."""
    try:
        normalise(text)
    except NotAHost:
        raise CellError("not a web address such as https://example.com/") from None
    if text.lower().startswith(("https://", "http://")):
        return text
    if ":" in text.partition("/")[0].partition(".")[0] or "@" in text:
        raise CellError("not a web address such as https://example.com/")
    return ""


def _read_profile(network: str, text: str) -> str:
    url = text if "://" in text else f"https://{text}"
    try:
        label = registrable(normalise(url)).partition(".")[0]
    except NotAHost:
        raise CellError(f"not a profile such as https://www.{network}.com/example") from None
    if not url.lower().startswith(("https://", "http://")) or label not in (network, *_NETWORK_HOSTS.get(network, ())):
        raise CellError(f"not a profile such as https://www.{network}.com/example")
    return _bounded(url, "url")


def _read_time(text: str, now_ms: int) -> int:
    reason = "not a time such as 2026-09-21 or 2026-09-21T14:13:20Z"
    if text.isascii() and text.isdigit():
        number = int(text) if len(text) <= 20 else 0
        if number < _FIRST_SECONDS:
            raise CellError(reason)
        time_ms = number * 1000 if number < _SECONDS_BELOW else number
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise CellError(reason) from None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        time_ms = int(moment.timestamp() * 1000)
    if time_ms < 0:
        raise CellError("is before 1970")
    if time_ms > now_ms:
        raise CellError("is in the future")
    return time_ms


def _read_number(text: str, kind: msgspec.inspect.IntType) -> int:
    if not _WHOLE.fullmatch(text) or len(text) > 20:
        raise CellError("not a whole number")
    number = int(text.partition(".")[0])
    low, high = kind.ge or 0, kind.le if kind.le is not None else (kind.lt or 2**63) - 1
    if not low <= number <= high:
        raise CellError(f"not between {low} and {high}")
    return number


def _read_flag(text: str) -> bool:
    if text.casefold() not in _YES | _NO:
        raise CellError("neither yes nor no")
    return text.casefold() in _YES


def _maximum_length(kind: msgspec.inspect.Type) -> int | None:
    if isinstance(kind, msgspec.inspect.StrType | msgspec.inspect.VarTupleType):
        return kind.max_length
    raise TypeError(f"{kind} has no length")


def _bounded(text: str, field: str) -> str:
    kind = _TYPES[field]
    maximum = _maximum_length(kind.item_type if isinstance(kind, msgspec.inspect.VarTupleType) else kind)
    if maximum is not None and len(text) > maximum:
        raise CellError(f"longer than {maximum} characters")
    return text
