"""Criteria to an OpenSearch query. A pure function: user text only ever becomes a term, a phrase or a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from siteglass.query.criteria import Condition, Criteria, Range, Value
from siteglass.query.field import Kind

# Up to this many terms, Lucene walks lazily; beyond it, Lucene collects all matches first. The cost of a page would
# then grow with the matches, so longer lists are split.
LAZY_TERMS = 16

Query = dict[str, Any]


def compile_criteria(criteria: Criteria, extra: Iterable[Query] = ()) -> Query:
    """The query of a search; `extra` filters are added after those of the criteria."""
    filters: list[Query] = []
    exclusions: list[Query] = []
    for condition in criteria.conditions:
        (exclusions if condition.negated else filters).extend(_clauses(condition))
    filters.extend(extra)
    clauses: Query = {}
    if filters:
        clauses["filter"] = filters
    if exclusions:
        clauses["must_not"] = exclusions
    return {"bool": clauses} if clauses else {"match_all": {}}


def _clauses(condition: Condition) -> list[Query]:
    """A positive condition is one clause; a negated one gives a clause for each way to hold."""
    ways = list(_ways(condition))
    if condition.negated or len(ways) == 1:
        return ways
    return [any_of(ways)]


def any_of(ways: list[Query]) -> Query:
    """At least one must hold."""
    return {"bool": {"should": ways, "minimum_should_match": 1}}


def _ways(condition: Condition) -> Iterable[Query]:
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
        case Kind.NUMBER:
            for value in values:
                if isinstance(value, Range):
                    yield {"range": {ask.index: _bounds(value)}}
        case Kind.TIME:
            # Later than the earliest is later than any.
            yield {"range": {ask.index: {"gt": min(v for v in values if isinstance(v, int)), "format": "epoch_millis"}}}
        case Kind.AGE:
            raise ValueError("an age must be converted to a time before it is searched")


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
