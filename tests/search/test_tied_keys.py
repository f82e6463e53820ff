"""Leads with the same sort key: pages show each of them once, in the order of their domains."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.index import documents
from siteglass.index.documents import SortKeys, sort_keys
from siteglass.index.pages import UNKNOWN_RANK
from siteglass.query.fields import SORTS
from siteglass_demo.leads import generate
from testing.service import filled, serving
from tests.search.test_pages import domains, walk

LEADS = 50
# Ties at every place of a page: most keys belong to several leads, and some to more than a page has.
KEYS = (0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 8, 9)
ORDER = {"-score": "rank", "score": "rank", "-spending": "spending_rank", "-crawled_at": "crawled_rank"}


def _tied(lead: Lead) -> SortKeys:
    """The keys of a lead with the same hash for many domains. Every third lead has no score."""
    keys = sort_keys(lead)
    tie = KEYS[keys.bucket % len(KEYS)]
    return keys._replace(rank=tie + (UNKNOWN_RANK if keys.bucket % 3 == 0 else 0), spending_rank=tie, crawled_rank=tie)


@pytest.fixture(scope="module")
def tied_leads() -> list[Lead]:
    return list(generate(LEADS, seed=77))


@pytest.fixture(scope="module")
def tied(tied_leads: list[Lead], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The service over leads that were written with such keys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "sort_keys", _tied)
        settings = filled("tied", tied_leads, tmp_path_factory.mktemp("tied"))
    with serving(settings) as client:
        yield client


@pytest.mark.parametrize("limit", [1, 3, 8])
@pytest.mark.parametrize("sort", SORTS)
def test_a_walk_there_and_back_meets_each_lead_once(
    tied: httpx.Client, tied_leads: list[Lead], sort: str, limit: int
) -> None:
    def place(lead: Lead) -> tuple[bool, int, str]:
        key = getattr(_tied(lead), ORDER[sort]) if sort in ORDER else 0
        return (sort == "score" and key < UNKNOWN_RANK, key, lead.domain)

    expected = [lead.domain for lead in sorted(tied_leads, key=place, reverse=sort == "score")]
    body = {"limit": limit, "sort": sort, "select": ["domain"]}
    forward = walk(tied, body, "next")
    assert domains(forward, set(expected)) == expected
    assert [page["size"] for page in forward[:-1]] == [limit] * (len(forward) - 1)
    back = walk(tied, body, "previous", forward[-1]["previous"])
    assert domains([*reversed(back), forward[-1]], set(expected)) == expected
