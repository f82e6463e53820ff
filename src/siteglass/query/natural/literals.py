"""Directives written inside a sentence: taken as they are, if the production parser reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from siteglass.errors import QueryError
from siteglass.query.criteria import Clause
from siteglass.query.directives import parse
from siteglass.query.fields import DIRECTIVES
from siteglass.query.natural.kinds import TokenKind
from siteglass.query.natural.text import Token

# With what is inside the brackets of alternatives: taken one by one, these would all have to hold.
_LITERAL = re.compile(r"(?<![\w@])!?\s?@(?:any\s?\[[^\]\n]*\]|([A-Za-z_]+)(?:\s?\([^()\n]*\))?)", re.IGNORECASE)


class Literal(NamedTuple):
    """A directive of the sentence, or what is wrong with it."""

    token: Token
    clauses: tuple[Clause, ...]
    problem: str


def take_literals(text: str) -> tuple[str, list[Literal]]:
    """The sentence with blanks in place of directives, and these."""
    if "@" not in text:
        return text, []
    found: list[Literal] = []
    for match in _LITERAL.finditer(text):
        if match[1] and match[1].lower() not in DIRECTIVES and "(" not in match[0]:
            continue  # "info@ addresses", "@gmail": no directive is meant
        clauses: tuple[Clause, ...] = ()
        problem = ""
        try:
            clauses = parse(match[0]).conditions
        except QueryError as error:
            problem = error.problems[0].message
        found.append(Literal(Token(*match.span(), match[0], match[0], TokenKind.LITERAL), clauses, problem))
    for literal in found:
        start, end = literal.token.start, literal.token.end
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text, found
