"""`siteglass ingest run`: from archives of 2,000 made-up sites to searches in plain words, and through every fault."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet
from siteglass.index import generations
from siteglass.ingest.report import Report
from siteglass.query.vocabulary import vocabulary
from siteglass.settings import Settings, environment_of
from siteglass_demo.sites import Site, write_folder
from testing.service import make_test_account, run, serving, settings_for
from tests.ingest.scoring import Found, Right, same_profile
from tests.ingest.storm import refusing_writes

pytestmark = [pytest.mark.private_engines, pytest.mark.xdist_group("spark")]
SITEGLASS = Path(sys.executable).parent / "siteglass"
# The way from pages to searches is in every run, too: tests/crawl/test_crawl_run.py.
NIGHTLY = True
SITES, SEED, FILES, CORRUPT_PERCENT = 1_000, 1, 4, 1


@dataclass(frozen=True)
class Crawl:
    """Archives, what is true of the sites in them, and where a run over them works."""

    settings: Settings
    archives: list[Path]
    labels: dict[str, Site]
    work: Path

    def started(self, *words: str, settings: Settings | None = None) -> subprocess.Popen[str]:
        """The command, as an operator runs it."""
        return subprocess.Popen(
            [str(SITEGLASS), "ingest", "run", *map(str, self.archives), "--work", str(self.work), "--promote", *words],
            env={**os.environ, **environment_of(settings or self.settings)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str, settings: Settings | None = None) -> str:
        """The command to its end; what it told."""
        process = self.started(*words, settings=settings)
        out, err = process.communicate(timeout=1_200)
        assert process.returncode == 0, out + err
        return out + err

    @property
    def folder(self) -> Path:
        """The newest run."""
        return max((self.work / "runs").iterdir(), key=lambda run: (run / "report.json").stat().st_mtime_ns)

    def written(self) -> dict[str, int]:
        """Files of facts and of leads, and when each was written."""
        files = (*(self.work / "facts").iterdir(), *(self.folder / "leads").iterdir())
        return {path.name: path.stat().st_mtime_ns for path in files}

    def leads(self) -> dict[str, Lead]:
        return {
            lead.domain: lead
            for path in sorted((self.folder / "leads").glob("*.parquet"))
            for _, group in read_parquet(path)
            for lead in group
        }

    def whole(self) -> Iterator[tuple[Site, Lead]]:
        """Sites of businesses that nothing was broken of, each with its lead."""
        leads = self.leads()
        for site in self.labels.values():
            if site.kind == "normal" and not site.damaged:
                yield site, leads[site.domain]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """The run itself: extract, merge, load, verify, promote."""
    folder = tmp_path_factory.mktemp("crawl")
    labels = write_folder(folder, SITES, SEED, files=FILES, corrupt_percent=CORRUPT_PERCENT)
    settings = settings_for("ingest", lead_store=folder / "store")
    make_test_account(settings.postgres_dsn, settings.postgres_schema)
    archives = sorted(folder.glob("*.warc.gz"))
    assert len(archives) == FILES
    made = Crawl(settings, archives, {site.domain: site for site in labels}, folder / "work")
    told = made.run()
    assert "is live" in told
    return made


@pytest.fixture(scope="module")
def client(crawl: Crawl) -> Iterator[httpx.Client]:
    with serving(crawl.settings) as service:
        yield service


def _found(client: httpx.Client, query: str) -> set[str]:
    body = {"query": query, "select": ["domain"], "limit": 100}
    answer = client.post("/v1/leads/search", json=body)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    domains = {record["domain"] for record in page["results"]}
    while page["next"]:
        page = client.post(page["next"], json={}).json()
        domains |= {record["domain"] for record in page["results"]}
    return domains


@pytest.mark.parametrize(
    ("technology", "country"),
    [("Shopify", "USA"), ("WordPress", "DEU"), ("WooCommerce", "GBR"), ("HubSpot", "USA"), ("Klaviyo", "USA")],
)
def test_found_in_plain_words(crawl: Crawl, client: httpx.Client, technology: str, country: str) -> None:
    """Exactly the sites that have it there; of those with a broken record, whatever is left of them."""
    name = vocabulary().country_name(country)
    true = {
        site.domain
        for site in crawl.labels.values()
        if site.kind == "normal" and technology in site.technologies and site.country == country
    }
    damaged = {site.domain for site in crawl.labels.values() if site.damaged}
    found = _found(client, f"sites in {name} that use {technology}")
    assert true
    assert (true - damaged) - found == set()
    assert found - true - damaged == set()


def test_only_sites_of_businesses_are_leads(crawl: Crawl) -> None:
    """Parked names, error pages that do not say so, names that lead elsewhere and who asks not to be listed: none."""
    expected = {site.domain for site in crawl.labels.values() if site.kind == "normal" and not site.damaged}
    damaged = {site.domain for site in crawl.labels.values() if site.damaged}
    leads = set(crawl.leads())
    assert expected - leads == set()
    assert leads - expected - damaged == set()


def test_addresses_and_phones(crawl: Crawl) -> None:
    emails, phones = Found(), Found()
    for site, lead in crawl.whole():
        emails.add(site.domain, lead.emails, [email.value for email in site.emails])
        phones.add(site.domain, lead.phones, [phone.value for phone in site.phones])
    assert emails.precision >= 0.99, str(emails)
    assert emails.recall >= 0.98, str(emails)
    assert phones.precision >= 0.97, str(phones)
    assert phones.recall >= 0.97, str(phones)


def test_language_country_flags_and_profiles(crawl: Crawl) -> None:
    language, country, profiles = Right(), Right(), Found()
    flags = {name: Right() for name in ("responsive", "has_schema", "has_heading", "has_description")}
    flags |= {name: Right() for name in ("has_sitemap", "has_robots")}
    secure = Right()
    for site, lead in crawl.whole():
        language.add(site.domain, lead.language, site.language)
        country.add(site.domain, lead.country, site.country)
        found = [f"{network} {same_profile(url)}" for network, url in lead.social_links.items()]
        profiles.add(site.domain, found, [f"{key} {same_profile(url)}" for key, url in site.social_links.items()])
        for name, score in flags.items():
            score.add(site.domain, getattr(lead, name), getattr(site, name))
        secure.add(site.domain, lead.secure, site.https)
    assert language.share >= 0.97, str(language)
    assert country.share >= 0.95, str(country)
    assert (profiles.precision, profiles.recall) == (1, 1), str(profiles)
    assert {name: str(score) for name, score in flags.items() if score.wrong} == {}
    assert not secure.wrong, str(secure)


def test_technologies(crawl: Crawl) -> None:
    """All that is there; what a product brings along is not labelled, and may be found."""
    score = Found()
    for site, lead in crawl.whole():
        score.add(site.domain, lead.technologies or (), site.technologies, lead.technologies or ())
    assert score.recall == 1, str(score)


def test_the_report(crawl: Crawl) -> None:
    report = json.loads((crawl.folder / "report.json").read_bytes())
    assert list(report) == list(Report.__struct_fields__)
    assert report["archives"] == FILES
    assert report["leads"] == len(crawl.leads())
    assert report["quarantined"] != {}
    assert report["unread_bytes"] > 0
    assert {one["archive"] for one in report["damage"]} <= {path.name for path in crawl.archives}
    assert set(report["dropped"]) >= {"parked", "alias", "noindex", "no_page"}
    assert report["parked"] == {}
    assert len(report["samples"]) == 5
    assert report["empty_percent"]["domain"] == 0
    assert 0 < report["empty_percent"]["emails"] < 50


def test_evidence_of_what_was_found(crawl: Crawl, client: httpx.Client) -> None:
    site = next(site for site, lead in crawl.whole() if site.emails and site.phones)
    client.post("/v1/leads/enrich", json={"domains": [site.domain]}).raise_for_status()
    answer = client.get(f"/v1/leads/{site.domain}/evidence").raise_for_status().json()
    assert {one["value"] for one in answer["emails"]} == {email.value for email in site.emails}
    assert {one["value"] for one in answer["phones"]} == {phone.value for phone in site.phones}
    for one in (*answer["emails"], *answer["phones"]):
        assert one["seen"]
        assert all(site.host in seen["page"] for seen in one["seen"])


def _live(settings: Settings) -> list[generations.Generation]:
    return run(settings, generations.status)


def _contents(settings: Settings) -> dict[str, Any]:
    """All documents of the live index, but where their records lie."""

    async def read(index: Any) -> dict[str, Any]:
        body = {"size": 10_000, "query": {"match_all": {}}}
        answer = await index.opensearch.request("POST", f"/{index.names.read}/_search", body, timeout_ms=30_000)
        return {hit["_id"]: hit["_source"] for hit in answer["hits"]["hits"]}

    return run(settings, read)


def test_a_loader_that_is_killed_half_way(crawl: Crawl) -> None:
    """What it left goes, and the run again ends as one that nobody disturbed; no archive is read again."""
    before, written = _contents(crawl.settings), crawl.written()
    killed = crawl.started("--replace")
    deadline = time.monotonic() + 120
    while not (unfinished := [one.name for one in _live(crawl.settings) if one.unfinished]):
        assert time.monotonic() < deadline
        assert killed.poll() is None, killed.communicate()
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert _contents(crawl.settings) == before  # the half-built one is not seen

    crawl.run("--replace")
    assert crawl.written() == written
    assert unfinished[0] not in [one.name for one in _live(crawl.settings)]
    assert _contents(crawl.settings) == before
    assert sum(one.live for one in _live(crawl.settings)) == 1


def test_a_storm_of_refused_writes(crawl: Crawl) -> None:
    before = _contents(crawl.settings)
    (engine,) = crawl.settings.opensearch_urls
    with refusing_writes(engine, refused=4) as (gate, statuses):
        crawl.run("--replace", settings=replace(crawl.settings, opensearch_urls=(gate,)))
    # Two requests are under way at once, so that two answers may change places.
    assert sorted(statuses[:4]) == [200, 200, 429, 429]
    assert set(statuses[4:]) == {200}
    assert _contents(crawl.settings) == before
