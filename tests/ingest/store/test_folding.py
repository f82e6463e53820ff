"""Folding captures to pages: the same as in plain Python, in any order and in any number of steps."""

from __future__ import annotations

import random

import msgspec
import pyarrow as pa
import pytest

from siteglass.ingest.captures import newest_ms
from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, from_table, to_batch
from siteglass.ingest.store.folding import current, fold
from testing.random_facts import START_MS, random_facts
from tests.ingest.store.reference_fold import folded


def table_of(facts: list[PageFacts]) -> pa.Table:
    return pa.Table.from_batches([to_batch(facts)], FACTS_SCHEMA)


def random_captures(chance: random.Random, domains: int = 30) -> list[PageFacts]:
    """Captures of few pages at few times, of all kinds, no two of which are the same capture."""
    found = []
    for number, one in enumerate(random_facts(chance, domains)):
        kind = chance.choice(("empty", one.kind, one.kind, one.kind))
        status = chance.choice((0, 404, 410, 500)) if kind == "failed" else 200
        at_ms = START_MS + chance.randrange(12) * 1_000
        found.append(msgspec.structs.replace(one, kind=kind, status=status, captured_at_ms=at_ms, offset=number))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_the_same_as_in_plain_python(seed: int) -> None:
    captures = random_captures(random.Random(seed))
    assert from_table(fold(table_of(captures))) == folded(captures)


@pytest.mark.parametrize("seed", range(10))
def test_order_and_steps_do_not_matter(seed: int) -> None:
    chance = random.Random(seed)
    captures = random_captures(chance)
    expected = folded(captures)
    for _ in range(5):
        chance.shuffle(captures)
        cut, again = sorted(chance.sample(range(len(captures)), 2))
        first = fold(table_of(captures[:cut]))
        second = fold(pa.concat_tables([table_of(captures[cut:again]), first]))
        parts = [fold(table_of(captures[again:])), second]
        chance.shuffle(parts)
        whole = fold(pa.concat_tables(parts))
        assert from_table(whole) == expected
        assert from_table(fold(whole)) == expected


def _capture(at: int, kind: str = "page", status: int = 200, **values: object) -> PageFacts:
    given: dict[str, object] = {
        "domain": "one.example",
        "url": "https://one.example/contact",
        "path": "/contact",
        "is_home": False,
        "kind": kind,
        "status": status,
        "captured_at_ms": at,
        "archive": f"{at}.warc.gz",
        "offset": 0,
        "digest": f"{at}",
    }
    return msgspec.convert(given | values, PageFacts)


def _kind(*captures: PageFacts) -> str:
    (page,) = from_table(current(fold(table_of(list(captures)))))
    return page.kind


def test_when_a_page_is_gone() -> None:
    page = _capture(10)
    assert _kind(page, _capture(20, "failed", 500)) == "page"
    assert _kind(page, _capture(20, "failed", 500), _capture(30, "soft_404")) == "page"
    assert _kind(page, _capture(20, "failed", 500), _capture(30, "soft_404"), _capture(40, "empty")) == "failed"
    assert _kind(page, _capture(20, "failed", 404)) == "failed"
    assert _kind(page, _capture(20, "failed", 410)) == "failed"
    assert _kind(page, _capture(20, "redirect", 301)) == "redirect"
    # It was there again since.
    assert _kind(_capture(20, "failed", 404), _capture(30)) == "page"
    assert _kind(*(_capture(at, "failed", 500) for at in (11, 12, 13)), _capture(14)) == "page"
    # Older failures say nothing.
    assert _kind(page, _capture(5, "failed", 404)) == "page"


def test_the_newest_fact_may_be_a_miss() -> None:
    pages = fold(table_of([_capture(10), _capture(20, "failed", 500), _capture(5)]))
    assert newest_ms(pages).tolist() == [20]
    (page,) = from_table(pages)
    assert (page.captured_at_ms, page.first_captured_ms, page.last_captured_ms) == (10, 5, 10)
