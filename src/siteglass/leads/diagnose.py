"""Operation 5: why a search finds few leads or none: what each condition removes, and the smallest useful changes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import quote

from msgspec import Meta

from siteglass.errors import Unavailable
from siteglass.index import counting
from siteglass.index.compile import Extra, compile_criteria
from siteglass.index.index import Index
from siteglass.leads.interpret import notes_on_search
from siteglass.leads.lists.selection import NO_NAMES, ListNames
from siteglass.leads.responses import EchoedFilters, NoteOnConditions
from siteglass.query.body import Meaning
from siteglass.query.criteria import MAX_CONDITIONS, Clause, Criteria
from siteglass.query.filters import describe_clause, write_filters
from siteglass.query.notes import MAX_NOTES
from siteglass.query.relaxations import (
    MAX_RELAXED,
    MAX_SHOWN,
    Relaxation,
    relaxations,
    relaxed_conditions,
    single_relaxations,
    smallest,
)
from siteglass.suppression.filter import SuppressionFilter
from siteglass.web.messages import Count, ResponseBody

HINT_HEADER = "X-Query-Hint"
# An empty page waits no longer than this for its hint.
HINT_TIMEOUT_MS = 500
_MAX_HINT_CHARS = 200
# Visible ASCII and the blank, without the percent sign itself.
_PLAIN = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")

# --- declared -----------------------------------------------------------------------------------

_LATE = "null if it was not counted in time"


class ConditionEffect(ResponseBody):
    """A condition, and what it does to the search."""

    directive: Annotated[
        str,
        Meta(
            description="The condition as a line of `wrapped_query`. A score outside 1 to 90, which a line cannot "
            "express, is written as a filter: `seo_score: >95`."
        ),
    ]
    matches: Annotated[Count, Meta(description=f"Leads that meet this condition alone; {_LATE}.")] | None
    removes: (
        Annotated[
            Count,
            Meta(description=f"Leads that only this condition removes: the search finds these without it; {_LATE}."),
        ]
        | None
    )


class ReplacedCondition(ResponseBody):
    """A condition with unknown values, and the same with known ones."""

    directive: Annotated[str, Meta(description="The condition of the search.")]
    by: Annotated[str, Meta(description="The same with the nearest known values.")]


class RelaxedSearch(ResponseBody):
    """A change of the search that gives it results."""

    drop: Annotated[list[str], Meta(max_length=MAX_CONDITIONS, description="Conditions to leave out.")]
    replace: Annotated[
        list[ReplacedCondition], Meta(max_length=MAX_RELAXED, description="Conditions to write differently.")
    ]
    total_results: Annotated[int, Meta(ge=1, description="How many leads the changed search finds.")]
    filters: Annotated[EchoedFilters, Meta(description="The changed search. Send it as the body of a search.")]


class DiagnoseResponse(ResponseBody):
    """Why a search finds few leads or none."""

    total_results: Annotated[Count, Meta(description=f"How many leads match; {_LATE}.")] | None
    conditions: Annotated[
        list[ConditionEffect],
        Meta(
            max_length=MAX_CONDITIONS,
            description=f"All conditions, with their effects; of the first {MAX_RELAXED}, the others have null.",
        ),
    ]
    relaxations: Annotated[
        list[RelaxedSearch],
        Meta(
            max_length=MAX_SHOWN,
            description="If the search finds no lead: the smallest changes that give it results. Those that drop the "
            "fewest conditions come first, and of these, those that find the most leads.",
        ),
    ]
    notes: Annotated[
        list[NoteOnConditions],
        Meta(
            max_length=MAX_NOTES,
            description="Values that are not known, with the nearest known ones, and conditions that contradict each "
            "other.",
        ),
    ]


# --- counted ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was counted of a search; None: not in time."""

    total: int | None
    matches: dict[Clause, int | None]
    without: dict[Clause, int | None]
    found: list[tuple[Relaxation, Criteria, int]]
    """The smallest changes that give results, each with the changed search and what it finds."""


async def diagnose(
    index: Index, hidden: SuppressionFilter, meaning: Meaning, listed: tuple[Extra, ...] = ()
) -> Diagnosis:
    """Count what each condition does and what each relaxation finds, in one request."""
    now_ms, search = index.clock.now_ms(), meaning.said
    clauses = relaxed_conditions(search)
    alone = [Criteria((clause,)) for clause in clauses]
    without = [Relaxation(frozenset((clause,))).apply(search) for clause in clauses]
    changes = {change: change.apply(search) for change in relaxations(search)}
    try:
        async with asyncio.timeout(index.settings.request_timeout_ms / 1000):
            await hidden.require_fresh()
            totals = await _count(index, now_ms, [search, *alone, *without, *changes.values()], listed)
    except TimeoutError as error:
        raise Unavailable("the matches were not counted before the request's deadline") from error
    return Diagnosis(
        totals[search],
        {clause: totals[one] for clause, one in zip(clauses, alone, strict=True)},
        {clause: totals[one] for clause, one in zip(clauses, without, strict=True)},
        _found(changes, totals, now_ms) if totals[search] == 0 else [],
    )


async def _count(
    index: Index, now_ms: int, searches: Sequence[Criteria], listed: tuple[Extra, ...]
) -> dict[Criteria, int | None]:
    """How many leads each search finds; ages count from now."""
    distinct = list(dict.fromkeys(searches))
    queries = [compile_criteria(one.fixed_at(now_ms), listed) for one in distinct]
    timeout_ms = index.settings.total_exact_ms or index.settings.search_timeout_ms
    return dict(zip(distinct, await counting.count_many(index, queries, timeout_ms), strict=True))


def _found(
    changes: dict[Relaxation, Criteria], totals: dict[Criteria, int | None], now_ms: int
) -> list[tuple[Relaxation, Criteria, int]]:
    counted = {change: totals[changed] or 0 for change, changed in changes.items()}
    return [(change, changes[change].fixed_at(now_ms), counted[change]) for change in smallest(counted)]


def diagnose_response(meaning: Meaning, diagnosis: Diagnosis, lists: ListNames = NO_NAMES) -> DiagnoseResponse:
    """The effects in the order of the conditions, and the changes that help."""
    return DiagnoseResponse(
        total_results=diagnosis.total,
        conditions=[_effect(clause, diagnosis) for clause in meaning.said.conditions],
        relaxations=[_relaxed(*found, lists) for found in diagnosis.found],
        notes=notes_on_search(meaning),
    )


def _effect(clause: Clause, diagnosis: Diagnosis) -> ConditionEffect:
    without = diagnosis.without.get(clause)
    removes = None if without is None or diagnosis.total is None else max(0, without - diagnosis.total)
    return ConditionEffect(directive=describe_clause(clause), matches=diagnosis.matches.get(clause), removes=removes)


def _relaxed(change: Relaxation, changed: Criteria, total: int, lists: ListNames) -> RelaxedSearch:
    return RelaxedSearch(
        drop=sorted(map(describe_clause, change.dropped)),
        replace=[
            ReplacedCondition(directive=describe_clause(one.condition), by=describe_clause(one.by))
            for one in change.replaced
        ],
        total_results=total,
        filters={**write_filters(changed), **lists.sent},
    )


# --- in short, for an empty page ----------------------------------------------------------------


async def hint_headers(index: Index, meaning: Meaning, listed: tuple[Extra, ...] = ()) -> dict[str, str]:
    """The header of an empty page that names the smallest change that helps; none if that is not known in time."""
    now_ms, search = index.clock.now_ms(), meaning.said
    changes = {change: change.apply(search) for change in single_relaxations(search)}
    if not changes:
        return {}
    try:
        async with asyncio.timeout(HINT_TIMEOUT_MS / 1000):
            totals = await _count(index, now_ms, list(changes.values()), listed)
    except (TimeoutError, Unavailable):
        return {}
    found = _found(changes, totals, now_ms)
    return {HINT_HEADER: _hint(*found[0])} if found else {}


def _hint(change: Relaxation, _changed: Criteria, total: int) -> str:
    """For people, in the characters that a header may have: others are percent-encoded."""
    leads = "1 lead matches" if total == 1 else f"{total} leads match"
    if change.replaced:
        written = ", ".join(describe_clause(one.by) for one in change.replaced)
        text = f"{leads} with {written}"
    else:
        text = f"{leads} without {', '.join(map(describe_clause, change.dropped))}"
    return quote(text[:_MAX_HINT_CHARS], safe=_PLAIN)
