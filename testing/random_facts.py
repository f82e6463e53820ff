"""Facts drawn at random from few values, so that they tie, repeat and contradict each other."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from siteglass.ingest.facts import (
    FACTS_SCHEMA,
    ContactSighting,
    NameSighting,
    PageFacts,
    TechnologyMark,
    TradeSighting,
    to_batch,
)
from siteglass.ingest.score import WEIGHTS

START_MS = 1_790_000_000_000
PATHS = ("/", "/", "/", "/en", "/contact", "/about", "/imprint", "/blog", "/blog/post", "/shop/a/b", "/ü")
TECHNOLOGIES = ("Shopify", "WordPress", "Google Analytics", "HubSpot", "Stripe", "no product of ours")
KINDS = ("page",) * 14 + ("parked", "soft_404", "failed", "redirect", "robots", "sitemap")
LOCALS = ("info", "sales", "jane.doe", "bob", "müller")


def random_facts(chance: random.Random, domains: int, *, crowd: int = 0) -> list[PageFacts]:
    """Captures of so many domains, shuffled; two more have `crowd` of them, one of which does not want to be listed."""
    found = [
        random_page(chance, f"site-{number}.example")
        for number in range(domains)
        for _ in range(chance.choice((1, 2, 4, 9)))
    ]
    found += [random_page(chance, "crowd.example", bodies=crowd // 2, kind="page") for _ in range(crowd)]
    found += [
        random_page(chance, "unlisted.example", bodies=crowd // 4, kind="page", noindex=True) for _ in range(crowd)
    ]
    found += [random_page(chance, name) for name in ("nodots", "Capital.example", "a" * 250 + ".example")]
    chance.shuffle(found)
    return found


def random_page(
    chance: random.Random, domain: str, bodies: int = 6, kind: str = "", noindex: bool | None = None
) -> PageFacts:
    """A capture of a domain."""
    path = chance.choice(PATHS) if bodies == 6 else f"/page/{chance.randrange(bodies)}"
    kind = kind or chance.choice(KINDS)
    at_ms = START_MS + chance.randrange(5) * 1_000
    values: dict[str, Any] = {
        "domain": domain,
        "url": f"https://{domain}{path}" + ("x" * 600 if chance.random() < 0.03 else ""),
        "path": path,
        "is_home": path in ("/", "/en"),
        "kind": kind,
        "captured_at_ms": at_ms,
        "archive": f"archive-{chance.randrange(3)}",
        "offset": chance.randrange(1_000_000),
        "digest": f"{chance.randrange(bodies):016x}",
        "redirects_to": chance.choice(("", "other.example")) if kind == "redirect" else "",
        "noindex": kind == "page" and chance.random() < 0.05 if noindex is None else noindex,
    }
    if kind == "robots":
        values |= {"has_robots": chance.choice((True, False)), "has_sitemap": chance.choice((True, False, None))}
        values |= {"audits": {name: chance.random() < 0.5 for name in _some(chance, ("robots-txt", "title"))}}
    if kind == "sitemap":
        values |= {"has_sitemap": chance.choice((True, False))}
    if kind == "page":
        values |= _content(chance, domain)
    return PageFacts(**values)


def plain_page(domain: str, path: str = "/", /, **values: Any) -> PageFacts:
    """A page that says nothing but what is given."""
    given: dict[str, Any] = {
        "domain": domain,
        "url": f"https://{domain}{path}",
        "path": path,
        "is_home": path == "/",
        "kind": "page",
        "captured_at_ms": START_MS,
        "archive": "some.warc.gz",
        "offset": 0,
        "digest": f"{domain}{path}",
    }
    return PageFacts(**(given | values))


def _some(chance: random.Random, values: tuple[str, ...], most: int = 3) -> tuple[str, ...]:
    return tuple(chance.choice(values) for _ in range(chance.randrange(most + 1)))


def _used(chance: random.Random) -> dict[str, Any]:
    """Technologies, with a mark if there are several."""
    names = _some(chance, (*TECHNOLOGIES, "t" * 600))
    marked = sorted({name for name in names if len(name) < 100 and len(names) > 1})
    marks = tuple(TechnologyMark(name, "script", "a.example", f"//a.example/{names.index(name)}") for name in marked)
    return {"technologies": names, "marks": marks}


def _content(chance: random.Random, domain: str) -> dict[str, Any]:
    country = chance.choice(("", "DEU", "USA", "FRA"))
    hosts = (domain, f"mail.{domain}", "free.example", "elsewhere.example")
    flag = (True, False, None)
    return {
        "title": chance.choice(("", "A title", "Grüße 🎈" * 90)),
        "description": chance.choice(("", "What it is", "long " * 500)),
        "business_name": chance.choice(("", "Acme", "Acme GmbH", "N" * 600)),
        "name_basis": chance.choice(("", *("json_ld", "og_site_name", "title", "domain"))),
        "names": tuple(
            NameSighting(chance.choice(("Acme", "ACME Ltd", "Acme Tools", "Boots")), source)
            for source in _some(chance, ("logo", "title", "copyright", "profile"))
        ),
        "text": chance.choice(("", "some words", "märchenhaft 🎈", "many words " * 1_200)),
        "keywords": _some(chance, ("shoes", "boots", "", "k" * 600, "größe")),
        "language": chance.choice(("", "de", "en", "fr")),
        "favicon": chance.choice(("", f"https://{domain}/favicon.ico", "https://" + "f" * 600)),
        "emails": tuple(
            ContactSighting(f"{chance.choice(LOCALS)}@{chance.choice(hosts)}", chance.choice(("mailto", "text")))
            for _ in range(chance.choice((0, 1, 3, 9)))
        ),
        "phones": tuple(ContactSighting(f"+49301234{chance.randrange(9)}", "tel") for _ in range(chance.randrange(3))),
        "social_links": {
            network: f"https://{network}.example/{chance.randrange(3)}"
            for network in _some(chance, ("facebook", "linkedin", "youtube", "myspace"))
        },
        "other_profiles": _some(chance, ("https://a.example/x", "https://b.example/y")),
        "country": country,
        "state": chance.choice(("", "BE", "BY")) if country else "",
        "city": chance.choice(("", "Berlin", "München", "C" * 600)) if country else "",
        "geo_basis": chance.choice(("", "json_ld", "address", "phone", "cctld", "gazetteer", "language")),
        **_used(chance),
        "offers": _some(chance, ("shipping", "crm", "chat", "", "o" * 600)),
        "service_types": _some(chance, ("Agency", "Realtor", "Retail", "s" * 600)),
        "pages": _some(chance, PATHS, 5),
        "links": _some(chance, ("https://a.example/", "https://b.example/", "https://" + "l" * 600)),
        "secure": chance.choice(flag),
        "responsive": chance.choice(flag),
        "has_schema": chance.choice(flag),
        "has_heading": chance.choice(flag),
        "has_description": chance.choice(flag),
        "load_time_ms": chance.choice((None, 0, 250, 2**31)),
        "audits": {name: chance.random() < 0.5 for name in _some(chance, ("title", "https", "h1"))},
        "trades": tuple(
            TradeSighting(trade, chance.choice(("schema.org", "title", "text")), chance.randrange(1, 60))
            for trade in sorted(set(_some(chance, ("construction", "roofer", "dentist", "hotel", "bar"))))
        ),
    }


def write_facts(folder: Path, facts: list[PageFacts], files: int = 3) -> None:
    """The facts as files of tasks, dealt out in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        pq.write_table(
            pa.Table.from_batches([to_batch(facts[number::files])], FACTS_SCHEMA), folder / f"task-{number}.parquet"
        )


def bench_facts(chance: random.Random, count: int) -> list[PageFacts]:
    """Pages of a believable size, that speak for their domain."""
    words = [f"word{number}" for number in range(2_000)]

    def page(number: int) -> PageFacts:
        country = chance.choice(("", "DEU", "USA", "FRA"))
        return PageFacts(
            domain="",
            url="",
            path="",
            is_home=False,
            kind="page",
            captured_at_ms=START_MS + number,
            archive="CC-MAIN-20261001000000-20261001030000-00000.warc.gz",
            offset=0,
            digest="",
            title=" ".join(chance.choices(words, k=6)),
            description=" ".join(chance.choices(words, k=20)),
            business_name=" ".join(chance.choices(words, k=2)),
            name_basis=chance.choice(("json_ld", "og_site_name", "title", "domain")),
            text=" ".join(chance.choices(words, k=250)),
            keywords=tuple(chance.choices(words, k=10)),
            language=chance.choice(("de", "en", "fr")),
            phones=(ContactSighting(f"+4930{chance.randrange(10**7):07}", "tel"),) if chance.random() < 0.4 else (),
            social_links={network: f"https://{network}.example/{number}" for network in ("facebook", "linkedin")},
            country=country,
            state="BE" if country else "",
            city="Berlin" if country else "",
            geo_basis=chance.choice(("json_ld", "phone", "cctld")) if country else "",
            technologies=tuple(chance.choices(TECHNOLOGIES, k=5)),
            offers=tuple(chance.choices(("shipping", "crm", "chat"), k=2)),
            service_types=("Agency", "Retail"),
            trades=(TradeSighting("marketing_agency", "title", 40), TradeSighting("retail", "text", 10)),
            pages=tuple(f"/{word}" for word in chance.choices(words, k=15)),
            links=tuple(f"https://{word}.example/" for word in chance.choices(words, k=15)),
            secure=True,
            responsive=True,
            has_heading=True,
            load_time_ms=200,
            audits={name: chance.random() < 0.7 for name in WEIGHTS},
        )

    return [page(number) for number in range(count)]
