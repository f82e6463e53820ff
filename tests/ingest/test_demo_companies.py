"""The companies of the demo: the committed leads are what ingest reads from their pages, and rich enough to show it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import phonenumbers
import pytest

from siteglass.corpus.evidence_files import Sighting, read_evidence
from siteglass.corpus.lead import Lead
from siteglass.corpus.lead_files import read_parquet, record_place
from siteglass.query.technology_changes import decode_change
from siteglass_demo.leads import COMPANIES
from siteglass_demo.sites.build import build
from siteglass_demo.sites.companies import COUNT, draw_companies
from siteglass_demo.sites.flaws import FLAWS
from siteglass_demo.sites.history import used_before
from siteglass_demo.sites.label import Site

SAMPLE = 45
"""One site of so many is read again."""
MAX_BYTES = 4_000_000
REBUILD = "If this is meant, run `make demo-companies` and commit the files that it writes."


def leads_in(path: Path) -> dict[str, Lead]:
    return {lead.domain: lead for _, group in read_parquet(path) for lead in group}


def evidence_in(path: Path, domain: str) -> list[Sighting]:
    """Without the place in the archives, which depends on the other sites."""
    seen = read_evidence(path.parent, record_place(path, 0), domain)
    return [msgspec.structs.replace(one, archive="", offset=0) for one in seen]


@pytest.fixture(scope="module")
def sites() -> list[Site]:
    return list(draw_companies())


@pytest.fixture(scope="module")
def committed() -> dict[str, Lead]:
    return leads_in(COMPANIES)


@pytest.mark.private_engines
def test_the_committed_leads_are_what_ingest_reads_now(
    sites: list[Site], committed: dict[str, Lead], tmp_path: Path
) -> None:
    sample, path = sites[::SAMPLE], tmp_path / "companies.parquet"
    build(sample, path, workers=1, on_progress=lambda _: None)
    now = leads_in(path)
    differences = []
    for site in sample:
        old, new = committed.get(site.domain), now.get(site.domain)
        if old is None or new is None:
            differences += [f"{site.domain}: committed {old is not None}, read now {new is not None}"]
            continue
        for name in Lead.__struct_fields__:
            if getattr(old, name) != getattr(new, name):
                differences.append(f"{site.domain}: {name}: {getattr(old, name)!r} -> {getattr(new, name)!r}")
        if evidence_in(COMPANIES, site.domain) != evidence_in(path, site.domain):
            differences.append(f"{site.domain}: evidence")
    shown = "\n".join(differences[:10])
    assert not differences, f"{len(differences)} facts of {len(sample)} companies changed. {REBUILD}\n{shown}"


def test_all_sites_are_leads(sites: list[Site], committed: dict[str, Lead]) -> None:
    assert len(sites) == COUNT >= 2_000
    assert set(committed) == {site.domain for site in sites}, REBUILD


def test_the_files_are_small_enough_to_commit() -> None:
    assert COMPANIES.stat().st_size + COMPANIES.with_suffix(".evidence").stat().st_size < MAX_BYTES


def test_what_is_read_is_what_the_sites_say(sites: list[Site], committed: dict[str, Lead]) -> None:
    """Shares, since pages hide some of it from every reader; `tests/ingest` measures extraction itself."""
    shown = [(site, committed[site.domain]) for site in sites if site.domain in committed]

    def share(right: list[bool]) -> float:
        return sum(right) / len(right)

    placed = [(site, lead) for site, lead in shown if site.city]
    assert share([lead.city == site.city for site, lead in placed]) > 0.95
    assert share([lead.country == site.country for site, lead in shown if site.country]) > 0.95
    assert share([lead.language == site.language for site, lead in shown]) > 0.95
    assert share([bool({*site.trades} & {*lead.trades}) for site, lead in shown if site.trades]) > 0.75
    assert share([{*lead.emails} == {one.value for one in site.emails} for site, lead in shown]) > 0.95
    assert share([{*site.technologies} <= {*(lead.technologies or ())} for site, lead in shown]) > 0.98


def test_what_came_and_went_between_two_crawls_is_known(sites: list[Site], committed: dict[str, Lead]) -> None:
    changed = [site for site in sites if used_before(site) != site.technologies]
    assert 150 < len(changed) < 600
    right = 0
    for site in changed:
        now, before, lead = {*site.technologies}, {*used_before(site)}, committed[site.domain]
        added, dropped = (
            {change.technology for change in map(decode_change, some)} for some in (lead.added, lead.dropped)
        )
        right += now - before <= added and before - now <= dropped
    assert right > 0.9 * len(changed)  # a copy of the home page, which some sites have, was crawled before the second
    others = {site.domain for site in sites} - {site.domain for site in changed}
    assert not [domain for domain in others if committed[domain].added or committed[domain].dropped]


def test_addresses_of_designers_are_not_contacts(sites: list[Site], committed: dict[str, Lead]) -> None:
    credited = [site for site in sites if site.designer]
    assert len(credited) > 200
    assert not [site.domain for site in credited if site.designer in committed[site.domain].emails]


def test_neglected_sites_have_a_bad_score_and_sites_without_a_flaw_a_good_one(
    sites: list[Site], committed: dict[str, Lead]
) -> None:
    scores = {site.domain: committed[site.domain].score or 0 for site in sites}
    neglected = [site for site in sites if site.flaws == FLAWS and not site.https]
    clean = [site for site in sites if not site.flaws and site.https and site.responsive and site.description]
    assert len(neglected) > 100
    assert sum(scores[site.domain] < 50 for site in neglected) > 0.8 * len(neglected)
    assert len(clean) > 300
    assert min(scores[site.domain] for site in clean) >= 75


def test_numbers_are_valid_and_kept_for_fiction_where_a_country_has_such(sites: list[Site]) -> None:
    numbers = {phone.value for site in sites for phone in site.phones}
    assert all(phonenumbers.is_valid_number(phonenumbers.parse(number)) for number in numbers)
    american = {phone.value for site in sites if site.country in ("USA", "CAN") for phone in site.phones}
    assert all(re.fullmatch(r"\+1\d{3}55501\d\d", number) for number in american)
    assert all(number.startswith("+442079460") for number in numbers if number.startswith("+4420"))


def test_the_same_companies_are_drawn_again(sites: list[Site]) -> None:
    assert len({site.domain for site in sites}) == len(sites)
    assert list(draw_companies())[::100] == sites[::100]
