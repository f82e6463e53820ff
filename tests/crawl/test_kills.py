"""Fetchers that are killed: no page is lost, and none is requested twice within its delay."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from siteglass.crawl.archive import finished_archives
from siteglass.ingest.archives import read_archive
from siteglass.ingest.capture import Capture
from siteglass.settings import Settings
from tests.crawl.conftest import Web, run_crawl, start_crawl

SITES, KILLS = (60, 20) if os.environ.get("SITEGLASS_LONG") else (12, 2)
PATHS = ("/robots.txt", "/", "/contact", "/about", "/sitemap.xml")
HOME = "<html><title>Made up</title><body><a href='/contact'>Contact</a><a href='/about'>About</a></body></html>"


def test_kills_lose_no_page_and_repeat_at_most_one_request_of_a_domain(
    web: Web, crawl_settings: Settings, tmp_path: Path
) -> None:
    settings = replace(crawl_settings, crawl_lease_s=1, crawl_domain_delay_ms=400)
    domains = [f"site{number}.org" for number in range(SITES)]
    for domain in domains:
        for path in PATHS[1:]:
            web.say(f"{domain}{path}", HOME)
    for kill in range(1, KILLS + 1):
        seen = len(web.requests)
        process = start_crawl(settings, tmp_path, *domains, options=("--no-leads",))
        while len(web.requests) < seen + SITES * len(PATHS) // (KILLS + 2):
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert len(web.requests) < SITES * len(PATHS) + kill * SITES
    run_crawl(settings, tmp_path, *domains, options=("--no-leads",))

    captures = Counter(
        item.url.removeprefix("http://")
        for archive in finished_archives(tmp_path / "work" / "archives")
        for item in read_archive(archive)
        if isinstance(item, Capture)
    )
    assert set(captures) == {f"{domain}{path}" for domain in domains for path in PATHS}
    for domain in domains:
        requests = [request for request in web.requests if request.host == domain]
        assert len(requests) <= len(PATHS) + KILLS
        gaps = [b.at - a.at for a, b in itertools.pairwise(requests)]
        assert min(gaps) >= 0.4 * 0.95
