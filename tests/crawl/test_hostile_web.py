"""Several fetchers against hostile servers, while some are killed: no short gap, nothing forbidden, no page lost.

`make long-crawl` runs it with 2,000 hosts and kills PostgreSQL and Redis, too.
"""

from __future__ import annotations

import os
import random
import resource
import ssl
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from siteglass.settings import Settings
from testing.hostile_web import CRAWL_DELAY_S, KINDS, SLOW_S, HostileWeb
from testing.loopback_servers import certificate
from testing.ports import free_port
from testing.private_engines import PrivateEngines
from testing.service import make_test_account
from tests.crawl.conftest import Web, start_crawl

NIGHTLY = True

LONG = bool(os.environ.get("SITEGLASS_LONG"))
HOSTS, CROWD = (2_000, 500) if LONG else (len(KINDS) + 7, 8)
FAULTS = Counter(fetcher=20, postgres=3, redis=2) if LONG else Counter(fetcher=1)
REQUESTS_BETWEEN_FAULTS = 300 if LONG else 40
DOMAIN_MS, ADDRESS_MS, LEASE_S = (2_000, 250, 90) if LONG else (300, 40, 10)
# Hosts whose pages can all be fetched, and these pages.
WHOLE = ("plain", "crowd", "tls", "slow", "delayed", "dropped")
PAGES = {"/robots.txt", "/", "/sitemap.xml", "/imprint", "/about", "/team"}


@pytest.fixture
def hostile(web: Web, crawl_settings: Settings, tmp_path: Path) -> Iterator[tuple[HostileWeb, Settings]]:
    """The servers, and settings of a crawler that finds them."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))  # a socket for each address
    kinds = [kind for kind in KINDS if kind != "crowd"]
    hosts = [f"crowd-{number}.example" for number in range(CROWD)]
    hosts += [f"{kinds[number % len(kinds)]}-{number}.example" for number in range(HOSTS - CROWD)]
    served = HostileWeb(hosts, f"127.{20 + os.getpid() % 200}", free_port())
    served.tell(web.names)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate(tmp_path, "other.example"))
    settings = replace(
        crawl_settings,
        outgoing_allowed=(f"{served.network}.0.0/16",),
        crawl_http_port=served.port,
        crawl_https_port=served.port + 1,
        crawl_domain_delay_ms=DOMAIN_MS,
        crawl_address_delay_ms=ADDRESS_MS,
        crawl_lease_s=LEASE_S,
        crawl_timeout_ms=8_000,  # after a fault, all visits go on at once on a machine that starts something anew
    )
    with served.serving(tls):
        yield served, settings
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))


@pytest.mark.alone
def test_manners_hold_under_kills(
    hostile: tuple[HostileWeb, Settings], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    web, settings = hostile
    private: PrivateEngines | None = None
    if set(FAULTS) - {"fetcher"}:
        private = request.getfixturevalue("private_engines")
        settings = _on_separate_engines(settings, private)
    reports = _crawl(settings, web, tmp_path, private)

    assert web.forbidden() == []
    sends = _sends(tmp_path)
    _assert_no_short_gap(sends)
    # By the servers' clocks: what the network and they themselves delay is a twentieth at most.
    for domain, gaps in web.gaps(lambda request: request.domain).items():
        assert min(gaps, default=99) >= 0.95 * _delay_s(domain), (domain, gaps)
    for address, gaps in web.gaps(lambda request: request.address).items():
        assert min(gaps, default=99) >= 0.95 * ADDRESS_MS / 1000, (address, gaps)
    # Every fetch was recorded.
    received = Counter((request.host, request.path) for request in web.requests)
    assert received - Counter((host, path) for _, _, _, host, path in sends) == Counter()

    archived = _archived(tmp_path)
    killed = FAULTS["fetcher"] + FAULTS["postgres"]
    for host in web.hosts:
        if host.startswith(WHOLE):
            assert set(archived[host]) == PAGES, (host, reports)
            assert archived[host].total() <= len(PAGES) + killed, host
    # The endless ones ended.
    assert max(Counter(request.domain for request in web.requests).values()) <= 12 + killed


def _on_separate_engines(settings: Settings, private: PrivateEngines) -> Settings:
    postgres, redis = private.get("postgres").port, private.get("redis").port
    address = f"127.0.0.1:{postgres}"
    settings = replace(
        settings,
        postgres_dsn=f"postgresql://siteglass@{address}/siteglass",
        crawl_dsn=f"postgresql://siteglass_crawl@{address}/siteglass_crawl",
        redis_url=f"redis://127.0.0.1:{redis}/0",
    )
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    return settings


def _crawl(settings: Settings, web: HostileWeb, folder: Path, private: PrivateEngines | None) -> list[str]:
    """Two fetchers until all is done, with faults meanwhile; what those that ended by themselves reported."""
    numbers = iter(range(1_000))

    def start(*domains: str) -> subprocess.Popen[str]:
        own = folder / f"fetcher-{next(numbers)}"
        own.mkdir()
        return start_crawl(settings, own, *domains, options=("--no-leads",))

    def wait_for_requests(count: int) -> None:
        deadline = time.monotonic() + 300
        while len(web.requests) < count:
            assert time.monotonic() < deadline, f"{len(web.requests)} requests, then none"
            time.sleep(0.05)

    fetchers = [start(*web.hosts)]
    try:
        wait_for_requests(1)  # without domains in the frontier, the second one would end at once
        fetchers.append(start())
        faults = list(FAULTS.elements())
        random.Random(7).shuffle(faults)
        for number, fault in enumerate(faults, 1):
            wait_for_requests(number * REQUESTS_BETWEEN_FAULTS)
            if private is not None and fault != "fetcher":
                private.get(fault).kill()
                time.sleep(2)
                private.start(fault)
                continue
            victim = fetchers.pop(0)
            assert victim.poll() is None, "the crawl ended before the fault"
            victim.kill()
            victim.communicate()
            fetchers.append(start())
        reports = []
        for fetcher in fetchers:
            out, err = fetcher.communicate(timeout=7_200 if LONG else 200)
            assert fetcher.returncode == 0, out + err
            reports.append(err)
        return reports
    finally:
        for fetcher in fetchers:
            fetcher.kill()


def _delay_s(domain: str) -> float:
    """What is due between two requests to a domain."""
    kind = domain.partition("-")[0]
    asked = {"slow": 10 * SLOW_S, "delayed": CRAWL_DELAY_S}.get(kind, 0.0)
    return max(DOMAIN_MS / 1000, asked)


def _sends(folder: Path) -> list[tuple[int, str, str, str, str]]:
    """Time in ms, domain, address, host and path of each request of all fetchers."""
    sends = []
    for path in folder.glob("fetcher-*/work/archives/*.sends.tsv"):
        for line in path.read_text().splitlines():
            at, domain, address, url = line.split("\t")
            host, slash, target = url.partition("://")[2].partition("/")
            sends.append((int(at), domain, address, host.partition(":")[0], slash + target))
    return sorted(sends)


def _assert_no_short_gap(sends: Iterable[tuple[int, str, str, str, str]]) -> None:
    by_domain, by_address = defaultdict(list), defaultdict(list)
    for at, domain, address, _, _ in sends:
        by_domain[domain].append(at)
        by_address[address].append(at)
    for domain, times in by_domain.items():
        assert all(after - before >= 1000 * _delay_s(domain) for before, after in pairwise(times)), (domain, times)
    for address, times in by_address.items():
        assert all(after - before >= ADDRESS_MS for before, after in pairwise(times)), (address, times)


def _archived(folder: Path) -> defaultdict[str, Counter[str]]:
    """How often each page is in the archives, by host."""
    pages: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in folder.glob("fetcher-*/work/archives/*.warc.gz*"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response):
                host, slash, target = record.headers["WARC-Target-URI"].partition("://")[2].partition("/")
                pages[host.partition(":")[0]][slash + target] += 1
    return pages
