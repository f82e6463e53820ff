"""The directive language of `wrapped_query`: text to criteria and back.

    text      = line *( newline line )
    line      = [ condition / any ] [ comment ]
    any       = [ "!" ] "@any" "[" branch *( "|" branch ) "]"
    branch    = condition *( 1*blank condition )
    condition = [ "!" ] "@" name [ "(" value *( "," value ) ")" ]
    name      = a directive of the catalogue, in any case
    value     = quoted / bare     of @added and @dropped the last value says when: days or a date
    quoted    = '"' *( any character but '"' and "\\" / "\\" '"' / "\\" "\\" ) '"'
    bare      = 1*( any character but "," "(" ")" and '"' )
    comment   = "#" *any          at the start of a line, or after a condition and a blank

Blanks are free around every part. Flags take no parentheses, all others need them. All lines must hold; values are
alternatives; "!" excludes. The branches of "@any" are alternatives too, and each holds if all its conditions do.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

from rapidfuzz import fuzz, process

from siteglass.errors import MAX_REPEATED_CHARS, Problem, Problems, QueryError, repeated
from siteglass.query.criteria import (
    MAX_BRANCH_CONDITIONS,
    MAX_BRANCHES,
    MAX_CANONICAL_BYTES,
    MAX_CONDITIONS,
    MAX_VALUES,
    AnyOf,
    Clause,
    Condition,
    Criteria,
    Value,
    criteria,
    name_in,
)
from siteglass.query.field import Ask, Kind, SearchableField
from siteglass.query.fields import DIRECTIVES, FILTERS
from siteglass.query.value_text import print_values
from siteglass.query.values import ValueProblem, WrittenValue, is_window, nearest, read_all, read_values

MAX_TEXT_CHARS = 8_000
# Looking for the nearest name is the only slow step (milliseconds each), so a hostile text gets a few.
MAX_SUGGESTIONS = 3
ANY = "any"
# A directive is recognised by its beginning from so many letters on.
MIN_BEGINNING_CHARS = 3
# Bounds of what a line takes beside its texts: its name, sign and brackets; a range or a moment.
MAX_NAME_CHARS = 32
MAX_NUMBER_CHARS = 32
# A hint repeats no longer value than this.
MAX_HINT_CHARS = 64

_NAME = re.compile(r"@([A-Za-z0-9_]*)")
_ANY = re.compile(rf"@{ANY}(?![A-Za-z0-9_])", re.IGNORECASE)
_BARE = re.compile(r'[^,()"]*')
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
_BLANKS = re.compile(r"[^\S\n]*")
# For hints only: a directive without its @, what no bare value holds, a line break that JSON did not make one.
_WORD = re.compile(r"(\w+)\s*(?:\(|$)")
_SPECIAL = re.compile(r"[()\[\]|@!#\\]")
_BETWEEN_BRANCHES = re.compile(r",|/|or\b", re.IGNORECASE)
_BETWEEN_CONDITIONS = re.compile(r"&|\+|and\b|[!@]", re.IGNORECASE)
_BACKSLASH_N = re.compile(r"\\[nr]")
_ONE_BACKSLASH = "a backslash and a letter; in JSON, a line break is written with one backslash, not two"


class _Stop(Exception):
    """A syntax error: the rest of the line cannot be read."""

    def __init__(self, column: int, message: str, near: str | None = None) -> None:
        super().__init__(message)
        self.column = column
        self.near = near


class _Written(NamedTuple):
    """A condition as it is written: its values are not read yet."""

    asked: SearchableField
    texts: list[WrittenValue]
    negated: bool


class _Reader:
    """Reads a text line by line and gathers the problems."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.problems = Problems()
        self.clauses: list[Clause] = []
        self._suggestions_left = MAX_SUGGESTIONS

    def problem(self, line: int, column: int, message: str, near: str | None = None) -> None:
        if self.problems.is_full:
            self.problems.count += 1
        else:
            self.problems.append(Problem(self.field, message, line, column + 1, near))

    def suggestion(self, ask: Ask, unknown: str) -> str | None:
        if not self._suggestions_left:
            return None
        self._suggestions_left -= 1
        return nearest(ask, unknown)

    def line(self, number: int, line: str) -> None:
        try:
            self._clause(number, line)
        except _Stop as stop:
            self.problem(number, stop.column, str(stop), stop.near)

    def _clause(self, number: int, line: str) -> None:
        at = _skip(line, 0)
        if at == len(line) or line[at] == "#":
            return
        negated, start = _sign(line, at)
        if keyword := _ANY.match(line, start):
            branches, at = self._branches(line, keyword.end())
            _end_of_line(line, at)
            read = (tuple(self._condition(number, one, excluding=negated) for one in branch) for branch in branches)
            self.clauses.append(AnyOf(tuple(read), negated))
        else:
            written, at = self._written(line, at)
            _end_of_line(line, at)
            self.clauses.append(self._condition(number, written))

    def _branches(self, line: str, at: int) -> tuple[list[list[_Written]], int]:
        opening = _skip(line, at)
        if opening == len(line) or line[opening] != "[":
            example = f"write @{ANY}[ @lacks(analytics) | @not_secure ]"
            raise _Stop(at, f"@{ANY} needs branches: expected '[', found {_found(line, opening)}; {example}")
        branches: list[list[_Written]] = []
        at = opening
        while True:
            if len(branches) == MAX_BRANCHES:
                raise _Stop(at, f"@{ANY} may have at most {MAX_BRANCHES} branches; write another search for the rest")
            branch, at = self._branch(line, at + 1)
            branches.append(branch)
            if line[at] == "]":
                return branches, at + 1

    def _branch(self, line: str, at: int) -> tuple[list[_Written], int]:
        """The conditions of a branch, and where its '|' or ']' is."""
        conditions: list[_Written] = []
        at = _skip(line, at)
        while True:
            if _ANY.match(line, _sign(line, at)[1]):
                raise _Stop(at, f"@{ANY} cannot contain another @{ANY}; write its branches side by side")
            if len(conditions) == MAX_BRANCH_CONDITIONS:
                raise _Stop(at, f"a branch of @{ANY} may have at most {MAX_BRANCH_CONDITIONS} conditions")
            written, end = self._written(line, at)
            conditions.append(written)
            at = _skip(line, end)
            if at < len(line) and line[at] in "|]":
                return conditions, at
            if at == len(line) or at == end or line[at] not in "!@":
                raise _no_branch_end(line, at)

    def _written(self, line: str, at: int) -> tuple[_Written, int]:
        """The condition at this place, and where it ends."""
        negated, start = _sign(line, at)
        name = _NAME.match(line, start)
        if not name:
            raise _no_directive(line, start, negated=negated)
        asked = DIRECTIVES.get(name[1].lower())
        if asked is None:
            near = None if self.problems.is_full else _nearest_directive(name[1])
            hint = f"; did you mean {near}?" if near else ""
            raise _Stop(start, f"expected a known directive, found @{name[1][:MAX_REPEATED_CHARS]}{hint}", near)
        if asked.ask.kind is Kind.FLAG:
            texts: list[WrittenValue] = []
            at = _no_parentheses(line, name.end(), asked)
        else:
            texts, at = _parenthesised(line, name.end(), asked)
        return _Written(asked, texts, negated), at

    def _condition(self, number: int, written: _Written, *, excluding: bool = False) -> Condition:
        """The condition, without values that are wrong: a text that has one is refused."""
        ask, excluding = written.asked.ask, excluding or written.negated
        values: list[Value] = []
        for text, read in zip(written.texts, read_values(ask, written.texts, excluding=excluding), strict=True):
            if isinstance(read, ValueProblem):
                near = self.suggestion(ask, read.unknown) if read.unknown else None
                hint = f"; did you mean {near}?" if near else ""
                self.problem(number, text.column, f"@{ask.directive}: {read}{hint}", near)
            else:
                values.extend(read)
        return Condition(written.asked.name, tuple(values), written.negated)


def _skip(line: str, at: int) -> int:
    found = _BLANKS.match(line, at)
    return found.end() if found else at


def _sign(line: str, at: int) -> tuple[bool, int]:
    """Whether a "!" is here, and where what it denies begins."""
    negated = line[at : at + 1] == "!"
    return negated, _skip(line, at + 1) if negated else at


def _found(line: str, at: int) -> str:
    return repr(line[at : at + 20]) if at < len(line) else "the end of the line"


def _nearest_directive(name: str) -> str | None:
    if name.lower() in FILTERS:  # the name of a body filter
        return f"@{FILTERS[name.lower()][0].ask.directive}"
    best = process.extractOne(name.lower()[:40], (*DIRECTIVES, ANY), scorer=fuzz.ratio, score_cutoff=70)
    if best:
        return f"@{best[0]}"
    begun = {asked.ask.directive for known, asked in DIRECTIVES.items() if known.startswith(name.lower())}
    return f"@{begun.pop()}" if len(name) >= MIN_BEGINNING_CHARS and len(begun) == 1 else None


def _no_directive(line: str, at: int, *, negated: bool) -> _Stop:
    """What was found where a directive must begin, and what to do about it."""
    if _BACKSLASH_N.match(line, at):
        return _Stop(at, f"expected a directive such as @country(USA), found {_ONE_BACKSLASH}")
    message = f"expected a directive such as @country(USA), found {_found(line, at)}"
    word = _WORD.match(line, at)
    if word and word[1].lower() in DIRECTIVES:
        near = f"@{word[1].lower()}"
        return _Stop(at, f"{message}; did you mean {near}?", near)
    plain = line[at : at + 1].isalnum() and not negated
    return _Stop(at, f"{message}; plain words go in `query`" if plain else message)


def _no_branch_end(line: str, at: int) -> _Stop:
    """What was found where a branch of alternatives must continue or end."""
    expected = f"@{ANY}: expected a blank and a directive, '|' or ']'"
    if at == len(line):
        return _Stop(len(line.rstrip()), f"{expected}, found the end of the line; write @{ANY} on one line")
    hint = ""
    if _BETWEEN_BRANCHES.match(line, at):
        hint = "; write | between alternatives"
    elif _BETWEEN_CONDITIONS.match(line, at):
        hint = "; write a blank between conditions that must hold together"
    return _Stop(at, f"{expected}, found {_found(line, at)}{hint}")


def _no_parentheses(line: str, at: int, asked: SearchableField) -> int:
    after = _skip(line, at)
    if after < len(line) and line[after] == "(":
        raise _Stop(after, f"@{asked.ask.directive} is a flag: expected no parentheses, found '('")
    return at


def _parenthesised(line: str, at: int, asked: SearchableField) -> tuple[list[WrittenValue], int]:
    opening = _skip(line, at)
    if opening == len(line) or line[opening] != "(":
        bare = line[opening:].strip().lstrip(":= ").removesuffix(")").rstrip()
        sayable = bare and len(bare) <= MAX_HINT_CHARS and not _SPECIAL.search(bare)
        hint = f"; write @{asked.ask.directive}({bare})" if sayable else ""
        raise _Stop(at, f"@{asked.ask.directive} needs a value: expected '(', found {_found(line, opening)}{hint}")
    texts: list[WrittenValue] = []
    at = opening
    while True:
        text, at = _value(line, at + 1, asked)
        texts.append(text)
        if at == len(line):
            raise _Stop(len(line.rstrip()), f"@{asked.ask.directive}: expected ',' or ')', found the end of the line")
        if line[at] == ")":
            if asked.ask.kind is Kind.NUMBER:
                _refuse_thousands(line, texts, asked)
            return texts, at + 1
        if line[at] != ",":
            raise _Stop(at, f"@{asked.ask.directive}: expected ',' or ')', found {_found(line, at)}")


def _value(line: str, at: int, asked: SearchableField) -> tuple[WrittenValue, int]:
    """The value that starts after `at`, and where it ends (blanks skipped)."""
    start = _skip(line, at)
    if start < len(line) and line[start] == '"':
        quoted = _QUOTED.match(line, start)
        if not quoted:
            raise _Stop(
                len(line.rstrip()), f"@{asked.ask.directive}: expected a closing '\"', found the end of the line"
            )
        text = re.sub(r'\\(["\\])', r"\1", quoted[1])
        return WrittenValue(text, quoted=True, column=start), _skip(line, quoted.end())
    bare = _BARE.match(line, start)
    text = bare[0].rstrip() if bare else ""
    end = start + len(bare[0]) if bare else start
    if not text:
        end = len(line.rstrip()) if end == len(line) else end
        raise _Stop(end, f"@{asked.ask.directive}: expected a value, found {_found(line, end)}")
    return WrittenValue(text, column=start), end


def _refuse_thousands(line: str, texts: list[WrittenValue], asked: SearchableField) -> None:
    """5,000 would read as 5 or 000: a silent misreading of money."""
    for first, second in itertools.pairwise(texts):
        between = line[first.column : second.column + len(second.text)]
        if _THOUSANDS.search(between):
            joined = between.replace(",", "")[:MAX_REPEATED_CHARS]
            raise _Stop(
                first.column,
                f"@{asked.ask.directive}: expected a number without a thousands comma, found {repeated(between)}; "
                f"write {joined}, or put a space after the comma between alternatives",
            )


def _end_of_line(line: str, at: int) -> None:
    rest = _skip(line, at)
    if rest == len(line) or (line[rest] == "#" and rest > at):
        return
    found = _ONE_BACKSLASH if _BACKSLASH_N.match(line, rest) else _found(line, rest)
    hint = f"; write alternatives as @{ANY}[ … | … ]" if line[rest] == "|" else ""
    raise _Stop(rest, f"expected the end of the line (one condition per line), found {found}{hint}")


def is_blank(text: str) -> bool:
    """Whether a text says nothing: it has comments at most."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n"))


def parse(text: str, field: str = "wrapped_query") -> Criteria:
    """Criteria of a directive text; raises QueryError with all problems, each with line and column."""
    if len(text) > MAX_TEXT_CHARS:
        message = f"expected at most {MAX_TEXT_CHARS} characters, found {len(text)}"
        raise QueryError([Problem(field, message, 1, 1)])
    reader = _Reader(field)
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        reader.line(number, line)
    if reader.problems:
        raise QueryError(reader.problems)
    made = criteria(reader.clauses)
    if too_large := size_problem(made):
        raise QueryError([Problem(field, too_large, 1, 1)])
    return made


def make_condition(directive: str, values: Iterable[str] = (), *, negated: bool = False) -> Condition:
    """The condition that a directive says with these values, as if names were in quotes; raises ValueProblem."""
    asked = DIRECTIVES[directive]
    written = (WrittenValue(text) for text in values)
    read = read_all(asked.ask, [value._replace(quoted=not is_window(value)) for value in written])
    if not read and asked.ask.kind is not Kind.FLAG:
        raise ValueProblem("expected a value")
    return Condition(asked.name, read, negated)


def make_any_of(branches: Iterable[Iterable[Clause]], *, negated: bool = False) -> AnyOf:
    """The alternatives that `@any` says with these branches; raises ValueProblem if it cannot."""
    written = tuple(tuple(branch) for branch in branches)
    plain = tuple(tuple(clause for clause in branch if isinstance(clause, Condition)) for branch in written)
    if plain != written:
        raise ValueProblem(f"@{ANY} cannot contain another @{ANY}")
    if not 1 <= len(plain) <= MAX_BRANCHES or not all(1 <= len(branch) <= MAX_BRANCH_CONDITIONS for branch in plain):
        raise ValueProblem(f"@{ANY} has 1 to {MAX_BRANCHES} branches, each of 1 to {MAX_BRANCH_CONDITIONS} conditions")
    return AnyOf(plain, negated)


def size_problem(criteria: Criteria) -> str | None:
    """Why a search is too large to run, or None."""
    if criteria.condition_count > MAX_CONDITIONS:
        return f"a search may have at most {MAX_CONDITIONS} conditions, found {criteria.condition_count}"
    if criteria.value_count > MAX_VALUES:
        return f"a search may have at most {MAX_VALUES} values, found {criteria.value_count}"
    if _surely_small(criteria):
        return None
    size = len(print_criteria(criteria).encode())
    if size > MAX_CANONICAL_BYTES:
        return f"a search may have at most {MAX_CANONICAL_BYTES} bytes in canonical form, found {size}"
    return None


def _surely_small(criteria: Criteria) -> bool:
    """Whether the canonical text is far from its limit, by an estimate that is too high: printing costs more."""
    most = 0
    for condition in criteria.flat():
        texts = [
            len(name_in(value)) + (0 if isinstance(value, str) else MAX_NUMBER_CHARS) for value in condition.values
        ]
        most += MAX_NAME_CHARS + sum(texts) + 4 * len(texts)
    return most * 4 <= MAX_CANONICAL_BYTES  # at most four bytes a character, none of them escaped twice


def print_criteria(criteria: Criteria) -> str:
    """Canonical directive text, one clause per line."""
    return "\n".join(print_condition(clause) for clause in criteria.conditions)


def print_condition(clause: Clause) -> str:
    """One canonical line."""
    sign = "!" if clause.negated else ""
    if isinstance(clause, AnyOf):
        branches = (" ".join(map(print_condition, branch)) for branch in clause.branches)
        return f"{sign}@{ANY}[ {' | '.join(branches)} ]"
    ask = clause.ask
    if ask.kind is Kind.FLAG:
        return f"{sign}@{ask.directive}"
    return f"{sign}@{ask.directive}({', '.join(print_values(ask, clause.values))})"
