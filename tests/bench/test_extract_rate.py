"""A small size of `make long-extract`: all facts of a page cost no more than they did, against bare parsing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.extract_rate import bare, per_page_ms, whole
from siteglass_demo.sites import sites, write_warc
from testing.outcomes import judge_times

NIGHTLY = True

SITES, SEED, ROUNDS = 40, 3, 3
# 5 when it was written, on a quiet machine.
MOST_TIMES_BARE = 10


@pytest.mark.timing
def test_facts_against_bare_parsing(tmp_path: Path) -> None:
    archive = tmp_path / "sites.warc.gz"
    write_warc(archive, sites(SITES, SEED), seed=SEED)
    per_page_ms(whole, archive)  # rules and tables are made once
    rounds = [(per_page_ms(bare, archive), per_page_ms(whole, archive)) for _ in range(ROUNDS)]
    judge_times(min(facts for _, facts in rounds) <= MOST_TIMES_BARE * min(parsed for parsed, _ in rounds), rounds)
