"""Leads made by hand, fewer than fit one page: one fact each, and the edges of every scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from siteglass.corpus.lead import Lead
from siteglass.query.technology_changes import decode_change, encode_change
from siteglass.query.trades import trades
from testing.api_calls import NETWORKS

CRAWLED = 1_790_000_000_000
"""When all were crawled that say nothing else: 2026-09-21."""
CRAWLED_DAY = CRAWLED // 86_400_000


def _site(domain: str, **facts: Any) -> Lead:
    return Lead(domain=domain, **{"crawled_at_ms": CRAWLED, **facts})


FULL = _site(
    "full-record.com",
    crawled_at_ms=CRAWLED + 123,
    updated_at_ms=CRAWLED - 86_400_000 + 7,
    url="https://www.full-record.com/",
    business_name="Full Record Ltd",
    title="Full Record | Everything is filled",
    description="A site where every fact was learned.",
    text="Nothing here is left to chance.",
    keywords=("complete facts", "thoroughness"),
    language="en",
    favicon="https://www.full-record.com/favicon.ico",
    emails=("info@full-record.com", "ada.lovelace@full-record.com", "sales@full-record.com"),
    emails_personal=("ada.lovelace@full-record.com",),
    phones=("+1 555 0100", "+1 555 0101"),
    emails_detail=(
        {
            "value": "info@full-record.com",
            "owner": "own",
            "confidence": 95,
            "page": "https://www.full-record.com/contact",
            "crawled_at_ms": CRAWLED - 1_500,
            "first_seen_ms": CRAWLED - 86_400_000,
            "last_seen_ms": CRAWLED,
        },
        {
            "value": "ada.lovelace@full-record.com",
            "owner": "affiliate",
            "confidence": 80,
            "page": None,
            "crawled_at_ms": None,
        },
    ),
    phones_detail=(
        {
            "value": "+1 555 0101",
            "owner": "unknown",
            "confidence": 40,
            "page": "https://www.full-record.com/about/team",
            "crawled_at_ms": CRAWLED,
        },
    ),
    social_links={network: f"https://www.{network}.com/fullrecord" for network in NETWORKS},
    other_profiles=("https://medium.com/@fullrecord",),
    country="USA",
    state="WA",
    city="Seattle",
    technologies=("Shopify", "HubSpot", "Foo, Inc."),
    technologies_detail=(
        {
            "value": "HubSpot",
            "marks": ({"kind": "script", "rule": "js.hs-scripts.com", "excerpt": "//js.hs-scripts.com/"},),
            "page": "https://www.full-record.com/",
            "first_seen_ms": CRAWLED - 86_400_000,
            "last_seen_ms": CRAWLED,
        },
        {"value": "Shopify", "marks": (), "page": None, "first_seen_ms": None, "last_seen_ms": None},
    ),
    added=(encode_change("Shopify", CRAWLED_DAY - 30), encode_change("HubSpot", CRAWLED_DAY - 400)),
    dropped=(encode_change("Magento", CRAWLED_DAY - 30), encode_change("Shopify", CRAWLED_DAY - 900)),
    categories_uses=("crm", "ecommerce"),
    offers=("marketing", "legal_service"),
    service_type="SaaS",
    trades=("software_company", "it_consultant"),
    trade_sources={"software_company": "schema.org", "it_consultant": "title"},
    pages=("/pricing", "/about/team"),
    links=("https://www.full-record.com/pricing", "https://www.full-record.com/about/team"),
    score=77,
    spending=1234,
    load_time_ms=2500,
    secure=True,
    responsive=True,
    has_sitemap=True,
    has_schema=True,
    has_robots=True,
    has_heading=True,
    has_description=True,
)
BARE = _site("bare-record.com")
NEVER = _site(
    "denied-record.com",
    technologies=(),
    pages=("/pricing/plans",),
    secure=False,
    responsive=False,
    has_sitemap=False,
    has_schema=False,
    has_robots=False,
    has_heading=False,
    has_description=False,
)
SPENDERS = [
    _site(f"spends-{amount}.com", spending=amount)
    for amount in (0, 99, 100, 499, 500, 999, 1000, 4999, 5000, 9999, 10000, 49999, 50000, 99999, 100000, 7_000_000)
]
SCORED = [_site(f"scores-{score}.com", score=score) for score in (0, 1, 29, 30, 31, 50, 80, 81, 90, 91, 100)]
LOADING = [_site(f"loads-{time_ms}.com", load_time_ms=time_ms) for time_ms in (0, 1499, 2999, 3000, 3001)]
TRUSTED = [
    _site(f"trusted-{percent}.com", emails=(f"info@trusted-{percent}.com",), email_owner_confidence=percent)
    for percent in (50, 80, 81, 100)
]
CRAWLS = [
    *(_site(f"crawled-{age}.com", crawled_at_ms=CRAWLED - age) for age in (1, 1000, 86_400_000)),
    _site("only-imported.com", crawled_at_ms=0, newest_fact_ms=CRAWLED),
]
ADDRESSED = [
    _site("role-only.com", emails=("info@role-only.com",)),
    _site("person-only.com", emails=("eve@person-only.com",), emails_personal=("eve@person-only.com",)),
]
SOCIAL = [
    _site(f"on-{network}.com", social_links={network: f"https://{network}.com/one"}, phones=("+44 20 7946 0000",))
    for network in NETWORKS
]
PLACES = [
    _site("los-angeles.com", country="USA", state="CA", city="Los Angeles"),
    _site("new-york.com", country="USA", state="NY", city="New York City"),
    _site("atlanta.com", country="USA", state="GA", city="Atlanta"),
    _site("tbilisi.com", country="GEO", city="Tbilisi"),
    _site("cagliari.com", country="ITA", state="CA", city="Cagliari"),
    _site("munich.com", country="DEU", state="BY", city="Munich"),
    _site("sao-paulo.com", country="BRA", state="SP", city="São Paulo"),
    _site("zurich.com", country="CHE", state="ZH", city="Zürich"),
    _site("abidjan.com", country="CIV", city="Abidjan"),
    _site("cordoba-argentina.com", country="ARG", state="X"),
    _site("cordoba-colombia.com", country="COL", state="COR"),
    _site("usa-only.com", country="USA"),
]
WORDED = [
    _site("word-title.com", title="Emergency Dentists of the old town", language="en"),
    _site("word-description.com", description="The DENTIST for an emergency", language="de"),
    _site("word-name.com", business_name="Café Crème"),
    _site("word-keywords.com", keywords=("vegan dog food",), language="fr"),
    _site("word-text.com", text="We sell dog food and it is vegan too."),
    _site("word-chinese.com", text="欢迎来到本市最好的牙医诊所。"),
    _site("word-japanese.com", title="東京の歯医者", language="ja"),
    _site("word-wide.com", title="ＡＢＣ Trading"),
    _site("word-compound.com", text="Unser Gartenzaun am Krankenhaus", language="de"),
    _site("word-compound-of-no-language.com", text="Gartenzaun"),
    _site("word-thai.com", text="คลินิกทันตกรรม ใจกลางเมือง"),
]
USING = [
    _site("uses-shopify.com", technologies=("Shopify",), categories_uses=("ecommerce",), service_type="Ecommerce"),
    _site("uses-hubspot.com", technologies=("HubSpot",), categories_uses=("crm",), service_type="Agency"),
    _site("offers-crm.com", technologies=("WordPress",), offers=("crm",), service_type="Realtor"),
]
TRADES = [
    _site("trade-orthodontist.de", trades=("orthodontist",), title="Kieferorthopädie am Markt"),
    _site("trade-dentist.fr", trades=("dentist",), title="Cabinet dentaire"),
    _site("trade-doctor.com", trades=("doctor", "clinic"), title="Family practice"),
    _site("trade-roofer.com", trades=("roofer",), title="Roofs"),
]
HOSTS = [
    _site("xn--mnchen-3ya.de", title="Umlaut"),
    _site("own-host.com", title="The domain"),
    _site("blog.own-host.com", title="A host of its own"),
    _site("registered.co.uk", title="Under a longer suffix"),
]
HANDMADE: list[Lead] = [
    FULL, BARE, NEVER, *SPENDERS, *SCORED, *LOADING, *TRUSTED, *CRAWLS, *ADDRESSED, *SOCIAL, *PLACES, *WORDED, *USING,
    *TRADES, *HOSTS,
]  # fmt: skip
assert len(HANDMADE) < 100
BY_DOMAIN = {lead.domain: lead for lead in HANDMADE}


def those(holds: Callable[[Lead], object]) -> set[str]:
    """Domains of the hand-made leads for which something holds."""
    return {lead.domain for lead in HANDMADE if holds(lead)}


def changed(numbers: tuple[int, ...], since: int, *technologies: str) -> bool:
    """Whether one of the technologies changed on a day or later."""
    return any(change.technology in technologies and change.day >= since for change in map(decode_change, numbers))


def is_a(lead: Lead, *wanted: str) -> bool:
    """Whether a lead is of one of these trades, or of one under them."""
    return any(not {one, *trades().parents(one)}.isdisjoint(wanted) for one in lead.trades)
