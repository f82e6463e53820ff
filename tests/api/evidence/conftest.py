"""A service over leads whose contacts have evidence, but for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from siteglass.corpus.evidence_files import EVIDENCE_SCHEMA, Sighting, write_evidence
from siteglass.corpus.lead import Lead, Mark, TechnologyDetail
from siteglass.corpus.lead_files import write_parquet
from testing.customers import Bank
from testing.service import fill, serving, settings_for

DAY_MS = 24 * 3_600_000
NEWEST_MS = 1_790_000_000_000
PHONE = "+4930901820"
OPTED_OUT_PHONE = "+4930901821"


def sighting(domain: str, value: str, page: str, method: str, days: int = 0) -> Sighting:
    """A value on a page of its site, seen for a month until so many days ago."""
    last_ms = NEWEST_MS - days * DAY_MS
    return Sighting(
        domain=domain,
        kind="email" if "@" in value else "phone",
        value=value,
        page=f"https://{domain}{page}",
        method=method,
        first_seen_ms=last_ms - 30 * DAY_MS,
        last_seen_ms=last_ms,
        archive="crawl-1.warc.gz",
        offset=17,
    )


KLAVIYO = TechnologyDetail(
    value="Klaviyo",
    marks=(
        Mark(kind="script", rule="static.klaviyo.com", excerpt="//static.klaviyo.com/a.js"),
        Mark(kind="inline_script", rule="never shown", excerpt="x='eve@seen.example'"),
    ),
    page="https://seen.example/",
    first_seen_ms=NEWEST_MS - 30 * DAY_MS,
    last_seen_ms=NEWEST_MS,
)


def _lead(domain: str, *emails: str, phones: tuple[str, ...] = ()) -> Lead:
    return Lead(domain=domain, crawled_at_ms=NEWEST_MS, title=domain, emails=emails, phones=phones, score=50)


LEADS = [
    _lead("b-many.example", "hello@b-many.example"),
    _lead("c-none.example", "hello@c-none.example"),
    msgspec.structs.replace(
        _lead("d-optout.example", "eve@d-optout.example", "info@d-optout.example", phones=(OPTED_OUT_PHONE,)),
        description="Ask eve [at] d-optout (dot) example, Tel. 030 / 90 18 21.",
    ),
    msgspec.structs.replace(
        _lead("seen.example", "info@seen.example", "eve@seen.example", phones=(PHONE,)),
        technologies=("Klaviyo", "Wix"),
        technologies_detail=(KLAVIYO,),
    ),
]
SIGHTINGS = [
    *(sighting("b-many.example", "hello@b-many.example", f"/page-{number}", "text", number) for number in range(25)),
    sighting("d-optout.example", "eve@d-optout.example", "/", "mailto"),
    sighting("d-optout.example", "info@d-optout.example", "/", "mailto"),
    sighting("d-optout.example", "info@d-optout.example", "/@some.name", "text", 1),
    sighting("d-optout.example", "info@d-optout.example", "/call/030-901821", "text", 2),
    sighting("d-optout.example", "info@d-optout.example", "/team?who=eve@d-optout.example", "text", 3),
    sighting("d-optout.example", "info@d-optout.example", "/team?who=info%40d-optout.example", "text", 4),
    sighting("d-optout.example", OPTED_OUT_PHONE, "/", "tel"),
    sighting("seen.example", "eve@seen.example", "/team", "cloudflare"),
    sighting("seen.example", "gone@seen.example", "/", "text"),  # no longer a value of the lead
    sighting("seen.example", "info@seen.example", "/contact", "mailto"),
    sighting("seen.example", "info@seen.example", "/imprint", "text", 3),
    sighting("seen.example", PHONE, "/contact", "tel"),
]


@contextmanager
def evident(prefix: str, store: Path) -> Iterator[Bank]:
    """Makes customers of that service."""
    settings = settings_for(prefix, lead_store=store)
    write_parquet(store / "leads.parquet", LEADS, row_group_size=2)  # two of them: each has its own evidence
    rows = [msgspec.structs.asdict(one) for one in SIGHTINGS]
    write_evidence(store / "leads.parquet", pa.Table.from_pylist(rows, EVIDENCE_SCHEMA))
    fill(settings, store / "leads.parquet")
    with serving(settings) as client:
        made = Bank(settings, str(client.base_url))
        yield made
        made.close()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Bank]:
    """Makes customers of that service."""
    with evident(f"evidence-{worker_id}", tmp_path_factory.mktemp("store")) as made:
        yield made
