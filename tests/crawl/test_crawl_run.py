"""`siteglass crawl run`: from a list of domains to a search that finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.settings import Settings
from testing.service import serving
from tests.crawl.conftest import Web, run_crawl

pytestmark = pytest.mark.private_engines
HOME = """<html lang="en"><head><title>Oak House</title><meta name="description" content="Tables of oak, made by hand">
</head><body><h1>Oak House</h1><p>We make tables of oak, by hand, in our workshop.</p><a href="/say-hello">Contact</a>
<a href="/about-us">The company</a><a href="/private/team">Team</a><a href="/blog">Blog</a>
<a href="https://other-house.org/contact">Partner</a></body></html>"""
CONTACT = """<html lang="en"><head><title>Contact</title></head><body><p>Write to
<a href="mailto:hello@oak-house.org">hello@oak-house.org</a></p></body></html>"""


def test_domains_become_leads_that_a_search_finds(web: Web, crawl_settings: Settings, tmp_path: Path) -> None:
    web.say("oak-house.org/", status=301, Location="http://www.oak-house.org/")
    web.say("oak-house.org/robots.txt", "User-agent: *\nDisallow:\n", Content_Type="text/plain")
    web.say("www.oak-house.org/", HOME)
    web.say("www.oak-house.org/robots.txt", "User-agent: *\nDisallow: /private/\n", Content_Type="text/plain")
    web.say("www.oak-house.org/say-hello", CONTACT)
    web.say("www.oak-house.org/sitemap.xml", "<urlset></urlset>", Content_Type="application/xml")
    web.say("quiet-house.org/", HOME.replace("Oak House", "Quiet House").replace("oak-house", "quiet-house"))

    web.names.say("oak-house.org", "MX", ["10 aspmx.l.google.com."])

    domains = ("oak-house.org", "quiet-house.org", "gone-house.org")
    told = run_crawl(crawl_settings, tmp_path, *domains, options=("--promote", "--workers", "1"))
    assert "3 domains visited, 1 of them without a home page" in told
    assert web.paths("oak-house.org") == ["/robots.txt", "/"]
    assert web.paths("www.oak-house.org") == ["/robots.txt", "/", "/say-hello", "/about-us", "/sitemap.xml"]
    assert web.paths("other-house.org") == []
    assert {request.user_agent for request in web.requests} == {
        "SiteglassBot/0.3.0.dev0 (+https://operator.example/crawler)"
    }

    with serving(crawl_settings) as client:
        everything = _found(client, query="tables of oak")
        without_files = _found(client, missing_sitemap=True, missing_robot=True)
        with_google = _found(client, technologies=["Google Workspace"])
        timed = _found(client, load_time_ms="<=20000")
    assert everything == {"oak-house.org": ["hello@oak-house.org"], "quiet-house.org": []}
    assert set(without_files) == {"quiet-house.org"}
    assert set(with_google) == {"oak-house.org"}
    assert set(timed) == set(everything)


def _found(client: httpx.Client, **search: Any) -> dict[str, list[str]]:
    answer = client.post("/v1/leads/search", json={**search, "select": ["domain", "emails"]})
    assert answer.status_code == 200, answer.text
    return {record["domain"]: record["emails"] for record in answer.json()["results"]}
