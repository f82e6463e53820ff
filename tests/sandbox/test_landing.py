"""The search box of the landing page: for people without an account, over the sandbox alone, and only so often."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.dashboard.examples import EXAMPLES
from siteglass.leads import sandbox
from siteglass.settings import Settings
from testing.service import SECRET, filled, run, serving

PER_HOUR = 20
REAL = Lead(domain="real-dentist.example", crawled_at_ms=1, business_name="A real dentist", country="USA", state="TX",
            city="Austin", technologies=(), trades=("dentist",), trade_sources={"dentist": "schema.org"})  # fmt: skip


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Sandbox leads, and one live lead, which is a dentist in Austin, too."""
    folder: Path = tmp_path_factory.mktemp("landing")
    made = replace(filled("landing", [REAL], folder), landing_searches_per_hour=PER_HOUR, dashboard_secrets=(SECRET,))
    run(made, sandbox.build)
    return made


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings) as service:
        service.headers.pop("X-API-Key")
        yield service


def searched(client: httpx.Client, words: str, network: str = "10.1.0.1") -> str:
    """The text of the page, without its markup."""
    answer = client.get("/", params={"q": words}, headers={"X-Forwarded-For": network})
    assert answer.status_code == 200
    text = re.sub(r"<[^>]+>", " ", answer.text.partition("<main")[2])
    return " ".join(html.unescape(text).split())


@pytest.mark.parametrize(
    ("words", "reading", "leads"),
    [
        (EXAMPLES[0], "Country: United States City: Austin Trade: Dentist not Software: Booking calendar", 19),
        (EXAMPLES[1], "Country: United States Uses: Shopify not Software: Email marketing", 3),
        (EXAMPLES[2], "With a phone number Roofer in Florida, United States or Plumber in Texas, United States", 29),
        (EXAMPLES[3], "Added: Microsoft Clarity since 2026-05-01", 68),
        (EXAMPLES[4], "Country: Italy Trade: Hotel not Software: Booking calendar", 19),
        (EXAMPLES[5], "Read “wordpres” as “wordpress”.", 7),
    ],
)
def test_an_example_is_shown_with_its_reading(client: httpx.Client, words: str, reading: str, leads: int) -> None:
    page = searched(client, words)
    assert reading in page
    assert f"{leads} leads of the sandbox match" in page


def test_it_never_asks_the_index(client: httpx.Client) -> None:
    assert "A real dentist" not in searched(client, "dentists in Austin")
    assert "0 leads of the sandbox match" in searched(client, "dentists in Austin that use Magento, Drupal and Joomla")


def test_the_page_without_a_search_offers_the_examples(client: httpx.Client) -> None:
    page = client.get("/").text
    assert [html.unescape(words) for words in re.findall(r'href="/\?q=[^"]+">([^<]+)</a>', page)] == list(EXAMPLES)
    assert 'form class="try" method="get" action="/"' in page


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("x" * 201, "Use at most 200 characters here; the search has 201."),
        ("hello there", "No place, trade, technology or other property of a business is in these words."),
    ],
)
def test_what_cannot_be_searched_says_why(client: httpx.Client, words: str, problem: str) -> None:
    page = searched(client, words)
    assert problem in page
    assert "of the sandbox match" not in page


def test_words_are_text_and_never_markup(client: httpx.Client) -> None:
    page = client.get("/", params={"q": '"><script>alert(1)</script> dentists in Austin'}).text
    assert "<script" not in page


def test_a_network_searches_so_often_an_hour_and_others_do_not_notice(client: httpx.Client) -> None:
    for _ in range(PER_HOUR):
        assert "leads of the sandbox match" in searched(client, "dentists", "192.0.2.1")
    assert "Too many searches without an account. Try again in 3 min." in searched(client, "dentists", "192.0.2.1")
    assert "leads of the sandbox match" in searched(client, "dentists", "192.0.2.2")


def test_the_search_box_can_be_switched_off(settings: Settings) -> None:
    with serving(replace(settings, landing_searches_per_hour=0)) as service:
        page = service.get("/", params={"q": "dentists in Austin"}).text
    assert "<form" not in page
    assert "of the sandbox match" not in page
    assert 'href="/dashboard/explore?q=dentists%20in%20Austin' in page
