"""Visits to difficult and hostile sites: what is requested of each, and how soon."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import resource
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator

from siteglass.crawl import uplink, visit
from siteglass.crawl.archive import finished_archives
from siteglass.crawl.counts import Counts
from siteglass.crawl.crawler import crawl, user_agent
from siteglass.crawl.fetcher import Fetcher
from siteglass.ingest.archives import read_archive
from siteglass.ingest.capture import Capture
from siteglass.settings import Settings, SettingsError
from testing.ports import free_port
from testing.service import run
from tests.crawl.conftest import Web, run_crawl, siteglass, start_crawl

HOME = "<html><title>Made up</title><body><h1>Made up</h1><a href='/kontakt'>Kontakt</a></body></html>"


def fetch(settings: Settings, folder: Path, *domains: str, store: int = 0) -> str:
    counts = asyncio.run(crawl(settings, folder, frozenset(domains), lambda _: None, store))
    return counts.text()


@pytest.mark.promise("setting.crawl_timeout_ms")
def test_what_sites_allow_is_all_that_is_requested(web: Web, crawl_settings: Settings, tmp_path: Path) -> None:
    """Robots, opt-outs, the operator's list, redirects, and answers without an end."""
    excluded = tmp_path / "excluded.txt"
    excluded.write_text("# by mail\nexcluded.org\n")
    settings = replace(crawl_settings, crawl_excluded=str(excluded), crawl_page_bytes=50_000, crawl_timeout_ms=2_500)
    for host in ("plain.org", "excluded.org", "optedout.org", "broken.org", "busy.org", "closed.org", "later.org"):
        web.say(f"{host}/", HOME)
    web.say("broken.org/robots.txt", status=503)
    web.say("busy.org/robots.txt", status=429)
    web.say("closed.org/robots.txt", "User-agent: siteglassbot\nDisallow: /\n")
    web.say("later.org/", HOME, status=503, Retry_After="3600")
    # What forbids comes after the size at which pages are cut, and in an encoding that cannot be read.
    web.say("long.org/", HOME)
    web.say("long.org/robots.txt", "# more\n" * 10_000 + "User-agent: *\nDisallow: /\n")
    web.say("garbled.org/", HOME)
    web.say("garbled.org/robots.txt", "\0User-agent: *\nDisallow: /\n", Content_Encoding="gzip")
    web.say("patient.org/", HOME)
    web.say("patient.org/robots.txt", "User-agent: *\nCrawl-delay: 90\nSitemap: https://elsewhere.org/s.xml\n")
    web.say("plain.org/robots.txt", status=301, Location="http://rules.org/of-plain.txt")
    web.say("dotted.org/robots.txt", status=301, Location="http://optedout.org./robots.txt")
    rules = "User-agent: *\nDisallow: /kontakt\nSitemap: /map.xml\n"
    web.say("rules.org/of-plain.txt", rules, Retry_After="3600")  # about rules.org, not about plain.org
    web.say("circle.org/", status=302, Location="/a")
    web.say("circle.org/a", status=302, Location="/b")
    web.say("circle.org/b", status=302, Location="/a")
    web.say("moved.org/", status=301, Location="http://plain.org/")
    web.say("inside.org/", status=301, Location="http://127.0.0.2/secret")
    web.say("bomb.org/", HOME, Content_Encoding="gzip")
    web.pages["bomb.org", "/"].body = gzip.compress(b"<html>" + b"\0" * 40_000_000)
    web.say("endless.org/", "x" * 60_000, Content_Length=str(sys.maxsize))
    web.say("tarpit.org/", HOME, delay_s=4)
    web.names.say("metadata.org", "A", ["169.254.169.254"])
    web.names.say("mapped.org", "AAAA", ["::ffff:10.0.0.1"])

    async def opt_out(index: object) -> None:
        from siteglass.suppression import entries
        from siteglass.suppression.values import Kind

        pairs = [(Kind.DOMAIN, b"optedout.org")]
        await entries.add(index.postgres, pairs, reason="test", actor="tests")  # type: ignore[attr-defined]

    run(settings, opt_out)
    domains = {host for host, _ in web.pages} - {"rules.org"}
    # What a crawl leaves that ends while it begins.
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives/started").touch()
    told = fetch(settings, tmp_path / "archives", *domains, "metadata.org", "mapped.org")

    requested = {host: web.paths(host) for host in sorted({request.host for request in web.requests})}
    robots = "/robots.txt"
    assert requested == {
        "bomb.org": [robots, "/", "/sitemap.xml"],
        "broken.org": [robots],
        "busy.org": [robots],
        "circle.org": [robots, "/", "/a", "/b"],
        "closed.org": [robots],
        "dotted.org": [robots],
        "endless.org": [robots, "/", "/sitemap.xml"],
        "garbled.org": [robots],
        "inside.org": [robots, "/"],
        "later.org": [robots, "/"],
        "long.org": [robots],
        "moved.org": [robots, "/"],
        "patient.org": [robots, "/"],
        "plain.org": [robots, "/", "/map.xml"],
        "rules.org": ["/of-plain.txt"],
        "tarpit.org": [robots, "/"],
    }
    assert "refused address 2" in told
    # Each request is in the record of sends, with its time; and all answers that came are in the archive.
    (sends,) = (tmp_path / "archives").glob("*.sends.tsv")
    lines = [line.split("\t") for line in sends.read_text().splitlines()]
    assert sorted(url.removeprefix("http:/") for *_, url in lines) == sorted(
        f"/{request.host}{request.path}" for request in web.requests
    )
    (archive,) = finished_archives(tmp_path / "archives")
    captures = [item for item in read_archive(archive) if isinstance(item, Capture)]
    assert len(captures) == len(web.requests) - 2  # the tarpit, and what cannot be decoded
    cut = next(capture for capture in captures if capture.url == "http://endless.org/")
    assert len(cut.body) == 50_000


def test_the_pause_grows_with_what_a_site_asks_for_and_needs(
    web: Web, crawl_settings: Settings, tmp_path: Path
) -> None:
    web.say("delayed.org/", HOME)
    web.say("delayed.org/robots.txt", "User-agent: *\nCrawl-delay: 0.5\n")
    web.say("slow.org/", HOME, delay_s=0.1)
    web.say("asking.org/", HOME, status=200, Retry_After="1")
    web.say("quick.org/", HOME)
    fetch(crawl_settings, tmp_path, "delayed.org", "slow.org", "asking.org", "quick.org")

    def gaps(host: str) -> list[float]:
        times = [request.at for request in web.requests if request.host == host]
        return [b - a for a, b in itertools.pairwise(times)]

    assert len(gaps("quick.org")) == 3
    # 95 %: the server sees a request a moment after it is sent.
    assert min(gaps("delayed.org")[1:]) >= 0.5 * 0.95
    assert gaps("slow.org")[1] >= 1.0 * 0.95
    assert gaps("asking.org")[1] >= 1.0 * 0.95
    for host in ("quick.org", "delayed.org", "slow.org", "asking.org"):
        assert min(gaps(host)) >= 0.1 * 0.95


@pytest.mark.parametrize("ended", ["by itself", "by a kill"])
def test_a_site_that_asked_to_be_left_alone_is_not_visited_because_it_was_added_again(
    ended: str, web: Web, crawl_settings: Settings, tmp_path: Path
) -> None:
    web.say("later.org/", HOME, status=503, Retry_After="3600")
    settings = replace(crawl_settings, crawl_lease_s=2)
    if ended == "by itself":
        fetch(settings, tmp_path, "later.org")
    else:
        process = start_crawl(settings, tmp_path, "later.org", options=("--no-leads",))
        while "/" not in web.paths("later.org"):
            time.sleep(0.01)
        time.sleep(0.5)  # the answer is acknowledged after at most half a delay
        process.kill()
        process.communicate()
    siteglass(settings, "crawl", "add", str(_listed(tmp_path, "later.org")))
    fetch(settings, tmp_path / "again", "later.org")
    assert web.paths("later.org") == ["/robots.txt", "/"]


def test_a_visit_in_which_nothing_may_be_sent_is_no_failure(web: Web, crawl_settings: Settings, tmp_path: Path) -> None:
    web.say("plain.org/", HOME)
    fetch(replace(crawl_settings, crawl_requests_per_day=0), tmp_path, "plain.org")
    assert web.requests == []
    assert "1 domains, 0 of them visited.\n0 had no home page" in siteglass(crawl_settings, "crawl", "status")


def _listed(folder: Path, domain: str) -> Path:
    path = folder / "listed.txt"
    path.write_text(domain)
    return path


def test_pages_that_did_not_change_are_not_sent_again(web: Web, crawl_settings: Settings, tmp_path: Path) -> None:
    """Neither by sites that say so, nor into archives. Pages of another facts store are fetched as a whole."""
    hosts = ("tagged.org", "plain.org", "moving.org")
    for host in hosts:
        web.say(f"{host}/", HOME)
        web.say(f"{host}/kontakt", "<p>Write to us</p>")
    web.say("tagged.org/", HOME, ETag='"1"')
    web.say("tagged.org/kontakt", "<p>Write to us</p>", ETag='"2"')
    web.names.say("tagged.org", "MX", ["10 mx.example.com."])
    assert "9 pages, 0 of them as before" in fetch(crawl_settings, tmp_path / "1", *hosts, store=7)
    web.say("moving.org/", HOME + "moved")
    web.requests.clear()
    assert "9 pages, 5 of them as before" in fetch(crawl_settings, tmp_path / "2", *hosts, store=7)
    asked = [(one.path, one.etag) for one in web.requests if one.host == "tagged.org"]
    assert asked == [("/", '"1"'), ("/kontakt", '"2"'), ("/sitemap.xml", "")]
    records = _records(tmp_path / "2")
    assert {url for kind, url, _ in records if kind == "revisit"} == {
        *("http://tagged.org/", "http://tagged.org/kontakt", "http://plain.org/", "http://plain.org/kontakt"),
        "http://moving.org/kontakt",
    }
    assert all(body == b"" for kind, _, body in records if kind == "revisit")
    (dns,) = [body for kind, url, body in records if url == "dns:tagged.org"]
    assert dns.splitlines()[1:] == [b"tagged.org. 0 IN A 127.0.0.1", b"tagged.org. 0 IN MX 10 mx.example.com."]

    assert "0 of them as before" in fetch(crawl_settings, tmp_path / "3", *hosts, store=8)
    assert {kind for kind, url, _ in _records(tmp_path / "3") if url == "http://tagged.org/"} == {
        "response",
        "metadata",
    }


def _records(folder: Path) -> list[tuple[str, str, bytes]]:
    """Kind, address and body of each record of the archive in a folder."""
    (archive,) = finished_archives(folder)
    with archive.open("rb") as file:
        return [
            (record.headers["WARC-Type"], str(record.headers.get("WARC-Target-URI")), record.reader.read())
            for record in ArchiveIterator(file, parse_http=True)
        ]


def test_nobody_fetches_without_saying_who_they_are(crawl_settings: Settings) -> None:
    with pytest.raises(SettingsError, match="SITEGLASS_CRAWL_CONTACT"):
        user_agent(replace(crawl_settings, crawl_contact="", public_url=""))
    public = replace(crawl_settings, crawl_contact="", public_url="https://leads.example/")
    assert user_agent(public).endswith("(+https://leads.example/opt-out#crawler)")


def test_a_long_outage_of_redis_ends_no_visit(
    web: Web, crawl_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.say("plain.org/", HOME)
    monkeypatch.setattr(visit, "MAX_WAIT_S", 0.5)
    away = replace(crawl_settings, redis_url=f"redis://127.0.0.1:{free_port()}/0", crawl_lease_s=2)

    async def crawl_meanwhile() -> None:
        async with asyncio.timeout(6):
            await crawl(away, tmp_path / "archives", frozenset({"plain.org"}), lambda _: None)

    with pytest.raises(TimeoutError):
        asyncio.run(crawl_meanwhile())
    assert web.requests == []
    assert web.connections == 1  # when it was noticed: then only Redis is asked again
    fetch(replace(crawl_settings, crawl_lease_s=2), tmp_path / "archives")
    assert web.paths("plain.org") == ["/robots.txt", "/", "/kontakt", "/sitemap.xml"]


def test_a_name_that_dns_does_not_answer_at_once_is_no_failure(
    web: Web, crawl_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.say("plain.org/", HOME)
    monkeypatch.setattr(visit, "DNS_RETRY_S", 0.3)
    web.names.broken = True

    def mend() -> None:
        while not web.names.asked:
            time.sleep(0.05)
        web.names.broken = False

    threading.Thread(target=mend, daemon=True).start()
    told = fetch(crawl_settings, tmp_path, "plain.org", "nobody.org")
    assert web.paths("plain.org") == ["/robots.txt", "/", "/kontakt", "/sitemap.xml"]
    assert "2 domains visited, 1 of them without a home page" in told


@pytest.mark.parametrize("fault", ["many AAAA", "no answer for AAAA"])
def test_addresses_of_one_kind_do_not_hide_those_of_the_other(
    fault: str, web: Web, crawl_settings: Settings, tmp_path: Path
) -> None:
    web.say("plain.org/", HOME)
    if fault == "many AAAA":
        web.names.say("plain.org", "AAAA", [f"2001:db8::{number}" for number in range(1, 6)])
    else:
        web.names.broken_kinds = ("AAAA",)
    # Permitted, but without a route. A refused address would end the visit.
    settings = replace(crawl_settings, outgoing_allowed=("127.0.0.0/8", "2001:db8::/32"))
    fetch(settings, tmp_path, "plain.org")
    assert web.paths("plain.org") == ["/robots.txt", "/", "/kontakt", "/sitemap.xml"]


def test_a_kind_of_address_that_dns_does_not_answer_at_once_is_asked_for_again(
    web: Web, crawl_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.say("plain.org/", HOME)
    web.names.say("plain.org", "AAAA", ["2001:db8::1"])  # permitted, but without a route
    monkeypatch.setattr(visit, "DNS_RETRY_S", 0.5)
    web.names.broken_kinds = ("A",)

    def mend() -> None:
        while ("plain.org", "A") not in web.names.asked:
            time.sleep(0.05)
        time.sleep(0.1)  # the answer is under way
        web.names.broken_kinds = ()

    threading.Thread(target=mend, daemon=True).start()
    fetch(replace(crawl_settings, outgoing_allowed=("127.0.0.0/8", "2001:db8::/32")), tmp_path, "plain.org")
    assert web.paths("plain.org") == ["/robots.txt", "/", "/kontakt", "/sitemap.xml"]


@pytest.mark.parametrize(
    "bytes_left",
    [pytest.param(40, id="record of sends"), pytest.param(400, id="archive", marks=pytest.mark.nightly)],
)
def test_a_full_disk_stops_the_crawl_and_is_no_failure_of_sites(
    bytes_left: int, web: Web, crawl_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.say("plain.org/", HOME)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    settings = replace(crawl_settings, crawl_lease_s=2)
    process = start_crawl(settings, tmp_path, "plain.org", options=("--no-leads",))
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (bytes_left, bytes_left))
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "archives cannot be written: File too large. Nothing was recorded of the visits under way." in said
    assert "Traceback" not in said
    assert "1 domains, 0 of them visited.\n0 had no home page" in siteglass(settings, "crawl", "status")
    run_crawl(settings, tmp_path, "plain.org", options=("--no-leads",))
    assert web.paths("plain.org")[-3:] == ["/", "/kontakt", "/sitemap.xml"]


@pytest.mark.parametrize("check", ["without IPv6", "sites are gone"])
def test_a_lost_uplink_pauses_the_crawl_and_is_no_failure_of_sites(
    check: str, web: Web, crawl_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the sites that answered earlier have an address that we cannot reach, or are gone."""

    async def reach_nothing(*_: object) -> bool:
        return False

    if check == "sites are gone":
        monkeypatch.setattr(Fetcher, "reaches", reach_nothing)
    monkeypatch.setattr(uplink, "ATTEMPTED", int(check == "sites are gone"))
    monkeypatch.setattr(uplink, "MAX_SILENT", 4)
    # Longer than until progress is shown again, which mends the network here: no visit is let through before.
    monkeypatch.setattr(uplink, "PAUSE_S", 2.0)
    monkeypatch.setattr(visit, "DNS_RETRY_S", 0.01)
    settings = replace(
        crawl_settings, crawl_domains_at_once=3, crawl_lease_s=2, outgoing_allowed=("127.0.0.0/8", "2001:db8::/32")
    )
    sites = [f"site{number}.org" for number in range(20)]
    for site in sites:
        web.say(f"{site}/", HOME)
        web.names.say(site, "AAAA", ["2001:db8::1"])  # permitted, but without a route
    said = []

    def cut_and_mend(counts: Counts) -> None:
        said.append(counts.progress())
        web.names.broken = bool(web.requests) and not any("waiting for the network" in text for text in said)

    counts = asyncio.run(crawl(settings, tmp_path, frozenset(sites), cut_and_mend))
    # Those that made it doubtful, and at most as many as were under way.
    assert (counts.domains, 4 <= counts.failed_domains <= 6) == (20, True)
    assert len({request.host for request in web.requests}) == 20 - counts.failed_domains
