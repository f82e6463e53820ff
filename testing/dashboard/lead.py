"""Leads that the tests of the lead page open, and where their contacts were seen."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA, IMPORT_METHOD, Sighting, write_evidence
from siteglass.corpus.lead import ContactDetail, Lead, Mark, MarkKind, TechnologyDetail

CRAWLED_MS = 1_790_000_000_000
DAY_MS = 24 * 3_600_000
ALDER, IMPORTED, QUIET, EVE = "alderdental.com", "imported-dental.com", "quiet-dental.com", "eve-dental.com"


def _dentist(domain: str, name: str, *emails: str, **more: object) -> Lead:
    fixed = Lead(
        domain=domain,
        crawled_at_ms=CRAWLED_MS,
        business_name=name,
        title=f"{name}: dentist in Austin",
        emails=emails,
        phones=(f"+1 512 555 01{len(name):02}",),
        country="USA",
        state="TX",
        city="Austin",
        language="en",
        technologies=("WordPress",),
        trades=("dentist",),
        score=80,
    )
    return msgspec.structs.replace(fixed, **more)


def _detail(value: str, days: int) -> ContactDetail:
    """Of a value that was first seen so many days before the crawl."""
    return ContactDetail(
        value=value,
        owner="own",
        confidence=90,
        page=f"https://www.{ALDER}/contact",
        crawled_at_ms=CRAWLED_MS,
        first_seen_ms=CRAWLED_MS - days * DAY_MS,
        last_seen_ms=CRAWLED_MS,
    )


def _shown(value: str, kind: MarkKind, rule: str, excerpt: str) -> TechnologyDetail:
    return TechnologyDetail(
        value=value,
        marks=(Mark(kind=kind, rule=rule, excerpt=excerpt),),
        page=f"https://www.{ALDER}/",
        first_seen_ms=CRAWLED_MS - 43 * DAY_MS,
        last_seen_ms=CRAWLED_MS,
    )


def dental_leads() -> list[Lead]:
    """One with everything, one of a file of leads, one of a table without an address, one whose address a test
    suppresses."""
    return [
        _dentist(
            ALDER,
            "Alder Dental",
            "dr.alder@alderdental.com",
            "info@alderdental.com",
            "alder.dental@gmail.com",
            emails_personal=("dr.alder@alderdental.com", "alder.dental@gmail.com"),
            email_owner="own",
            phone_owner="own",
            emails_detail=(_detail("info@alderdental.com", 43), _detail("alder.dental@gmail.com", 0)),
            hidden_contacts=("email designer", "phone regulator", "phone regulator"),
            technologies=("WordPress", "Google Ads", "Facebook Pixel", "jQuery", "WooCommerce", "Google Analytics"),
            technologies_detail=(
                _shown("Google Ads", "inline_script", "AW-", "gtag('config', 'AW-"),
                _shown("WooCommerce", "link", "/plugins/woocommerce/", "/wp-content/plugins/woocommerce/a.css"),
                _shown("WordPress", "implied", "WooCommerce", "/wp-content/plugins/woocommerce/a.css"),
                _shown("Google Analytics", "script", "google-analytics.com/ga.js", "//www.google-analytics.com/ga.js"),
            ),
            trade_sources={"dentist": "title"},
            score=44,
            spending=1_575,
            load_time_ms=2_340,
            responsive=False,
            has_description=False,
            secure=True,
            social_links={"facebook": "https://facebook.com/alderdental"},
        ),
        _dentist(IMPORTED, "Imported Dental", "hello@imported-dental.com"),
        _dentist(QUIET, "Quiet Dental"),
        _dentist(EVE, "Eve Dental", "eve@eve-dental.com", "info@eve-dental.com"),
    ]


def write_sightings(folder: Path) -> None:
    """The evidence next to `leads.parquet`."""
    seen = [
        *_seen(ALDER, "dr.alder@alderdental.com", ("/team", "text", 0), ("/imprint", "obfuscated", 3)),
        *_seen(ALDER, "info@alderdental.com", ("/contact", "mailto", 0)),
        *_seen(ALDER, "alder.dental@gmail.com", ("/imprint", "text", 0)),
        *_seen(ALDER, "+1 512 555 0112", ("/contact", "tel", 0)),
        *_seen(EVE, "eve@eve-dental.com", ("/", "mailto", 0)),
        *_seen(EVE, "info@eve-dental.com", ("/", "mailto", 0)),
    ]
    (quiet,) = _seen(QUIET, "+1 512 555 0112", ("", IMPORT_METHOD, 0))
    seen.append(msgspec.structs.replace(quiet, page="imported from dentists.csv on 2026-09-21"))
    rows = [msgspec.structs.asdict(one) for one in seen]
    write_evidence(folder / "leads.parquet", pa.Table.from_pylist(rows, EVIDENCE_SCHEMA))


def _seen(domain: str, value: str, *places: tuple[str, str, int]) -> list[Sighting]:
    return [
        Sighting(
            domain=domain,
            kind="email" if "@" in value else "phone",
            value=value,
            page=f"https://www.{domain}{path}",
            method=method,
            first_seen_ms=CRAWLED_MS - 30 * DAY_MS,
            last_seen_ms=CRAWLED_MS - days * DAY_MS,
        )
        for path, method, days in places
    ]
