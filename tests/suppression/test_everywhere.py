"""A thousand domains, addresses and phones leave every answer within 60 seconds, and no rebuild brings them back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from siteglass.corpus.lead import ContactDetail, Lead
from siteglass_demo.leads import generate
from testing.service import serving
from tests.suppression.world import World, results, search, told, walked, world

LEADS = 2_000
EACH = 450
PHONES = 100
IN_FORCE_S = 60
KEPT_PAGES = 2
SEARCHES: tuple[dict[str, Any], ...] = (
    {},
    {"select": ["emails"]},
    {"select": ["emails_detail", "phones_detail"]},
    {"sort": "domain"},
)


@pytest.fixture(scope="module")
def leads() -> list[Lead]:
    return list(map(_detailed, generate(LEADS, seed=88)))


def _detailed(lead: Lead) -> Lead:
    """With details of each value, on a page whose URL has the first address in it."""
    page = f"https://{lead.domain}/{''.join(lead.emails[:1])}"

    def details(values: tuple[str, ...]) -> tuple[ContactDetail, ...]:
        return tuple(
            ContactDetail(value=value, owner="own", confidence=90, page=page, crawled_at_ms=lead.crawled_at_ms)
            for value in values
        )

    return replace(lead, emails_detail=details(lead.emails), phones_detail=details(lead.phones))


@pytest.fixture(scope="module")
def scene(leads: list[Lead], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world("everywhere", leads, tmp_path_factory.mktemp("everywhere")) as made:
        yield made


class Gone:
    """What is suppressed: a part of the leads by domain, of others one address or phone each."""

    def __init__(self, leads: list[Lead]) -> None:
        self.domains = {lead.domain for lead in leads[:EACH]}
        others = [lead for lead in leads[EACH:] if lead.emails]
        self.addresses = {lead.domain: lead.emails[0] for lead in others[:EACH]}
        with_phone = [lead for lead in leads[EACH:] if lead.phones and lead.domain not in self.addresses]
        self.phones = {lead.domain: lead.phones[0] for lead in with_phone[:PHONES]}
        assert (len(self.domains), len(self.addresses), len(self.phones)) == (EACH, EACH, PHONES)

    def values(self) -> list[str]:
        return [*self.domains, *self.addresses.values(), *self.phones.values()]

    def leaks(self, text: str) -> list[str]:
        """The suppressed values that a text shows."""
        return [value for value in (*self.addresses.values(), *self.phones.values()) if value in text] + [
            domain for domain in self.domains if f'"{domain}"' in text
        ]


def _expected(lead: Lead, gone: Gone) -> dict[str, Any]:
    return {
        "domain": lead.domain,
        "emails": [address for address in lead.emails if address not in gone.addresses.values()],
        "phones": [phone for phone in lead.phones if phone not in gone.phones.values()],
    }


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in ("domain", "emails", "phones")}


def _enriched(client: httpx.Client, domains: list[str], **headers: str) -> list[httpx.Response]:
    parts = [domains[start : start + 100] for start in range(0, len(domains), 100)]
    return [
        client.post(
            "/v1/leads/enrich",
            json={"domains": part},
            headers={name: f"{value}-{number}" for name, value in headers.items()},
        ).raise_for_status()
        for number, part in enumerate(parts)
    ]


@pytest.mark.promise("charge.suppression", "retry.redacted", "feature.opt_out", "details.suppressed")
def test_a_thousand_values_leave_every_answer_and_every_generation(
    scene: World, leads: list[Lead], tmp_path: Path
) -> None:
    gone = Gone(leads)
    assert len(gone.values()) == 1_000
    listing = tmp_path / "list.csv"
    listing.write_text("value,note\n" + "".join(f"{value},x\n" for value in gone.values()))
    touched = sorted({*gone.domains, *gone.addresses, *gone.phones})
    by_domain = {lead.domain: lead for lead in leads}
    scene.rebuild()  # an older generation beside the live one
    with serving(scene.settings) as client:
        # Before: pages whose cursors are kept, and answers that can be asked for again.
        before = walked(client)
        assert len(results(before)) == LEADS
        paths = [page.json()["next"] for page in before[:-1]]
        kept_search = [
            client.post("/v1/leads/search", json={"limit": 100, **more}, headers={"Idempotency-Key": f"s{number}"})
            for number, more in enumerate(SEARCHES)
        ]
        kept_pages = [
            client.post(path, json={}, headers={"Idempotency-Key": f"p{number}"}).raise_for_status()
            for number, path in enumerate(paths[:KEPT_PAGES])
        ]
        assert all(gone.leaks(told(page)) for page in kept_pages)
        kept_enrich = _enriched(client, touched, **{"Idempotency-Key": "e"})
        assert {value for page in before for value in gone.leaks(told(page))} == set(gone.values())

        started = time.monotonic()
        done = scene.command("suppress", "import", str(listing), "--reason", "asked to")
        assert "1000 values, 1000 of them new" in done.stdout
        while time.monotonic() < started + IN_FORCE_S and gone.leaks("".join(map(told, walked(client)))):
            time.sleep(1)

        # Search, and cursors of before: the rest is there, each once, unchanged.
        after = walked(client)
        from_cursors = [client.post(path, json={}).raise_for_status() for path in paths]
        for pages in (after, from_cursors):
            assert [gone.leaks(told(page)) for page in pages] == [[]] * len(pages)
            shown = results(pages)
            assert all(_shown(record) == _expected(by_domain[record["domain"]], gone) for record in shown)
        assert sorted(record["domain"] for record in results(after)) == sorted(set(by_domain) - gone.domains)
        # Charged is what has an address now.
        assert sum(int(page.headers["X-Credits-Lead-Used"]) for page in after) == sum(
            bool(record["emails"]) for record in results(after)
        )
        # A dry run names the price of what would be shown.
        dry = search(client, limit=100, dry_run=True)
        assert gone.leaks(told(dry)) == []
        assert dry.json()["lead_credits"] == int(search(client, limit=100).headers["X-Credits-Lead-Used"])

        # Enrichment, new and replayed.
        for number, answer in enumerate(_enriched(client, touched)):
            assert gone.leaks(_data(answer)) == []
            for item in answer.json()["results"]:
                hidden = item["domain"] in gone.domains
                assert item["status"] == ("not_found" if hidden else "success"), number
            found = sum(item["status"] == "success" for item in answer.json()["results"])
            assert int(answer.headers["X-Credits-Lead-Used"]) == found
        for first, again in zip(kept_enrich, _enriched(client, touched, **{"Idempotency-Key": "e"}), strict=True):
            assert again.headers["Idempotency-Replayed"] == "true"
            assert again.headers["Idempotency-Redacted"] == "true"
            assert gone.leaks(_data(again)) == []
            assert again.headers["X-Credits-Lead-Used"] == first.headers["X-Credits-Lead-Used"]
        again_search = [
            client.post("/v1/leads/search", json={"limit": 100, **more}, headers={"Idempotency-Key": f"s{number}"})
            for number, more in enumerate(SEARCHES)
        ]
        again_pages = [
            client.post(path, json={}, headers={"Idempotency-Key": f"p{number}"})
            for number, path in enumerate(paths[:KEPT_PAGES])
        ]
        for first, again in zip(kept_search + kept_pages, again_search + again_pages, strict=True):
            assert again.headers["Idempotency-Replayed"] == "true"
            assert again.headers["Idempotency-Redacted"] == "true"
            assert gone.leaks(told(again)) == []
            assert again.json()["size"] == len(again.json()["results"])
            taken_out = sum(domain in gone.domains for domain in _domains_on(client, first))
            assert again.json()["size"] == first.json()["size"] - taken_out

        # Nothing is left in any generation, nor after a rebuild from the source that has it all.
        for _ in range(2):
            held = scene.documents()
            assert len(held) >= 2
            for documents in held.values():
                assert len(documents) == LEADS - EACH
                assert gone.leaks(str(documents).replace("'", '"')) == []
            name = scene.rebuild()
        assert name in scene.documents()
        assert [gone.leaks(told(page)) for page in walked(client)] == [[]] * len(after)


def _data(answer: httpx.Response) -> str:
    """What an enrichment shows; a domain that was asked for is named in its item."""
    return str([item.get("data") for item in answer.json()["results"]])


def _domains_on(client: httpx.Client, answer: httpx.Response) -> list[str]:
    """The domains of an answer by its receipt, in case the answer does not show them."""
    receipt = client.get(f"/v1/ledger/{answer.headers['X-Request-Id']}").raise_for_status().json()
    return [lead["domain"] for entry in receipt["entries"] for lead in entry["domains"]]
