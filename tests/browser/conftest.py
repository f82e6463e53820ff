"""One browser for all tests here, which run in its thread, and pages that are watched.

A test that asks for `browse` runs in the thread of the browser, its fixtures in the main one. The fixtures drive the
browser only through `stage.do`. All of these tests go to one worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

import browser as chromium
from siteglass.access.accounts import Plan, set_plan
from siteglass.corpus.lead import Lead
from siteglass.settings import Settings
from testing.dashboard.visitors import Office, cheaper_hashes
from testing.mails import Outbox
from testing.service import SECRET, serving
from tests.browser.accounts import Furnished, furnish
from tests.browser.driving import Browse, Stage
from tests.suppression.world import world

LEAD = Lead(
    domain="looked-at.com",
    crawled_at_ms=1_790_000_000_000,
    title="A site to look at",
    emails=("jo@looked-at.com", "kim@looked-at.com"),
    country="USA",
)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    if "browse" not in pyfuncitem.fixturenames:
        return (yield)
    browse, test = pyfuncitem.funcargs["browse"], pyfuncitem.obj
    assert isinstance(browse, Browse)
    pyfuncitem.obj = lambda **given: browse.stage.do(lambda: test(**given))
    try:
        return (yield)
    finally:
        pyfuncitem.obj = test


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """The browser and its thread."""
    if not chromium.PROGRAM.exists():
        pytest.fail(f"{chromium.PROGRAM} is missing: run `make browser`", pytrace=False)
    made = Stage()
    yield made
    made.close()


@pytest.fixture
def browse(stage: Stage) -> Iterator[Browse]:
    """Opens pages; at the end nothing may have been wrong with any of them."""
    made = Browse(stage)
    yield made
    made.close()


@dataclass(frozen=True, slots=True)
class Site:
    """A service that people look at, and the folder of the mails that it sends."""

    url: str
    outbox: Outbox
    settings: Settings


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Site]:
    """The service with a lead, an account and its own tables."""
    folder = tmp_path_factory.mktemp("looked-at")
    outbox = folder / "outbox"
    with world(f"browser_{worker_id}", [LEAD], folder) as made:
        settings = replace(
            made.settings,
            dashboard_secrets=(SECRET,),
            mail_url=f"file:{outbox}",
            mail_from="Siteglass <hello@siteglass.example>",
            sales_email="sales@siteglass.example",
        )
        with cheaper_hashes(), serving(settings) as client:
            yield Site(str(client.base_url), Outbox(outbox), settings)


@pytest.fixture(scope="session")
def the_office(site: Site) -> Iterator[Office]:
    """The people who work with the dashboard of that service."""
    made = Office(site.settings, site.url.rstrip("/"), site.outbox)
    yield made
    made.close()


@pytest.fixture(scope="session")
def northwind(the_office: Office) -> Furnished:
    """An account as a customer may have it; pictures for the documentation show it."""
    plan = Plan("growth", 20, 60, rebill_after_hours=720, api_price_micros=2_000, lead_price_micros=12_000)
    the_office.do(lambda postgres: set_plan(postgres, plan, actor="tests"))
    account = the_office.account("Northwind Trading", plan.name)
    names = {"owner": "Maria Keller", "member": "Tom Okafor", "viewer": "Jun Watanabe"}
    people = {
        role: the_office.somebody(account, role, name, f"{name.split()[0].lower()}@northwind.example")
        for role, name in names.items()
    }
    words = ("lone-star", "bluebonnet", "hill-country", "brazos", "pecan", "juniper", "mesa", "cedar-park", "riverbend")
    domains = [f"{word}-{trade}.example" for word in words for trade in ("coffee", "outfitters", "supply", "ceramics")]
    keys = ("Production", "CRM sync", "Data team notebook")
    return furnish(the_office, "Northwind", people, account, keys, domains, ["lena@northwind.example"])
