"""`@added` and `@dropped` match exactly the leads that a scan of random histories matches."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.query.criteria import AnyOf, Change, Clause, Condition, Criteria, criteria
from siteglass.query.directives import print_criteria
from siteglass.query.technology_changes import encode_change, numbered_technologies
from testing.reference_scan import matching
from testing.service import filled, serving

LONG = bool(os.environ.get("SITEGLASS_LONG"))
HISTORIES = 200 if LONG else 40
SEARCHES = 600 if LONG else 120
TODAY = 20_774
# Neighbours by number, the first and the last: a range that is one too wide finds the next technology.
TECHNOLOGIES = (*numbered_technologies()[:3], "Klaviyo", "Magento", "Shopify", *numbered_technologies()[-3:])
# Beside days of the last weeks, those at both ends of the scale.
DAYS = (0, 1, TODAY - 31, TODAY - 30, TODAY - 29, TODAY - 1, TODAY, 65_534, 65_535)

pytestmark = pytest.mark.no_cover


def _history(draw: random.Random, technologies: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Each technology comes and goes, up to five times; some have no history."""
    added: list[int] = []
    dropped: list[int] = []
    for technology in draw.sample(technologies, draw.randint(0, 5)):
        days = sorted(draw.sample([*DAYS, *range(TODAY - 100, TODAY - 40)], draw.randint(1, 5)))
        for number, day in enumerate(days):
            (dropped if number % 2 else added).append(encode_change(technology, day))
    return added, dropped


@pytest.fixture(scope="module")
def histories() -> list[Lead]:
    draw = random.Random(30)
    leads = []
    for number in range(HISTORIES):
        added, dropped = _history(draw, TECHNOLOGIES)
        lead = Lead(
            domain=f"site-{number}.example",
            crawled_at_ms=1_790_000_000_000,
            score=draw.randint(0, 100),
            added=tuple(added),
            dropped=tuple(dropped),
        )
        leads.append(lead)
    return leads


@pytest.fixture(scope="module")
def service(histories: list[Lead], tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[httpx.Client]:
    settings = filled(f"histories-{worker_id}", histories, tmp_path_factory.mktemp("histories"))
    with serving(settings) as client:
        yield client


def _condition(draw: random.Random) -> Condition:
    names = draw.sample([*TECHNOLOGIES, "frobnicator"], draw.choice((1, 1, 2, 3)))
    window = draw.choice([*DAYS, draw.randint(TODAY - 100, TODAY)])
    changes = tuple(Change(name, window if draw.random() < 0.7 else draw.choice(DAYS), fixed=True) for name in names)
    return Condition(draw.choice(("added", "dropped")), changes, negated=draw.random() < 0.3)


def _clause(draw: random.Random) -> Clause:
    if draw.random() < 0.7:
        return _condition(draw)
    branches = tuple(tuple(_condition(draw) for _ in range(draw.randint(1, 2))) for _ in range(draw.randint(1, 3)))
    return AnyOf(branches, negated=draw.random() < 0.3)


@pytest.mark.promise("changes.scanned")
def test_searches_for_changes_match_what_a_scan_matches(service: httpx.Client, histories: list[Lead]) -> None:
    draw = random.Random(31)
    matched = 0
    for _ in range(SEARCHES):
        search: Criteria = criteria(_clause(draw) for _ in range(draw.choice((1, 1, 2))))
        expected = {lead.domain for lead in matching(search, histories)}
        matched += 0 < len(expected) < len(histories)
        text = print_criteria(search)
        found: set[str] = set()
        page = service.post("/v1/leads/search", json={"wrapped_query": text, "limit": 100, "select": ["domain"]}).json()
        assert page["total_results"] == len(expected), text
        while True:
            found.update(record["domain"] for record in page["results"])
            if page["next"] is None:
                break
            page = service.post(page["next"], json={}).json()
        assert found == expected, text
    assert matched > SEARCHES // 2
