"""A part of the index is unavailable: its domains are `error` items that cost nothing, the others are answered."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from siteglass.billing.credits import Mark
from siteglass.corpus.lead_files import write_parquet
from siteglass.index.generations import Shape
from testing.api_calls import ENRICH, refused
from testing.customers import STOCK, Bank
from testing.private_engines import PrivateEngines
from testing.service import fill, serving, settings_for

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("private-engines")]
DOMAINS = [lead.domain for lead in STOCK[:20]]


@contextlib.contextmanager
def _without_shard(engine: httpx.Client, index: str, shard: int) -> Iterator[None]:
    """The only copy of a shard is missing and no recovery may begin; at the end the index is deleted."""
    recoveries = "cluster.routing.allocation.node_initial_primaries_recoveries"
    engine.put("/_cluster/settings", json={"transient": {recoveries: 0}}).raise_for_status()
    (node,) = engine.get("/_nodes").raise_for_status().json()["nodes"]
    cancel = {"index": index, "shard": shard, "node": node, "allow_primary": True}
    try:
        engine.post("/_cluster/reroute", json={"commands": [{"cancel": cancel}]}).raise_for_status()
        assert engine.get(f"/_cluster/health/{index}").json()["unassigned_shards"] == 1
        yield
    finally:
        engine.delete(f"/{index}").raise_for_status()
        engine.put("/_cluster/settings", json={"transient": {recoveries: None}}).raise_for_status()


@pytest.mark.promise("status.error", "domain.failed", "domain.not_charged")
def test_error_items_are_free(bank: Bank, private_engines: PrivateEngines, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{private_engines.get('opensearch').port}"
    settings = settings_for("half-away", opensearch_urls=(url,))
    write_parquet(tmp_path / "leads.parquet", STOCK)
    index, _ = fill(settings, tmp_path / "leads.parquet", Shape(shards=2))
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as engine, serving(settings) as client:
        on_first = engine.get(f"/{index}/_search", params={"preference": "_shards:0", "size": 100}).json()["hits"]
        lost = {hit["_id"] for hit in on_first["hits"]} & set(DOMAINS)
        assert 0 < len(lost) < len(DOMAINS)
        customer = bank.customer(api=5, lead=50)
        charged = [(domain, Mark.CHARGED) for domain in DOMAINS if domain not in lost]
        with _without_shard(engine, index, shard=0):
            made = customer.pays(ENRICH, {"domains": DOMAINS, "select": ["domain"]}, "enrich", 1, charged, client)
            # With nothing looked up there is nothing to answer.
            with customer.untouched():
                refused(customer.post(ENRICH, {"domains": sorted(lost)}, client), 503, "UNAVAILABLE")
        for domain, item in zip(DOMAINS, made["results"], strict=True):
            if domain in lost:
                assert set(item) == {"status", "domain", "message"}
                assert (item["status"], item["domain"]) == ("error", domain)
                assert "failed" in item["message"]
            else:
                assert item == {"status": "success", "domain": domain, "data": {"domain": domain}}
