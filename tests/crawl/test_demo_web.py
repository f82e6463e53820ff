"""`siteglass demo web`: its sites are crawled with the settings that it writes, the next run finds a change and asks
the other sites for changes only, and a site that opted out is not fetched."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from siteglass.settings import Settings, load_settings
from siteglass_demo.sites import sites
from siteglass_demo.sites.history import after_change
from testing.overture import TRAPS, made_places, write_places
from testing.ports import free_port
from testing.private_engines import environment
from testing.service import serving
from tests.crawl.conftest import SITEGLASS, run_crawl, siteglass

COUNT = 6
GUIDE = Path("docs/guides/from-nothing-to-10000-dentists.md").resolve()
RELEASE = "release/2026-10-21.0/theme=places/type=place"


@contextmanager
def made_up_web(folder: Path) -> Iterator[dict[str, str]]:
    """The command in a separate process; the environment that it writes for crawlers."""
    network = f"127.{20 + os.getpid() % 200}"
    command = [str(SITEGLASS), "demo", "web", "--count", str(COUNT), "--folder", str(folder), "--network", network]
    with subprocess.Popen([*command, "--port", str(free_port())], stdout=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            while not (folder / "environment").exists():
                assert process.poll() is None, "the made-up web ended"
                assert time.monotonic() < deadline, "the made-up web did not start"
                time.sleep(0.1)
            yield dict(line.split("=", 1) for line in (folder / "environment").read_text().splitlines())
        finally:
            process.terminate()


def test_made_up_sites_are_crawled_and_a_change_is_found(crawl_settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "web"
    labels = {site.domain: site for site in sites(COUNT, seed=1)}
    with made_up_web(folder) as given, environment(given):
        settings = _within(crawl_settings, load_settings())
        domains = (folder / "domains.txt").read_text().split()
        assert domains == list(labels)
        run_crawl(settings, tmp_path, *domains, options=("--promote", "--workers", "1"))
        changing, opted_out, *_ = (domain for domain in domains if labels[domain].kind == "normal")
        with (folder / "changed.txt").open("a") as changed:
            changed.write(f"{changing}\n")
        with serving(settings) as client:
            before = _titles(client)
        siteglass(settings, "suppress", "add", opted_out, "--reason", "asked to be left out")
        assert siteglass(settings, "crawl", "add", str(folder / "domains.txt"), "--source", "demo").startswith(
            f"{COUNT} of {COUNT} domains are due now"
        )
        assert f"{COUNT} domains, {COUNT} of them visited" in siteglass(settings, "crawl", "status")
        told = run_crawl(settings, tmp_path, changing, options=("--workers", "1"))
        with serving(settings) as client:
            after = _titles(client)
    assert before == {domain: site.title for domain, site in labels.items() if site.kind == "normal"}
    del before[opted_out]
    assert after == {**before, changing: after_change(labels[changing]).title}
    # The second run: pages that did not change were not sent again, and nothing was requested of who opted out.
    assert int(re.search(r"pages, (\d+) of them as before", told)[1]) >= 5  # type: ignore[index]  # it is there
    _, second = sorted((tmp_path / "work" / "archives").glob("*.sends.tsv"), key=lambda path: path.stat().st_mtime)
    requested = {line.split("\t")[1] for line in second.read_text().splitlines()}
    assert changing in requested
    assert opted_out not in requested
    assert siteglass(settings, "crawl", "forget", changing).startswith(f"{changing} is forgotten")


def test_places_become_leads_and_no_trap_is_fetched(
    crawl_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of the guide, as they are printed there."""
    *fills, refresh, status = re.findall(r"^siteglass (.+)$", GUIDE.read_text(), re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    labels = {site.domain: site for site in sites(COUNT, seed=1)}
    opted_out, elsewhere, *dentists = labels
    with made_up_web(tmp_path / "web") as given, environment(given):
        settings = _within(crawl_settings, load_settings())
        row = made_places(1, "taxonomy")[0].row
        rows = [{**row, "websites": [f"http://www.{domain}/praxis"]} for domain in (opted_out, *dentists)]
        rows += [{**row, "websites": [text and text.format(7) for text in trap] or None} for trap in TRAPS]
        rows += [{**row, "websites": [f"https://{elsewhere}/"], "addresses": [{"country": "DE"}]}]
        write_places(tmp_path / "places" / RELEASE / "part-0.parquet", "taxonomy", rows)
        siteglass(settings, "suppress", "add", opted_out, "--reason", "asked to be left out")
        for fill in fills:
            assert f"{COUNT - 2} domains, some" in siteglass(settings, *fill.split())
        siteglass(settings, *refresh.split())
        assert "0 domains are due" in siteglass(settings, *status.split())
    with serving(settings) as client:
        answer = client.post("/v1/leads/search", json={"select": ["domain", "phones"]}).json()
        shown = {one.pop("domain"): one for one in answer["results"]}
    # All that can be a lead, with what the place says where the site says nothing. Each was fetched.
    assert set(shown) == {domain for domain in dentists if labels[domain].kind == "normal"}
    assert all(one["phones"] and one["crawled_at"] for one in shown.values())
    (sends,) = (tmp_path / "var/crawl/archives").glob("*.sends.tsv")
    assert {line.split("\t")[1] for line in sends.read_text().splitlines()} == set(dentists)


def _within(settings: Settings, theirs: Settings) -> Settings:
    """The settings with which a made-up web is reached."""
    return replace(
        settings,
        dns_servers=theirs.dns_servers,
        outgoing_allowed=theirs.outgoing_allowed,
        crawl_http_port=theirs.crawl_http_port,
        crawl_https_port=theirs.crawl_https_port,
    )


def _titles(client: httpx.Client) -> dict[str, str]:
    answer = client.post("/v1/leads/search", json={"select": ["domain", "title"]})
    assert answer.status_code == 200, answer.text
    return {record["domain"]: record["title"] for record in answer.json()["results"]}
