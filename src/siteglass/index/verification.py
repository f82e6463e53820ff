"""Whether a generation may take the place of the live one: a report of checks, each with what it expected and found."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from siteglass.index import generations, mapping
from siteglass.index.administration import admin
from siteglass.index.compile import compile_criteria
from siteglass.index.generations import Generation
from siteglass.index.golden import GoldenSet, queries_of
from siteglass.index.index import Index
from siteglass.index.sampling import Pairs, sample, stored_versions
from siteglass.query.criteria import Criteria
from siteglass.query.directives import print_condition
from siteglass.query.fields import FIELDS

MAX_EXAMPLES = 5
# A field that few leads have rises by less than any tolerance when it is lost; this many tell.
LEAST_FILLED = 20
NEARLY_EMPTY = 0.1
QUERY_TRIES = 3


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What a generation may differ in, since leads expire, opt out and change; percent, points and leads."""

    least_count_percent: float = 90
    most_gone_percent: float = 5
    most_emptier_points: float = 5
    most_query_percent: float = 10
    most_refused_percent: float = 0.1
    """Of the leads of a rebuild, those that the engine did not take."""
    query_slack: int = 20
    """So many leads may a query differ whatever it counts."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    expected: str
    found: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Report:
    """All that was looked at."""

    generation: str
    live: str | None
    checks: list[Check]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


async def verify(index: Index, name: str, tolerances: Tolerances, golden: GoldenSet | None = None) -> Report:
    """Compare a generation with the live one; the first generation, and the live one itself, are checked alone."""
    generation = await generations.require(index, name)
    await generations.refresh(index, [name])
    live = await generations.live(index)
    live = None if live == name else live
    report = Report(name, live, await _laid_out(index, generation))
    if not all(check.ok for check in report.checks[:2]):
        return report  # with other fields, nothing else can be compared
    count = await _count(index, name, Criteria())
    if live is None:
        report.checks.append(Check("count", "at least one lead", f"{count:,}", count > 0))
    else:
        report.checks.extend(await _compared(index, name, live, count, tolerances))
    if golden is not None:
        report.checks.extend(await _golden(index, name, golden))
    return report


async def _laid_out(index: Index, generation: Generation) -> list[Check]:
    """Version and fields come first."""
    found = await admin(index, "GET", f"/{generation.name}/_mapping")
    differences = _differences(mapping.properties(), found[generation.name]["mappings"].get("properties", {}))
    expected, version = mapping.SCHEMA_VERSION, generation.schema_version
    told = "; ".join(differences[:MAX_EXAMPLES]) or "the same"
    writes = "yes" if generation.takes_writes else "no: changes do not reach it"
    finished = (
        "no: a rebuild is still filling it, or was killed; siteglass index drop" if generation.unfinished else "yes"
    )
    return [
        Check("schema", f"version {expected}", f"version {version}", version == expected),
        Check("fields", "the fields of this build", told, not differences),
        Check("health", "green or yellow", generation.health, generation.health in ("green", "yellow")),
        Check("takes writes", "yes", writes, generation.takes_writes),
        Check("finished", "yes", finished, not generation.unfinished),
    ]


def _differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    told = []
    for field in sorted(expected.keys() | found.keys()):
        if field not in found:
            told.append(f"{field} is missing")
        elif field not in expected:
            told.append(f"{field} is unknown to this build")
        elif (ours := _without_defaults(expected[field])) != (theirs := _without_defaults(found[field])):
            told.append(f"{field} is {theirs} instead of {ours}")
    return told


def _without_defaults(field: dict[str, Any]) -> dict[str, Any]:
    """A field as the engine returns it: without defaults."""
    return {
        key: {name: _without_defaults(inner) for name, inner in value.items()} if key == "properties" else value
        for key, value in field.items()
        if (key, value) != ("doc_values", True)
    }


async def _compared(index: Index, name: str, live: str, count: int, tolerances: Tolerances) -> list[Check]:
    live_count = await _count(index, live, Criteria())
    pairs = await sample(index, live, name, live_count)
    return [
        _count_check(count, live_count, tolerances),
        _gone_check(pairs, tolerances),
        _older_check(pairs),
        *await _empty_checks(index, name, live, live_count, pairs, tolerances),
        *await _query_checks(index, name, live, (live_count, count), pairs, tolerances),
    ]


def _count_check(count: int, live_count: int, tolerances: Tolerances) -> Check:
    least = max(1, round(live_count * tolerances.least_count_percent / 100))
    expected = f"at least {least:,}: {tolerances.least_count_percent:g} % of the live {live_count:,}"
    return Check("count", expected, f"{count:,}", count >= least)


def _gone_check(pairs: Pairs, tolerances: Tolerances) -> Check:
    share = 100 * len(pairs.gone) / max(len(pairs.live), 1)
    expected = f"at most {tolerances.most_gone_percent:g} % of {len(pairs.live):,} live leads gone"
    found = f"{share:.1f} % gone{such_as(pairs.gone)}"
    return Check("same leads", expected, found, share <= tolerances.most_gone_percent)


def _older_check(pairs: Pairs) -> Check:
    found = f"{len(pairs.older):,} older{such_as(pairs.older)}"
    return Check("versions", f"none of {len(pairs.other):,} leads older than in live", found, not pairs.older)


async def _empty_checks(
    index: Index, name: str, live: str, live_count: int, pairs: Pairs, tolerances: Tolerances
) -> list[Check]:
    """A row for each field that is refused, and one for all the others; what is only searched is counted, not seen."""
    ours = [pairs.live[domain].record for domain in pairs.other]
    theirs = [one.record for one in pairs.other.values()]
    leads = max(len(ours), 1)
    shares = [(field, _filled(ours, field) / leads, _filled(theirs, field) / leads, leads) for field in _shown()]
    await generations.refresh(index, [live, name])  # otherwise one shows new leads that the other does not show yet
    before, after = await _searchable(index, live), await _searchable(index, name)
    shares += [(field, before[field], after[field], live_count) for field in mapping.FILTER_ONLY]
    refused, rises = [], []
    for field, was, now, of in shares:
        rise = 100 * (was - now)
        told = f"{field}: {100 * (1 - was):.1f} % before, {100 * (1 - now):.1f} % now"
        if rise > tolerances.most_emptier_points or (was * of >= LEAST_FILLED and now < NEARLY_EMPTY * was):
            expected = f"{field} empty for at most {tolerances.most_emptier_points:g} points more leads, and not lost"
            refused.append(Check("empty field", expected, told, ok=False))
        else:
            rises.append((rise, told))
    largest = max(rises, default=(0.0, "none"))[1]
    expected = f"{len(rises)} fields empty for at most {tolerances.most_emptier_points:g} points more leads"
    return [*refused, Check("empty fields", expected, f"most for {largest}", ok=True)]


async def _searchable(index: Index, name: str) -> dict[str, float]:
    """The share of leads that have each field which is never shown; one request, so that writers cannot distort it."""
    counted = {field: {"filter": {"exists": {"field": field}}} for field in mapping.FILTER_ONLY}
    params = {"allow_partial_search_results": "false"}
    body = {"size": 0, "track_total_hits": True, "aggs": counted}
    answer = await admin(index, "POST", f"/{name}/_search", body, params)
    leads = max(answer["hits"]["total"]["value"], 1)
    return {field: answer["aggregations"][field]["doc_count"] / leads for field in mapping.FILTER_ONLY}


def _shown() -> list[str]:
    """The fields of a stored record that answers show; a dot leads into an object."""
    searched = [field.name for field in FIELDS if field.show is not None and field.show.search is not None]
    return [*searched, "emails_personal", "e.spending", "e.social_accounts"]


def _filled(records: list[dict[str, Any]], field: str) -> int:
    return sum(not _empty(record, field) for record in records)


def _empty(record: dict[str, Any], field: str) -> bool:
    value: Any = record
    for part in field.split("."):
        value = value.get(part) if value else None
    return value in (None, "", [], {})


async def _query_checks(
    index: Index, name: str, live: str, counts: tuple[int, int], pairs: Pairs, tolerances: Tolerances
) -> list[Check]:
    """A handful of queries; one that is off is asked again, since writers reach one generation after the other."""
    checks = []
    for made in queries_of(one.record for one in pairs.live.values()):
        for _ in range(QUERY_TRIES):
            await generations.refresh(index, [live, name])
            check = await _query_check(index, name, live, counts, made, tolerances)
            if check.ok:
                break
        checks.append(check)
    return checks


async def _query_check(
    index: Index, name: str, live: str, counts: tuple[int, int], criteria: Criteria, tolerances: Tolerances
) -> Check:
    """It may find as many leads as before, or as many more or fewer as the generation has."""
    before, after = await asyncio.gather(_count(index, live, criteria), _count(index, name, criteria))
    live_count, count = counts
    scaled = before * count / max(live_count, 1)
    room = tolerances.most_query_percent / 100
    least = max(0, round(min(before, scaled) * (1 - room)) - tolerances.query_slack)
    most = round(max(before, scaled) * (1 + room)) + tolerances.query_slack
    expected = f"{print_condition(criteria.conditions[0])}: {least:,} to {most:,}, live {before:,}"
    return Check("query", expected, f"{after:,}", least <= after <= most)


async def _golden(index: Index, name: str, golden: GoldenSet) -> list[Check]:
    checks = []
    if golden.domains:
        stored = await stored_versions(index, name, list(golden.domains))
        missing = [domain for domain in golden.domains if domain not in stored]
        expected = f"all {len(golden.domains):,} exist"
        checks.append(Check("golden domains", expected, f"{len(missing):,} missing{such_as(missing)}", not missing))
    for title, query, made in golden.compiled(index.clock.now_ms()):
        found = await _count(index, name, made)
        bounds = f"at least {query.least:,}" + ("" if query.most is None else f", at most {query.most:,}")
        ok = query.least <= found and (query.most is None or found <= query.most)
        checks.append(Check("golden query", f"{title}: {bounds}", f"{found:,}", ok))
    return checks


def such_as(domains: list[str]) -> str:
    """Some examples, as the end of a sentence."""
    return f", such as {', '.join(domains[:MAX_EXAMPLES])}" if domains else ""


async def _count(index: Index, name: str, criteria: Criteria) -> int:
    return await generations.count(index, name, compile_criteria(criteria))
