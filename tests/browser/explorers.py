"""People who search in a browser: a service that has leads, how they come in, and how their pages are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page

from siteglass.access.accounts import Plan, set_plan
from testing.dashboard.explore import explore_leads
from testing.dashboard.visitors import SESSION, Office, Somebody, cheaper_hashes, office
from tests.browser.accounts import session_of
from tests.browser.driving import Browse, Look, axe, fits, look_again

WIDE, WIDE_DARK = Look(1440, 900, "light"), Look(1440, 900, "dark")
PHONE, PHONE_DARK = Look(390, 844, "light"), Look(390, 844, "dark")
DENTISTS = "/dashboard/explore?q=dentists+in+Austin"


@pytest.fixture(scope="module")
def explorers(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str, request: pytest.FixtureRequest
) -> Iterator[Office]:
    """A service that has leads, with plans of both kinds of previews."""
    name = request.module.__name__.rpartition("test_")[2].replace("_", "-")
    with (
        cheaper_hashes(),
        office(f"{name}-browser-{worker_id}", tmp_path_factory.mktemp(name), explore_leads()) as made,
    ):
        for preview in ("masked", "named"):
            plan = Plan(f"browser-{preview}", 10_000, 10_000, preview=preview)
            made.do(partial(set_plan, plan=plan, actor="tests"))
        yield made


def somebody(explorers: Office, preview: str = "masked", lead: int = 300) -> Somebody:
    return explorers.somebody(explorers.account(plan=f"browser-{preview}", lead=lead), "member", "Tom Okafor")


def enter(browse: Browse, explorers: Office, who: Somebody, path: str, look: Look = WIDE) -> Page:
    page = browse.open(explorers.url, look, cookies={SESSION: session_of(explorers, who)})
    page.goto(path)
    return page


def look_at(page: Page) -> None:
    """In all ways: nothing is cut off, and axe-core finds nothing."""
    size = page.viewport_size
    assert size is not None
    for look in (WIDE, WIDE_DARK, PHONE, PHONE_DARK):
        look_again(page, look)
        axe(page, rules=["color-contrast"] if look.scheme == "dark" else ())
        fits(page)
    look_again(page, Look(size["width"], size["height"], "light"))
