"""The demo as `make demo` loads it: as many leads as it says, and enough for the searches that it is made for."""

from __future__ import annotations

import httpx
import pytest

from testing.api_calls import search
from tests.docs.conftest import LEADS, Demo
from tests.test_demo_searches import MIN_LEADS, MIN_WITH_EMAIL, SEARCHES

pytestmark = pytest.mark.xdist_group("docs")
NIGHTLY = True


def test_the_demo_has_the_companies_among_its_leads(demo: Demo) -> None:
    headers = {"X-API-Key": demo.variables["API_KEY"]}
    with httpx.Client(base_url=demo.variables["BASE_URL"], headers=headers, timeout=90, trust_env=False) as client:
        assert search(client, {"limit": 1})["total_results"] == LEADS
        for sentence in SEARCHES:
            page = search(client, {"query": sentence, "limit": 100, "select": ["domain", "emails"]})
            assert page["total_results"] >= MIN_LEADS
            assert sum(bool(lead["emails"]) for lead in page["results"]) >= MIN_WITH_EMAIL
