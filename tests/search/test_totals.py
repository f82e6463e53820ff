"""A total that cannot be counted in time is estimated from a sample, and says so on every page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from siteglass.settings import Settings
from testing.service import serving


@pytest.mark.promise("setting.total_exact_ms", "total.estimated")
def test_an_estimated_total_is_near_and_marked(live_settings: Settings) -> None:
    body = {"wrapped_query": "@has_email", "limit": 5}
    with serving(live_settings) as client:
        exact = client.post("/v1/leads/search", json=body)
    with serving(replace(live_settings, total_exact_ms=0)) as client:
        estimated = client.post("/v1/leads/search", json=body)
        second = client.post(estimated.json()["next"], json={})
    assert "X-Total-Estimated" not in exact.headers
    assert estimated.headers["X-Total-Estimated"] == "true"
    assert second.headers["X-Total-Estimated"] == "true"
    # 1 of 64 leads is counted: about 200 here, so that 20 % is three standard deviations.
    total = exact.json()["total_results"]
    assert abs(estimated.json()["total_results"] - total) < 0.2 * total
    assert estimated.json()["total_results"] % 64 == 0
    assert second.json()["total_results"] == estimated.json()["total_results"]
    assert estimated.json()["results"] == exact.json()["results"]
