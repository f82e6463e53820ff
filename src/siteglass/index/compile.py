"""Criteria to an OpenSearch query. A pure function: user text only ever becomes a term, a phrase or a number."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from siteglass.query.criteria import AnyOf, Change, Clause, Condition, Criteria, Range, Value
from siteglass.query.field import Kind
from siteglass.query.technology_changes import changes_since

# Up to this many terms, Lucene walks lazily; beyond it, Lucene collects all matches first. The cost of a page would
# then grow with the matches, so longer lists are split.
LAZY_TERMS = 16
# Parts of compounds are asked for a word alone: a phrase is searched as it is written.
_ONE_WORD = re.compile(r"[^\W\d_]+")

Query = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Leaves out the leads that a query finds."""

    query: Query


Extra = Query | Exclusion
"""What restricts a search beside its criteria."""


def compile_criteria(criteria: Criteria, extra: Iterable[Extra] = ()) -> Query:
    """The query of a search; `extra` filters are added after those of the criteria."""
    return _all_of(criteria.conditions, extra)


def _all_of(clauses: Iterable[Clause], extra: Iterable[Extra] = ()) -> Query:
    filters: list[Query] = []
    exclusions: list[Query] = []
    for clause in clauses:
        (exclusions if clause.negated else filters).extend(_clauses(clause))
    for one in extra:
        if isinstance(one, Exclusion):
            exclusions.append(one.query)  # in a separate filter, it would start from all leads
        else:
            filters.append(one)
    bool_query: Query = {}
    if filters:
        bool_query["filter"] = filters
    if exclusions:
        bool_query["must_not"] = exclusions
    return {"bool": bool_query} if bool_query else {"match_all": {}}


@functools.lru_cache(256)  # the page and the total of a search have the same clauses
def _clauses(clause: Clause) -> list[Query]:
    """A positive clause is one query; a negated one gives a query for each way to hold."""
    ways = list(_branches(clause) if isinstance(clause, AnyOf) else _ways(clause))
    if clause.negated or len(ways) == 1:
        return ways
    return [any_of(ways)]


def _branches(alternatives: AnyOf) -> Iterable[Query]:
    for branch in alternatives.branches:
        if len(branch) == 1 and not branch[0].negated:
            yield from _ways(branch[0])
        else:
            yield _all_of(branch)


def any_of(ways: list[Query]) -> Query:
    """At least one must hold."""
    return {"bool": {"should": ways, "minimum_should_match": 1}}


def _ways(condition: Condition) -> Iterable[Query]:  # noqa: C901
    """Clauses of which at least one holds where the condition holds."""
    ask, values = condition.ask, condition.values
    match ask.kind:
        case Kind.FLAG:
            yield {"term": {"facts": ask.index}}
        case Kind.TERM if condition.field == "state":
            # "CA" is a state of that code anywhere, "US-CA" one of that country.
            yield from _terms("state", [value for value in values if "-" not in str(value)])
            yield from _terms("subdivision", [value for value in values if "-" in str(value)])
        case Kind.TERM | Kind.PATH:
            yield from _terms(ask.index, values)
        case Kind.LACKS:
            for value in values:
                yield {
                    "bool": {
                        "filter": [{"term": {"facts": "tech:known"}}],
                        "must_not": [{"term": {ask.index: value}}],
                    }
                }
        case Kind.TEXT:
            for value in values:
                yield {"match_phrase": {ask.index: value}}
                if isinstance(value, str) and _ONE_WORD.fullmatch(value):
                    yield {"match": {"parts": value}}
        case Kind.NUMBER:
            for value in values:
                if isinstance(value, Range):
                    yield {"range": {ask.index: _bounds(value)}}
        case Kind.TIME:
            # Later than the earliest is later than any.
            yield {"range": {ask.index: {"gt": min(v for v in values if isinstance(v, int)), "format": "epoch_millis"}}}
        case Kind.CHANGE:
            for value in values:
                if isinstance(value, Change):
                    yield _changed(ask.index, value)
        case Kind.AGE:
            raise ValueError("an age must be converted to a time before it is searched")


def _changed(field: str, change: Change) -> Query:
    if not change.fixed:
        raise ValueError("days before the search must be converted to a date before it is searched")
    numbers = changes_since(change.technology, change.days)
    # A technology that is not known has no history.
    return {"range": {field: {"gte": numbers.first, "lt": numbers.end}}} if numbers else {"match_none": {}}


def _terms(field: str, values: Iterable[Value]) -> Iterable[Query]:
    terms = list(values)
    if len(terms) == 1:
        yield {"term": {field: terms[0]}}
        return
    for start in range(0, len(terms), LAZY_TERMS):
        yield {"terms": {field: terms[start : start + LAZY_TERMS]}}


def _bounds(value: Range) -> dict[str, int]:
    bounds: dict[str, int] = {}
    if value.low is not None:
        bounds["gt" if value.above else "gte"] = value.low
    if value.high is not None:
        bounds["lt" if value.below else "lte"] = value.high
    return bounds
