"""A service whose front door is open: mails go to a folder, names are looked up at a DNS server of the tests' own."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from siteglass.corpus.lead import Lead
from siteglass.settings import Settings
from testing.loopback_servers import Names, Site, hosting, naming
from testing.mails import Outbox
from testing.service import serving
from tests.language_model.conftest import Moving
from tests.suppression.world import world

LEADS = [
    Lead(
        domain=f"door-{name}.com",
        crawled_at_ms=1_790_000_000_000,
        title=f"The {name} site",
        emails=(f"{name}@door-{name}.com", "shared@door-shared.com"),
        country="USA",
    )
    for name in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
]
# Read from pages, as most leads are.
SEEN = Lead(
    domain="door-seen.com",
    crawled_at_ms=1_790_000_000_000,
    title="A site that was read",
    emails=("jo@door-seen.com", "team@door-seen.com"),
    phones=("+1 555 0123",),
    emails_detail=tuple(
        {
            "value": f"{name}@door-seen.com",
            "owner": "own",
            "confidence": 90,
            "page": f"https://door-seen.com/{page}",
            "crawled_at_ms": 1_790_000_000_000,
            "first_seen_ms": 1_780_000_000_000,
            "last_seen_ms": 1_790_000_000_000,
        }
        for name, page in (("jo", "imprint"), ("team", "contact"))
    ),
    country="USA",
)
ASK, CONFIRM = "/v1/opt-out", "/v1/opt-out/confirm"
_CALLERS = itertools.count(1)


@dataclass
class Door:
    """The service as somebody without a key sees it, and what is around it."""

    client: httpx.Client
    outbox: Outbox
    names: Names
    site: Site
    clock: Moving
    settings: Settings

    def post(self, path: str, body: Any, caller: str | None = None) -> httpx.Response:
        """From a new address each time, so that only tests of the limit meet it."""
        if caller is None:
            number = next(_CALLERS)
            caller = f"198.18.{number // 256}.{number % 256}"
        return self.client.post(path, json=body, headers={"X-Forwarded-For": caller})

    def ask(self, **body: Any) -> dict[str, Any]:
        response = self.post(ASK, body)
        assert response.status_code == 202, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def confirm(self, **body: Any) -> dict[str, Any]:
        response = self.post(CONFIRM, body)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer


@pytest.fixture(scope="session")
def leads(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Settings]:
    """Settings of an index with these leads and its own tables: what is suppressed here is so for no other test."""
    with world(f"door_{worker_id}", [*LEADS, SEEN], tmp_path_factory.mktemp("door")) as made:
        yield made.settings


@pytest.fixture(scope="module")
def door(leads: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """The service with everything around it."""
    folder: Path = tmp_path_factory.mktemp("outbox") / "outbox"
    with naming() as names, hosting() as site:
        settings = replace(
            leads,
            mail_url=f"file:{folder}",
            mail_from="Siteglass <privacy@sender.test>",
            dns_servers=(f"127.0.0.1:{names.port}",),
            opt_out_networks=("127.0.0.0/8",),
            opt_out_http_port=site.port,
            # A new one: workers that were seen a moment ago would share the limit while a busy Redis looks slow.
            redis_prefix=f"{leads.redis_prefix}-{secrets.token_hex(4)}",
        )
        clock = Moving()
        with serving(settings, clock) as client:
            del client.headers["X-API-Key"]
            yield Door(client, Outbox(folder), names, site, clock, settings)


@pytest.fixture(autouse=True)
def in_time(request: pytest.FixtureRequest) -> None:
    """Each test begins at the present, with nothing known to DNS and nothing on the site."""
    if "door" in request.fixturenames:
        door: Door = request.getfixturevalue("door")
        door.clock.ahead_ms = 0
        door.names.records, door.names.broken = {}, False
        door.site.say(status=404)
