"""The parameters of known values: declared, and read strictly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from starlette.datastructures import QueryParams

from siteglass.errors import BadRequest, Problem, Problems
from siteglass.query.completion import COMPLETABLE, DETAILS
from siteglass.query.fields import ASKED
from siteglass.query.values import ValueProblem, nearest, read_value
from siteglass.query.vocabulary import Kind
from siteglass.web.messages import Parameters, names_of
from siteglass.web.parameters import Given, read_given, read_number
from siteglass.web.requests import nearest_name

DEFAULT_SHOWN = 10
MAX_SHOWN = 50
MAX_Q_CHARS = 64

FIELDS = tuple(dict.fromkeys(one.field for one in COMPLETABLE.values()))
NARROWED = tuple(name for name in FIELDS if "country" in DETAILS.get(COMPLETABLE[name].kind, ()))

# The same for everybody until the vocabulary or the live generation changes, and requested with every letter that is
# typed. So this is the only response that may be cached, by the caller alone.
VALUES_HEADERS = {"Cache-Control": "private, max-age=3600", "Vary": "X-API-Key"}


class ValuesParameters(Parameters):
    """Which values: the field in the path, the others after `?`."""

    field: Annotated[
        str,
        Meta(
            description="The field. The name of its filter or directive (`lang`, `technology`) also works.",
            examples=["city"],
            extra_json_schema={"enum": list(FIELDS)},
        ),
    ]
    q: Annotated[
        str,
        Meta(
            max_length=MAX_Q_CHARS,
            description=f"The start of a name, of a later word in it, of an alias or of a code; at most {MAX_Q_CHARS} "
            "characters. Case and accents are ignored. Defaults to the values that most leads have.",
            examples=["münchen"],
        ),
    ] = ""
    limit: Annotated[
        int,
        Meta(
            ge=1,
            le=MAX_SHOWN,
            description=f"Maximum number of values, 1 to {MAX_SHOWN}; defaults to {DEFAULT_SHOWN}.",
            examples=[1],
        ),
    ] = DEFAULT_SHOWN
    country: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description=f"Only values in this country, by code or name. For {' and '.join(NARROWED)}.",
                examples=["DEU"],
            ),
        ]
        | UnsetType
    ) = UNSET


@dataclass(frozen=True, slots=True)
class ValuesRequest:
    """Which values are wanted."""

    field: str
    kind: Kind
    text: str
    limit: int
    country: str | None


def read_values(field: str, parameters: QueryParams) -> ValuesRequest:
    """The field in the path and the parameters of GET /v1/values/{field}."""
    problems = Problems()
    asked = COMPLETABLE.get(field)
    if asked is None:
        problems.append(_unknown(field))
    given = read_given(parameters, names_of(ValuesParameters)[1:], problems)
    text = given.get("q", "")
    if len(text) > MAX_Q_CHARS:
        problems.append(Problem("q", f"expected at most {MAX_Q_CHARS} characters, found {len(text)}"))
    limit = read_number(given, "limit", MAX_SHOWN, problems) or DEFAULT_SHOWN
    country = _country(given, problems)
    if asked and asked.field not in NARROWED and "country" in given:
        problems.append(Problem("country", f"can only be used with {' and '.join(NARROWED)}, not with {asked.field}"))
    if problems or asked is None:
        raise BadRequest(problems)
    return ValuesRequest(asked.field, asked.kind, text, limit, country)


def _unknown(field: str) -> Problem:
    near = nearest_name(field, COMPLETABLE.keys())
    name = COMPLETABLE[near].field if near else None
    hint = f"; did you mean {name}?" if name else ""
    return Problem("field", f"expected one of {', '.join(FIELDS)}, found {field[:64]!r}{hint}", nearest=name)


def _country(given: Given, problems: Problems) -> str | None:
    """The alpha-3 code of the country, however it is written."""
    text = given.get("country")
    if text is None:
        return None
    ask = ASKED["country"].ask
    try:
        return str(read_value(ask, text)[0])
    except ValueProblem as error:
        near = nearest(ask, error.unknown) if error.unknown else None
        hint = f"; did you mean {near}?" if near else ""
        problems.append(Problem("country", f"{error}{hint}", nearest=near))
        return None
