"""What came and went, by the store and by a plain look at all captures."""

from __future__ import annotations

import os
import random

import pyarrow as pa
import pytest

from siteglass.ingest.facts import FACTS_SCHEMA, PageFacts, to_batch
from siteglass.ingest.grouped import exploded, listed
from siteglass.ingest.store.folding import fold
from siteglass.ingest.technology_history import with_changes
from siteglass.query.criteria import MS_PER_DAY
from siteglass.query.technology_changes import decode_change

HISTORIES = 200 if os.environ.get("SITEGLASS_LONG") else 40
TECHNOLOGIES = ("Shopify", "Klaviyo", "Magento", "Home-made Shop 7")
URLS = ("https://a.example/", "https://a.example/contact", "https://a.example/shop")
FIRST_DAY = 20_000


def _capture(url: str, day: int, technologies: tuple[str, ...], number: int = 0) -> PageFacts:
    return PageFacts(
        domain="a.example",
        url=url,
        path=url.removeprefix("https://a.example"),
        is_home=url == URLS[0],
        kind="page",
        status=200,
        captured_at_ms=day * MS_PER_DAY + number,
        archive="archive",
        offset=number,
        digest=f"{number:016x}",
        technologies=technologies,
    )


def _changes(captures: list[PageFacts]) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    """As the merge finds them in the folded pages."""
    pages = fold(pa.Table.from_batches([to_batch(captures)], FACTS_SCHEMA))
    used = sorted({one for some in listed(pages, "technologies") for one in some})
    pages = pages.append_column("lead", pa.array([0] * pages.num_rows))
    pages = pages.append_column("place", pa.array(range(pages.num_rows)))
    made = with_changes(
        pa.table({"technologies": pa.array([used], pa.list_(pa.string()))}), pages, exploded(pages, "seen")
    )
    added, dropped = (
        {(change.technology, change.day) for change in map(decode_change, made.column(name)[0].as_py())}
        for name in ("added", "dropped")
    )
    return added, dropped


def _expected(captures: list[PageFacts]) -> tuple[set[tuple[str, int]], set[tuple[str, int]]]:
    by_page: dict[str, list[PageFacts]] = {}
    for one in sorted(captures, key=lambda one: one.captured_at_ms):
        by_page.setdefault(one.url, []).append(one)
    added, dropped = set(), set()
    for technology in TECHNOLOGIES[:3]:
        shown = [one for one in captures if technology in one.technologies]
        if not shown:
            continue
        first = min(one.captured_at_ms for one in shown)
        last = max(one.captured_at_ms for one in shown)
        if any(by_page[one.url][0].captured_at_ms < first for one in shown if one.captured_at_ms == first):
            added.add((technology, first // MS_PER_DAY))
        is_used = any(technology in pages[-1].technologies for pages in by_page.values())
        if not is_used:
            dropped.add((technology, last // MS_PER_DAY))
    return added, dropped


def test_a_technology_that_comes_and_one_that_goes() -> None:
    captures = [
        _capture(URLS[0], FIRST_DAY, ("Magento",)),
        _capture(URLS[0], FIRST_DAY + 10, ("Magento", "Shopify"), 1),
        _capture(URLS[0], FIRST_DAY + 20, ("Shopify",), 2),
        _capture(URLS[1], FIRST_DAY + 20, ("Klaviyo",), 3),  # a page that is new says nothing of when
    ]
    assert _changes(captures) == ({("Shopify", FIRST_DAY + 10)}, {("Magento", FIRST_DAY + 10)})


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_random_histories(seed: int) -> None:
    chance = random.Random(seed)
    captures = []
    for number in range(chance.randint(1, 25)):
        some = tuple(one for one in TECHNOLOGIES if chance.random() < 0.4)
        captures.append(_capture(chance.choice(URLS), FIRST_DAY + chance.randrange(60), some, number))
    assert _changes(captures) == _expected(captures)
