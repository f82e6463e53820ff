"""What a search body means: filters, `wrapped_query` and `query` become one Criteria and the `filters` to echo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from siteglass.errors import BadRequest, Problem, Problems, QueryError, repeated
from siteglass.query import directives, natural
from siteglass.query.criteria import Clause, Condition, Criteria, criteria
from siteglass.query.filters import FilterReader, fix_windows, read_text, write_filters, written_as_array
from siteglass.query.values import MAX_VALUE_CHARS

# The echo travels inside the cursor, whose length is limited; JSON, and filters as they were sent, are longer than
# canonical text.
MAX_ECHO_BYTES = 4_800
MAX_REQUIRED = 10


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is searched, and the body that says so again."""

    criteria: Criteria
    filters: dict[str, Any]
    said: Criteria
    """The criteria with ages as they were said, before they became moments."""
    sentence: natural.Interpretation | None
    """How `query` was read, if it was."""
    unused: dict[Clause, Clause | None]
    """What `query` said and is not searched: for the condition of a filter that says otherwise, or for lack of room."""


def read_meaning(body: Mapping[str, Any], now_ms: int, problems: Problems | None = None) -> Meaning:
    """Read the searching part of a body; raises BadRequest (or QueryError) with all problems at once."""
    reader = FilterReader()
    reader.read(body)
    problems = Problems() if problems is None else problems
    problems.extend(reader.problems)
    query = _text(body, "query", natural.MAX_QUERY_CHARS, problems)
    wrapped = _text(body, "wrapped_query", directives.MAX_TEXT_CHARS, problems)
    if directives.is_blank(wrapped):
        wrapped = ""  # not given, so that `query` counts
    require = _read_require(body, "" if wrapped else query, problems)
    directed, sentence = Criteria(), None
    unused: dict[Clause, Clause | None] = {}
    try:
        if wrapped:
            directed = directives.parse(wrapped)
        elif query and not problems:
            sentence = natural.interpret(query, datetime.fromtimestamp(now_ms / 1000, UTC).date(), require)
            unused = _replaced(sentence.criteria, reader.conditions)
            directed = Criteria(tuple(c for c in sentence.criteria.conditions if c not in unused))
    except QueryError as error:
        if not problems:
            raise
        problems.extend(error.all_problems)
    if problems:
        raise BadRequest(problems)
    whole, echo = _whole(reader, directed, now_ms)
    while problem := _size_problem(whole, echo):
        if sentence is None or not directed.conditions:
            raise BadRequest([Problem("wrapped_query" if wrapped else next(iter(reader.sent)), problem)])
        # A sentence is never too long: words that exceed the limit are reported.
        unused[directed.conditions[-1]] = None
        directed = Criteria(directed.conditions[:-1])
        whole, echo = _whole(reader, directed, now_ms)
    return Meaning(whole, echo, criteria([*reader.conditions, *directed.conditions]), sentence, unused)


def _text(body: Mapping[str, Any], name: str, max_chars: int, problems: Problems) -> str:
    """A text of the body, empty if it is blank, not given or wrong."""
    text = read_text(body, name, max_chars, problems)
    return text if text and text.strip() else ""


def _read_require(body: Mapping[str, Any], query: str, problems: Problems) -> list[str]:
    """The words of the sentence that are required; none if one is wrong."""
    words = body.get("require")
    if words is None or words == []:
        return []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        problems.append(Problem("require", f"expected an array of words{written_as_array(words)}"))
        return []
    if len(words) > MAX_REQUIRED:
        problems.append(Problem("require", f"expected at most {MAX_REQUIRED} words, found {len(words)}"))
        return []
    if not query:
        problems.append(Problem("require", "it needs a sentence in `query`, without `wrapped_query`; send `keywords`"))
        return []
    absent = [word for word in words if len(word) > MAX_VALUE_CHARS or not natural.says(query, word)]
    hint = f"is not in `query`, or has more than {MAX_VALUE_CHARS} characters; send words of other texts in `keywords`"
    problems.describe(absent, lambda word: Problem("require", f"{repeated(word)} {hint}"))
    return [] if absent else words


def _replaced(understood: Criteria, given: list[Condition]) -> dict[Clause, Clause | None]:
    """A given filter replaces what the sentence said positively about the same thing; exclusions stay.

    What the filters say as well is not replaced, but said twice.
    """
    about: dict[str, list[Condition]] = {}
    for condition in understood.plain:
        if not condition.negated:
            about.setdefault(condition.thing, []).append(condition)
    replaced: dict[Clause, Clause | None] = {}
    filtered = criteria(given).plain
    for condition in filtered:
        said = about.pop(condition.thing, [])
        if not set(said) <= set(filtered):
            replaced.update(dict.fromkeys(said, condition))
    return replaced


def _whole(reader: FilterReader, directed: Criteria, now_ms: int) -> tuple[Criteria, dict[str, Any]]:
    """All that is searched, and the body that says so again."""
    filtered, directed = criteria(reader.conditions).fixed_at(now_ms), directed.fixed_at(now_ms)
    sent = fix_windows(reader.sent, now_ms)
    rest = Criteria(tuple(c for c in directed.conditions if c not in filtered.conditions))
    return criteria([*filtered.conditions, *directed.conditions]), {**sent, **write_filters(rest, sent)}


def _size_problem(whole: Criteria, echo: dict[str, Any]) -> str | None:
    if problem := directives.size_problem(whole):
        return problem
    size = len(orjson.dumps(echo))
    return (
        f"the filters of a search may have at most {MAX_ECHO_BYTES} bytes, found {size}"
        if size > MAX_ECHO_BYTES
        else None
    )
