"""Read query parameters strictly: every problem at once, each with its name and the nearest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import QueryParams

from siteglass.errors import BadRequest, Problem, Problems
from siteglass.web.requests import nearest_name

MAX_NUMBER = 2**63 - 1

_NUMBER = re.compile(r"\d{1,19}", re.ASCII)

Given = dict[str, str]


def read_given(parameters: QueryParams, known: Sequence[str], problems: Problems) -> Given:
    """The parameters by name; each is known, and there once."""
    given: Given = {}
    for name, value in parameters.multi_items():
        if name in given:
            problems.append(Problem(name, "sent more than once; send it once"))
        elif name in known:
            given[name] = value
        elif problems.is_full:
            problems.count += 1
        else:
            near = nearest_name(name, known)
            expected = f"expected one of {', '.join(known)}" if known else "there are none here"
            hint = f"did you mean {near}?" if near else expected
            problems.append(Problem(name[:64] or "?", f"unknown parameter; {hint}", nearest=near))
    return given


def read_no_parameters(parameters: QueryParams) -> None:
    """Raises BadRequest if there are any."""
    problems = Problems()
    read_given(parameters, (), problems)
    if problems:
        raise BadRequest(problems)


def read_number(given: Given, name: str, most: int, problems: Problems) -> int | None:
    """A whole number from 1 on, None if it is not given."""
    text = given.get(name)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= most:
        bounds = "" if most == MAX_NUMBER else f" from 1 to {most}"
        problems.append(Problem(name, f"expected a whole number{bounds}, found {text[:64]!r}"))
        return None
    return int(text)
