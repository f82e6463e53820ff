"""A scan of a generation reads every lead once, in the order of domains."""

from __future__ import annotations

from pathlib import Path

import pytest

from siteglass.index import generations
from siteglass.index.compile import Query
from siteglass.index.index import Index
from siteglass.index.scanning import PAGE, scanned
from siteglass_demo.leads import generate
from testing.service import filled, run

LEADS = PAGE + 200


@pytest.mark.parametrize("filters", [[], [{"range": {"bucket": {"lt": 512}}}]])
def test_all_leads_are_read(tmp_path: Path, filters: list[Query]) -> None:
    leads = list(generate(LEADS, seed=12))
    settings = filled("scanning", leads, tmp_path)

    async def scan(index: Index) -> list[dict[str, object]]:
        name = await generations.live(index)
        assert name is not None
        return [hit async for hits in scanned(index, name, filters, timeout_ms=10_000) for hit in hits]

    found = run(settings, scan)
    domains = [hit["_id"] for hit in found]
    assert domains == sorted(lead.domain for lead in leads if not filters or lead.domain in domains)
    assert len(domains) == LEADS if not filters else 0 < len(domains) < LEADS
