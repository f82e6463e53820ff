"""The searches that the demo is made for, in plain words, over the companies that were read from made-up pages."""

from __future__ import annotations

import html
import re
import secrets
from collections.abc import Iterator

import httpx
import pytest

import pictures
from siteglass.access.accounts import Plan, set_plan
from siteglass.corpus.lead_files import read_parquet
from siteglass.dashboard.examples import EXAMPLES
from siteglass.index import generations
from siteglass.index.entry import enter_store
from siteglass.index.index import Index
from siteglass.index.load import load
from siteglass.query.body import read_meaning
from siteglass_demo.leads import COMPANIES
from testing.api_calls import answered, enrich, search
from testing.dashboard.visitors import Office, Visitor
from testing.mails import Outbox
from testing.pictures import missing_texts, texts_of
from testing.reference_scan import matching
from testing.service import API_KEY, SECRET, make_test_account, run, serving, settings_for

MIN_LEADS, MIN_WITH_EMAIL = 20, 12
MIN_LEADS_OF_EXAMPLE = 30
NOW_MS = 1_795_000_000_000
SEARCHES = (
    "dentists in Austin without online booking",
    "Shopify stores in Germany, Austria and Switzerland that spend over 5k and load slowly",
    "agencies in London on WordPress with LinkedIn",
    "roofers in Florida with bad SEO",
    "hotels in Italy without a booking system",
)
# How Explore shows that it read each example.
READINGS = (
    "Country: United States · City: Austin · Trade: Dentist · not Software: Booking calendar",
    "Country: United States · Uses: Shopify · not Software: Email marketing",
    "With a phone number · Roofer in Florida, United States or Plumber in Texas, United States",
    "Added: Microsoft Clarity since 2026-05-01",
    "Country: Italy · Trade: Hotel · not Software: Booking calendar",
    "Country: United Kingdom · City: London · Uses: WordPress · not Uses: HubSpot · Kind of business: Agency"
    " · With a LinkedIn page",
)


@pytest.fixture(scope="module")
def companies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """The service over these companies alone: the generated leads of the demo would only add to what is found."""
    folder = tmp_path_factory.mktemp("companies")
    settings = settings_for("companies", lead_store=folder, dashboard_secrets=(SECRET,))
    make_test_account(settings.postgres_dsn, settings.postgres_schema)

    async def fill(index: Index) -> None:
        name = await generations.create(index, generations.Shape())
        for stored in await enter_store(index, [COMPANIES]):
            assert stored.rejected == 0
            await load(index, stored.path, lambda _: None, only=name)
        await generations.promote(index, name)

    run(settings, fill)
    with serving(settings) as service:
        office = Office(settings, str(service.base_url).rstrip("/"), Outbox(folder))
        yield office
        office.close()


@pytest.fixture(scope="module")
def client(companies: Office) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=companies.url, headers={"X-API-Key": API_KEY}, timeout=90, trust_env=False) as service:
        yield service


def person_with_credits(companies: Office) -> Visitor:
    """Somebody with an account like that of the person who follows the demo's link."""
    plan = Plan(f"named-{secrets.token_hex(4)}", rate_per_s=10, burst=40, preview="named")
    companies.do(lambda postgres: set_plan(postgres, plan, actor="tests"))
    account = companies.account("", plan.name, lead=1_000)
    return companies.visitor(companies.somebody(account, name="Demo Owner"))


@pytest.mark.parametrize("sentence", SEARCHES)
def test_a_search_that_people_start_with_finds_enough(client: httpx.Client, sentence: str) -> None:
    page = search(client, {"query": sentence, "limit": 100, "select": ["domain", "emails"]})
    assert page["total_results"] >= MIN_LEADS
    assert sum(bool(lead["emails"]) for lead in page["results"]) >= MIN_WITH_EMAIL


def test_what_is_found_has_evidence(client: httpx.Client) -> None:
    page = search(client, {"query": SEARCHES[0], "limit": 20, "select": ["domain", "emails"]})
    lead = next(lead for lead in page["results"] if lead["emails"])
    enrich(client, [lead["domain"]])
    evidence = answered(client.get(f"/v1/leads/{lead['domain']}/evidence"))
    assert {one["value"] for one in evidence["emails"]} == set(lead["emails"])
    assert all(lead["domain"] in seen["page"] for one in evidence["emails"] for seen in one["seen"])


def test_explore_begins_with_every_example_how_it_is_read_and_enough_leads(companies: Office) -> None:
    every = [lead for _, group in read_parquet(COMPANIES) for lead in group]
    found = [len(matching(read_meaning({"query": words}, NOW_MS).criteria, every)) for words in EXAMPLES]
    assert min(found) >= MIN_LEADS_OF_EXAMPLE, found
    page = person_with_credits(companies).get("/dashboard/explore").text
    shown = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    rows = [f"{words} {leads} leads {reading}" for words, leads, reading in zip(EXAMPLES, found, READINGS, strict=True)]
    assert len(rows) == 6
    assert [row for row in rows if row not in shown] == [], shown


def test_the_picture_of_explore_shows_what_the_demo_shows(companies: Office) -> None:
    page = person_with_credits(companies).get(f"{pictures.EXPLORE_PATH}&facets=1").text
    shown = html.unescape(re.sub(r"<[^>]+>", " ", page))
    texts = texts_of(pictures.EXPLORE)
    assert len(texts) > 40
    assert missing_texts(texts, shown) == [], "draw it anew with `make screenshots`"


def test_the_recorded_terminal_shows_what_sgl_shows(companies: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITEGLASS_URL", companies.url)
    monkeypatch.setenv("SITEGLASS_API_KEY", API_KEY)
    drawn = re.sub(r"<(style|title).*?</\1>|<[^>]+>", " ", pictures.TERMINAL.read_text("utf-8"), flags=re.DOTALL)
    recorded = set(re.findall(r"[^\W\d_]{3,}", html.unescape(drawn)))
    shown = set(re.findall(r"[^\W\d_]{3,}", re.sub(r"\x1b\[[0-9;]*m", " ", pictures.session())))
    assert len(recorded) > 60
    assert recorded - shown == set(), "draw it anew with `make screenshots`"
