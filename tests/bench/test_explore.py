"""The benchmark of the Explore page runs, on a few leads: every part of the page is seen and has a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import explore
from siteglass.access.accounts import Plan, set_plan
from testing.dashboard.explore import explore_leads
from testing.dashboard.visitors import cheaper_hashes, office


def test_every_part_of_the_page_has_a_time(tmp_path: Path, worker_id: str) -> None:
    with cheaper_hashes(), office(f"bench-explore-{worker_id}", tmp_path, explore_leads()) as made:
        # It searches faster than people do: a plan for people would end it.
        made.do(lambda postgres: set_plan(postgres, Plan("bench", 1_000, 1_000), actor="tests"))
        who = made.somebody(made.account(plan="bench", lead=10))
        # In a separate thread: the driver of the browser keeps a loop running in its own.
        with ThreadPoolExecutor(1) as pool:
            figures = pool.submit(explore.run, made.url, who.email, who.password, 1).result()
    assert set(figures["milliseconds"]) == set(explore.SENTENCES)
    for parts in figures["milliseconds"].values():
        assert 0 < parts["chips"]["median"] <= parts["filters"]["median"]
        assert parts["counts"]["median"] > 0
