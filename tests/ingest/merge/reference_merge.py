"""The merge once more, in plain Python and slow: what the one in Spark is held against, field by field."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from siteglass.corpus.lead import SOCIAL_NETWORKS, ContactDetail, Lead, Mark, TechnologyDetail
from siteglass.corpus.trade_rules import Candidate, decide
from siteglass.ingest.extract.names import NamedPage, elected, sightings_of_best
from siteglass.ingest.facts import PageFacts
from siteglass.ingest.rules import Rules
from siteglass.ingest.service_types import SiteTexts, service_type
from siteglass.query.vocabulary import vocabulary

GEO_BASES = ["json_ld", "address", "phone", "cctld", "gazetteer", "language"]


@dataclass(frozen=True, order=True, slots=True)
class Evidence:
    """A row of evidence."""

    domain: str
    kind: str
    value: str
    page: str
    method: str
    first_seen_ms: int
    last_seen_ms: int
    archive: str
    offset: int


class Page(NamedTuple):
    """Captures of equal bodies: the best of them, and all."""

    best: PageFacts
    all: list[PageFacts]


def merged(facts: Iterable[PageFacts], rules: Rules) -> tuple[list[Lead], list[Evidence], dict[str, int]]:
    """Leads, evidence, and the domains dropped by reason."""
    by_domain: dict[str, list[PageFacts]] = defaultdict(list)
    for one in facts:
        by_domain[one.domain].append(one)
    leads: list[Lead] = []
    evidence: list[Evidence] = []
    dropped: Counter[str] = Counter()
    for domain in sorted(by_domain):
        if reason := _dropped(domain, by_domain[domain]):
            dropped[reason] += 1
            continue
        rows = _evidence(domain, _pages(by_domain[domain], rules))
        lead = _lead(domain, by_domain[domain], rows, rules)
        leads.append(lead)
        evidence += [row for row in rows if row.value in (lead.emails if row.kind == "email" else lead.phones)]
    return leads, sorted(evidence), dict(dropped)


def _newest(one: PageFacts) -> tuple[Any, ...]:
    return one.captured_at_ms, one.digest, one.url, one.archive, one.offset


def _speaks(one: PageFacts) -> bool:
    return one.kind == "page" and not (one.noindex and one.is_home)


def _is_alias(one: PageFacts) -> bool:
    return one.kind == "redirect" and one.redirects_to != ""


def _dropped(domain: str, captures: list[PageFacts]) -> str:
    if len(domain) > 253 or not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+", domain):
        return "name"
    homes = [one for one in captures if one.is_home and (one.kind in ("page", "parked") or _is_alias(one))]
    if homes:
        home = max(homes, key=lambda one: (one.path == "/", _newest(one)))
        if home.kind != "page":
            return "parked" if home.kind == "parked" else "alias"
        if home.noindex:
            return "noindex"
    if any(map(_speaks, captures)):
        return ""
    reasons: list[tuple[str, Callable[[PageFacts], bool]]] = [
        ("parked", lambda one: one.kind == "parked"),
        ("alias", _is_alias),
    ]
    return next((reason for reason, holds in reasons if any(map(holds, captures))), "no_page")


def _pages(captures: list[PageFacts], rules: Rules) -> list[Page]:
    """The fifty best bodies, the best first."""

    def rank(one: PageFacts) -> tuple[Any, ...]:
        worth = int(one.path != "/") if one.is_home else rules.priority(one.path)
        return not one.is_home, worth, -one.captured_at_ms, one.digest, one.url, one.archive, one.offset

    bodies: dict[str, list[PageFacts]] = defaultdict(list)
    for one in sorted(filter(_speaks, captures), key=rank):
        bodies[one.digest].append(one)
    return sorted((Page(same[0], same) for same in bodies.values()), key=lambda page: rank(page.best))[:50]


def _evidence(domain: str, pages: list[Page]) -> list[Evidence]:
    found: dict[tuple[str, str, str, str], list[Page]] = defaultdict(list)
    for page in pages:
        for kind, values in (("email", page.best.emails), ("phone", page.best.phones)):
            for one in dict.fromkeys(values):
                if 1 <= len(one.value) <= 512:
                    found[kind, one.value, page.best.url, one.method].append(page)
    return [_row(domain, key, seen) for key, seen in found.items()]


def _row(domain: str, key: tuple[str, str, str, str], seen: list[Page]) -> Evidence:
    times = [one.captured_at_ms for page in seen for one in page.all]

    def newest(page: Page) -> tuple[int, str, int]:
        return -max(one.captured_at_ms for one in page.all), page.best.archive, page.best.offset

    last = min(seen, key=newest).best
    return Evidence(domain, *key, min(times), max(times), last.archive, last.offset)


def _union(values: Iterable[Iterable[str]]) -> tuple[str, ...]:
    once = dict.fromkeys(value for some in values for value in some if 1 <= len(value) <= 512)
    return tuple(once)[:50]


def _geo(rows: list[tuple[int, str]]) -> str:
    votes = Counter(rows)
    return min(rows, key=lambda row: (row[0], -votes[row], rows.index(row)))[1] if rows else ""


def _lead(domain: str, captures: list[PageFacts], evidence: list[Evidence], rules: Rules) -> Lead:
    with_times = _pages(captures, rules)
    pages = [page.best for page in with_times]
    home = pages[0] if pages[0].is_home else None
    shown = home or min(enumerate(pages), key=lambda pair: (len(pair[1].path), pair[0]))[1]
    technologies = _technologies(pages, home)
    candidates = _trades(pages, home)
    trades = decide(candidates)
    country, state, city = _place(pages)
    emails = _emails(domain, evidence, rules)
    pages_of = Counter(
        {value: len({row.page for row in evidence if row.value == value}) for value in _of(evidence, "phone")}
    )
    phones = tuple(sorted(pages_of, key=lambda value: (-pages_of[value], value))[:50])
    return Lead(
        domain=domain,
        crawled_at_ms=shown.captured_at_ms,
        updated_at_ms=max(one.captured_at_ms for page in with_times for one in page.all),
        newest_fact_ms=max(one.captured_at_ms for one in captures),
        url=shown.url if len(shown.url) <= 512 else "",
        business_name=_name(pages),
        title=shown.title[:512],
        description=shown.description[:2_000],
        text="\n".join(page.text[:20_000] for page in pages if page.text)[:20_000],
        keywords=_union([shown.keywords]),
        language=_language(pages),
        favicon=shown.favicon if len(shown.favicon) <= 512 else "",
        emails=emails,
        email_owner="own" if emails else "",
        email_owner_confidence=90 if emails else None,
        phone_owner="own" if phones else "",
        phone_owner_confidence=90 if phones else None,
        emails_personal=tuple(one for one in emails if not rules.kind(one, "", False).is_generic),
        phones=phones,
        emails_detail=_details("email", emails, evidence),
        phones_detail=_details("phone", phones, evidence),
        social_links=_social_links(pages),
        other_profiles=_union(page.other_profiles for page in pages),
        country=country,
        state=state,
        city=city,
        technologies=technologies if technologies or home else None,
        technologies_detail=tuple(_technology_detail(one, with_times) for one in technologies),
        categories_uses=tuple(
            sorted({category for one in technologies for category in vocabulary().categories_of(one)})[:200]
        ),
        offers=_offers(pages),
        service_type=service_type(
            _service_type(pages),
            technologies,
            [one.trade for one in trades],
            candidates,
            SiteTexts(_name(pages), shown.title[:512], shown.description[:2_000], _union([shown.pages])),
        ),
        trades=tuple([one.trade for one in trades]),
        trade_sources={one.trade: one.source for one in trades},
        pages=_union([shown.pages]),
        links=_union([shown.links]),
        score=rules.score(_checks(home, captures)) if home and home.audits else None,
        spending=rules.spending(technologies if technologies or home else None, country),
        load_time_ms=home.load_time_ms if home and home.load_time_ms != 2**31 else None,
        secure=shown.secure,
        responsive=home.responsive if home else None,
        has_schema=home.has_schema if home else None,
        has_heading=home.has_heading if home else None,
        has_description=home.has_description if home else None,
        has_robots=_newest_flag(captures, "robots", "has_robots"),
        has_sitemap=_has_sitemap(captures),
    )


def _details(kind: str, values: tuple[str, ...], evidence: list[Evidence]) -> tuple[ContactDetail, ...]:
    """With the newest page of each whose URL is short enough; of equal times the first by name."""
    found = []
    for value in values:
        rows = [row for row in evidence if (row.kind, row.value) == (kind, value)]
        short = [row for row in rows if len(row.page) <= 512]
        newest = min(short, key=lambda row: (-row.last_seen_ms, row.page), default=None)
        page, at_ms = (newest.page, newest.last_seen_ms) if newest else (None, None)
        detail = ContactDetail(value=value, owner="own", confidence=90, page=page, crawled_at_ms=at_ms)
        detail["first_seen_ms"] = min(row.first_seen_ms for row in rows)
        detail["last_seen_ms"] = max(row.last_seen_ms for row in rows)
        found.append(detail)
    return tuple(found)


def _of(evidence: list[Evidence], kind: str) -> set[str]:
    return {row.value for row in evidence if row.kind == kind}


def _emails(domain: str, evidence: list[Evidence], rules: Rules) -> tuple[str, ...]:
    def place(address: str) -> tuple[int, int, str]:
        host = address.rpartition("@")[2]
        ours = host == domain or host.endswith("." + domain)
        group = int(rules.kind(address, "", False).is_generic) if ours else 2 + rules.is_free_mail(address)
        return group, -len({row.page for row in evidence if row.kind == "email" and row.value == address}), address

    return tuple(sorted(_of(evidence, "email"), key=place)[:50])


def _name(pages: list[PageFacts]) -> str:
    named = [
        NamedPage(page.names or sightings_of_best(page.business_name, page.name_basis, page.title), page.is_home)
        for page in pages
    ]
    return elected(pages[0].domain, named)[0][:512]


def _language(pages: list[PageFacts]) -> str:
    votes: Counter[str] = Counter()
    for page in pages:
        if page.language:
            votes[page.language] += len(page.text[:20_000])
    return min(votes, key=lambda code: (-votes[code], code)) if votes else ""


def _social_links(pages: list[PageFacts]) -> dict[str, str]:
    found: dict[str, str] = {}
    for page in pages:
        for network, url in page.social_links.items():
            if network in SOCIAL_NETWORKS and 1 <= len(url) <= 512:
                found.setdefault(network, url)
    return found


def _place(pages: list[PageFacts]) -> tuple[str, str, str]:
    known = [
        (GEO_BASES.index(page.geo_basis) if page.geo_basis in GEO_BASES else 99, page) for page in pages if page.country
    ]
    country = _geo([(basis, page.country) for basis, page in known])
    inside = [(basis, page) for basis, page in known if page.country == country]
    state = _geo([(basis, page.state) for basis, page in inside if page.state])
    fits = [
        (basis, page.city[:512]) for basis, page in inside if page.city and (not state or page.state in ("", state))
    ]
    return country, state, _geo(fits)


def _technologies(pages: list[PageFacts], home: PageFacts | None) -> tuple[str, ...]:
    hits = Counter(one for page in pages for one in set(page.technologies) if 1 <= len(one) <= 512)
    at_home = set(home.technologies) if home else set()
    return tuple(sorted(one for one in hits if one in at_home or hits[one] >= 2)[:50])


def _technology_detail(name: str, pages: list[Page]) -> TechnologyDetail:
    """With the mark of the newest page that has one; of equal times of the best page."""
    using = [page for page in pages if name in page.best.technologies]
    marks = [[one for one in page.best.marks if one.technology == name] for page in using]
    times = [[one.captured_at_ms for one in page.all] for page in using]
    _, _, number = min((not marks[number], -max(times[number]), number) for number in range(len(using)))
    url = using[number].best.url
    return TechnologyDetail(
        value=name,
        marks=tuple(Mark(kind=one.kind, rule=one.rule, excerpt=one.excerpt) for one in marks[number]),
        page=url if len(url) <= 300 else None,
        first_seen_ms=min(map(min, times)),
        last_seen_ms=max(map(max, times)),
    )


def _offers(pages: list[PageFacts]) -> tuple[str, ...]:
    votes = Counter(one for page in pages for one in set(page.offers) if 1 <= len(one) <= 512)
    return tuple(sorted(votes, key=lambda one: (-votes[one], one))[:50])


def _service_type(pages: list[PageFacts]) -> str:
    first = [page.service_types[0] for page in pages if page.service_types and 1 <= len(page.service_types[0]) <= 512]
    return min(first, key=lambda one: (-first.count(one), first.index(one))) if first else ""


def _trades(pages: list[PageFacts], home: PageFacts | None) -> tuple[Candidate, ...]:
    """By the best page each, and those that agree. Beside a home page others count little, unless by a type."""
    found: dict[str, list[tuple[int, str]]] = {}
    for page in pages:
        for one in page.trades:
            counts = home is None or page is home or one.source == "schema.org"
            found.setdefault(one.trade, []).append((one.points if counts else min(one.points, 25), one.source))
    best = {trade: max(seen, key=lambda one: one[0]) for trade, seen in found.items()}
    return tuple(
        [
            Candidate(trade, source, points + min(15, 5 * (len(found[trade]) - 1)))
            for trade, (points, source) in best.items()
        ]
    )


def _newest_flag(captures: list[PageFacts], kind: str, name: str) -> bool | None:
    known = [one for one in captures if one.kind == kind and getattr(one, name) is not None]
    return bool(getattr(max(known, key=_newest), name)) if known else None


def _checks(home: PageFacts, captures: list[PageFacts]) -> dict[str, bool]:
    robots = [one for one in captures if one.kind == "robots" and one.has_robots is not None]
    checks = home.audits | (max(robots, key=_newest).audits if robots else {})
    sitemap = _has_sitemap(captures)
    return checks if sitemap is None else checks | {"sitemap": sitemap}


def _has_sitemap(captures: list[PageFacts]) -> bool | None:
    flags = [_newest_flag(captures, kind, "has_sitemap") for kind in ("robots", "sitemap")]
    return None if flags == [None, None] else any(flags)
