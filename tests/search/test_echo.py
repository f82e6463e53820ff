"""Sending `filters` back repeats the search: same total, same domains; a filter comes back as it was sent.

Only the days of `added` and `dropped` come back as a date: days would mean another search tomorrow.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siteglass.query.criteria import Criteria
from siteglass.query.directives import print_criteria
from testing.strategies import filter_bodies, said_by_directives

SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]

# Thousands of times over the same lines: what they cover, others cover, and counting it doubles their time.
pytestmark = pytest.mark.no_cover


@pytest.mark.promise("echo.repeats")
@settings(max_examples=300, deadline=None, suppress_health_check=SLOW_DRAWS)
@given(filter_bodies(3), st.one_of(st.just(Criteria()), said_by_directives()))
def test_filters_sent_back_repeat_the_search(client: httpx.Client, body: dict[str, Any], criteria: Criteria) -> None:
    sent = {**body, "wrapped_query": print_criteria(criteria), "limit": 100}
    first = client.post("/v1/leads/search", json=sent)
    assert first.status_code == 200, (sent, first.text)
    filters = first.json()["filters"]
    for name, value in body.items():
        if name in ("added", "dropped") and value[-1].endswith("d"):
            assert filters[name][:-1] == value[:-1]
        elif value is not False:
            assert filters[name] == value
    again = client.post("/v1/leads/search", json={**filters, "limit": 100}).json()
    assert again["filters"] == filters
    assert again["total_results"] == first.json()["total_results"]
    assert [record["domain"] for record in again["results"]] == [r["domain"] for r in first.json()["results"]]
