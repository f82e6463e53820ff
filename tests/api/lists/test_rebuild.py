"""A rebuilt index keeps the numbers of leads, so lists select the same leads in it."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index.rebuild import RebuildPlan, rebuild
from siteglass.settings import Settings
from testing.api_calls import SEARCH, answered
from testing.customers import Bank
from testing.service import run, serving, settings_for
from tests.api.lists.test_200 import created


def _rebuild(settings: Settings, *sources: Path) -> None:
    plan = RebuildPlan(generations.Shape(), verify=False, promote=True, keep=1)
    run(settings, lambda index: rebuild(index, sources, plan))


def _file(path: Path, domains: list[str]) -> Path:
    write_parquet(path, [Lead(domain=domain, crawled_at_ms=1_790_000_000_000) for domain in domains])
    return path


@pytest.mark.promise("list.rebuild")
def test_lists_after_a_rebuild(tmp_path: Path) -> None:
    made = settings_for(f"lists-{secrets.token_hex(4)}")
    settings = replace(made, lead_store=tmp_path / "store")
    _rebuild(settings, _file(tmp_path / "first.parquet", ["a.com", "b.com", "c.com", "d.com"]))
    with serving(settings) as client:
        bank = Bank(settings, str(client.base_url))
        customer = bank.customer(lead=10)
        created(customer, "mine", ["b.com", "d.com", "e.com"])

        def shown(**lists: list[str]) -> list[str]:
            page = answered(customer.post(SEARCH, {"sort": "domain", **lists}))
            return [record["domain"] for record in page["results"]]

        assert shown(exclude_lists=["mine"]) == ["a.com", "c.com"]
        more = _file(tmp_path / "second.parquet", ["0.com", "e.com", "d.com"])
        _rebuild(settings, more, settings.lead_store)
        assert shown(exclude_lists=["mine"]) == ["0.com", "a.com", "c.com"]
        assert shown(only_lists=["mine"]) == ["b.com", "d.com"]  # e.com is new, and numbered within minutes
        bank.close()
