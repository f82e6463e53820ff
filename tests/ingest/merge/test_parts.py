"""The parts of a merge without Spark: blocks in any order, however little is held, make the leads of a plain merge."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.ingest.blocks import dealt, parts_of, unpacked
from siteglass.ingest.captures import MAX_PAGES, CaptureCollector, believable, best_pages, checked, lightened, speaks
from siteglass.ingest.content import PREVIOUS_SCHEMA
from siteglass.ingest.facts import PageFacts, to_batch
from siteglass.ingest.part_writer import Finishing
from testing.random_facts import plain_page, random_facts
from tests.ingest.merge.reference_merge import Evidence, merged
from tests.ingest.stand_in_rules import RULES

STAND_IN = "tests.ingest.stand_in_rules:RULES"
PARTS = 3


def _table(facts: list[PageFacts]) -> pa.Table:
    return pa.Table.from_batches([to_batch(facts)])


def _blocks(chance: random.Random, facts: list[PageFacts]) -> list[tuple[int, bytes]]:
    """Blocks of files of several sizes, in any order."""
    files = [facts[:7], facts[7:200], facts[200:]]
    blocks = [block for file in files for block in dealt(lightened(believable(_table(file)), RULES.priority), PARTS)]
    chance.shuffle(blocks)
    return blocks


def _merged(folder: Path, blocks: list[tuple[int, bytes]], max_bytes: int) -> tuple[list[Lead], list[Evidence]]:
    finishing = Finishing(folder, STAND_IN, None)
    for number in range(PARTS):
        gathering = CaptureCollector(RULES.priority, max_bytes)
        for part, block in blocks:
            if part == number:
                gathering.add(unpacked(block))
        finishing.part(number, gathering.captures(), PREVIOUS_SCHEMA.empty_table())
    leads = [lead for path in folder.glob("*.parquet") for _, group in read_parquet(path) for lead in group]
    rows = [row for path in folder.glob("*.evidence") for row in pq.read_table(path).to_pylist()]
    return sorted(leads, key=lambda lead: lead.domain), sorted(Evidence(**row) for row in rows)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_bytes", [1, 200_000, 10**9])
def test_the_same_leads_as_a_plain_merge(tmp_path: Path, seed: int, max_bytes: int) -> None:
    chance = random.Random(seed)
    facts = random_facts(chance, 60, crowd=400)
    leads, evidence, _ = merged(facts, RULES)
    assert _merged(tmp_path, _blocks(chance, facts), max_bytes) == (leads, evidence)


def test_only_a_home_page_keeps_its_site_out(tmp_path: Path) -> None:
    facts = [
        plain_page("both.de"),
        plain_page("both.de", "/imprint", noindex=True),
        plain_page("shown.de", "/imprint", noindex=True),
        plain_page("unlisted.de", noindex=True),
        plain_page("unlisted.de", "/imprint"),
    ]
    leads, _ = _merged(tmp_path, _blocks(random.Random(1), facts), 10**9)
    assert [lead.domain for lead in leads] == ["both.de", "shown.de"]


def test_a_crowd_is_moved_without_the_content_of_pages_that_nobody_reads() -> None:
    facts = random_facts(random.Random(1), 5, crowd=5_000)
    captures = _table(facts)
    light = lightened(captures, RULES.priority)
    assert light.num_rows == captures.num_rows
    assert light.nbytes < captures.nbytes / 4
    crowd = light.filter(speaks(light))
    with_text = crowd.filter(crowd.column("text").is_valid()).column("domain").to_pylist()
    assert with_text.count("crowd.example") == MAX_PAGES
    unlisted = light.filter(pa.array([domain == "unlisted.example" for domain in light.column("domain").to_pylist()]))
    assert (unlisted.num_rows, unlisted.column("text").null_count) == (5_000, 5_000 - MAX_PAGES)


def test_a_page_that_was_fetched_twice_does_not_lose_its_content() -> None:
    """Of rows that are equal in all but that one has its content, whichever comes first, that one stands."""
    crowd = [one for one in random_facts(random.Random(3), 1, crowd=300) if one.domain == "crowd.example"]
    facts = [one for one in crowd if not one.noindex]
    twice = _table([*facts, *facts])
    light = lightened(twice, RULES.priority)
    for order in (range(len(twice)), reversed(range(len(twice)))):
        rows = light.take(list(order))
        best = best_pages(rows, np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64), RULES.priority)
        assert rows.column("text").take(best.column("row")).null_count == 0


def test_facts_that_are_no_facts_are_named() -> None:
    table = _table(random_facts(random.Random(1), 2))
    nothing = pa.nulls(table.num_rows, pa.string())
    broken = table.set_column(table.schema.get_field_index("kind"), "kind", nothing)
    with pytest.raises(ValueError, match=r"some\.parquet: kind is null in a row\. Extract this file again"):
        checked(broken, "some.parquet")


def test_the_part_of_a_domain_never_changes() -> None:
    """Files of a run are compared with those of the run before, on another machine perhaps."""
    domains = pa.array(["one.example", "two.example", "münchen.example", "one.example"])
    assert parts_of(domains, 1_000).tolist() == [807, 548, 235, 807]
