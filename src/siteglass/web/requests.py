"""Read request bodies strictly: every problem at once, each with its field and the nearest name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

import msgspec
import orjson
from msgspec.inspect import BoolType, IntType, Metadata, NoneType, StrType, StructType, Type, UnionType
from rapidfuzz import fuzz, process
from starlette.requests import Request

from siteglass.errors import BadRequest, PayloadTooLarge, Problem, Problems, UnsupportedMediaType
from siteglass.query.filters import as_whole, read_text, type_name
from siteglass.web.messages import RequestBody

# Where the body is found once it is read, in the scope of its request.
BODY_KEY = "siteglass.body"
MAX_NAMES_LISTED = 5
# A name is recognised by its beginning from so many letters on.
MIN_BEGINNING_CHARS = 3


async def read_json(request: Request, max_bytes: int, *, may_be_empty: bool = False) -> dict[str, Any]:
    """The body as a JSON object; the order of checks is media type, size, JSON."""
    headers: dict[bytes, bytes] = dict(request.scope["headers"])  # several are asked for, so each is looked up fast
    declared = headers.get(b"content-length", b"")
    empty = declared == b"0" or (not declared and b"transfer-encoding" not in headers)
    if not (may_be_empty and empty):
        if headers.get(b"content-type", b"").split(b";", 1)[0].strip().lower() != b"application/json":
            raise UnsupportedMediaType
        if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
            raise UnsupportedMediaType(compressed=True)
    if declared.isdigit() and int(declared) > max_bytes:
        raise PayloadTooLarge(max_bytes)
    raw = await read_bytes(request, max_bytes)
    _refuse_query_string(request)
    if not raw and may_be_empty:
        return {}
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if not raw.strip():
            raise BadRequest([Problem("body", "expected a JSON object, found nothing; send at least {}")]) from None
        place = f"line {error.lineno} column {error.colno}"
        raise BadRequest([Problem("body", f"expected JSON: {error.msg}: {place}")]) from None
    if not isinstance(body, dict):
        raise BadRequest([Problem("body", f"expected a JSON object, found {type_name(body)}")])
    request.scope[BODY_KEY] = body
    return body


async def read_bytes(request: Request, max_bytes: int) -> bytes:
    """The body, if it is not too long."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > max_bytes:
            raise PayloadTooLarge(max_bytes)
    return bytes(raw)


def _refuse_query_string(request: Request) -> None:
    """Raise BadRequest if there is one: what somebody writes there, such as `?limit=3`, would have no effect."""
    if not request.scope["query_string"]:
        return
    names = dict.fromkeys(name[:64] or "?" for name, _ in request.query_params.multi_items()) or {"?": None}
    problems = Problems()
    problems.describe(
        list(names), lambda name: Problem(name, "found in the query string; send it as a field of the JSON body")
    )
    raise BadRequest(problems)


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """The known name that a wrong one most resembles, or the only one that begins like it."""
    name = name[:64].lower()
    if (singular := f"{name.removesuffix('ies')}y") in known:
        return singular
    # Names that are less similar than this share letters by chance: "offset" and "offers".
    best = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=70)
    if best:
        return best[0]
    begun = [one for one in known if one.startswith(name)]
    return begun[0] if len(name) >= MIN_BEGINNING_CHARS and len(begun) == 1 else None


def list_names(known: Sequence[str], what: str) -> str:
    """The known names where they are few; nobody reads a message of dozens."""
    return f"expected one of {', '.join(known)}" if len(known) <= MAX_NAMES_LISTED else f"{what} are in /openapi.json"


def unknown_fields(
    body: dict[str, Any], known: Sequence[str], hint_of: Callable[[str], str | None] = lambda _: None
) -> Problems:
    """A problem for each name of the body that is not a known one.

    `hint_of` may know how else to ask for what a name means.
    """

    def problem_of(name: str) -> Problem:
        if hint := hint_of(name.lower()):
            return Problem(name[:64], f"unknown field; {hint}")
        near = nearest_name(name, known)
        hint = f"did you mean {near}?" if near else list_names(known, "the known fields")
        return Problem(name[:64], f"unknown field; {hint}", nearest=near)

    problems, names = Problems(), frozenset(known)
    problems.describe([name for name in body if name not in names], problem_of)
    return problems


def read_whole(body: dict[str, Any], name: str, least: int, most: int, problems: Problems) -> int | None:
    """A whole number of the body, None if it is not given."""
    value = as_whole(body.get(name))
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        found = value if isinstance(value, float) else type_name(value)
        problems.append(Problem(name, f"expected a whole number from {least} to {most}, found {found}"))
        return None
    if not least <= value <= most:
        problems.append(Problem(name, f"expected a number from {least} to {most}, found {value}"))
    return value


def read_switch(body: dict[str, Any], name: str, problems: Problems) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        problems.append(Problem(name, f"expected true or false, found {type_name(value)}"))
    return value is True


FieldReader = Callable[[dict[str, Any], Problems], Any]


def read_fields(
    kind: type[RequestBody], body: dict[str, Any], problems: Problems, **readers: FieldReader
) -> dict[str, Any]:
    """The fields that the class itself declares, in their order: numbers, switches and texts within their bounds.

    Fields of other types are read by the `readers` of their names; those of a base class are left to others.
    """
    values: dict[str, Any] = {}
    for name, type_ in _fields(kind):
        if name in readers:
            values[name] = readers[name](body, problems)
            continue
        match type_:
            case BoolType():
                values[name] = read_switch(body, name, problems)
            case IntType(ge=int(least), le=int(most)):
                values[name] = read_whole(body, name, least, most, problems)
            case StrType(max_length=int(max_chars)):
                values[name] = read_text(body, name, max_chars, problems)
            case _:
                raise TypeError(f"{kind.__name__}.{name} needs a reader, or bounds")
    return values


@cache
def _fields(kind: type[RequestBody]) -> list[tuple[str, Type]]:
    declared = msgspec.inspect.type_info(kind)
    if not isinstance(declared, StructType):
        raise TypeError(f"{kind.__name__} is not a struct")
    return [(field.encode_name, _inner(field.type)) for field in declared.fields if field.name in kind.__annotations__]


def _inner(type_: Type) -> Type:
    """The type without what only describes it, and without `| None`."""
    if isinstance(type_, Metadata):
        return _inner(type_.type)
    if isinstance(type_, UnionType):
        return _inner(next(each for each in type_.types if not isinstance(each, NoneType)))
    return type_
