"""No order of load, suppress, rebuild, rollback and replay brings a suppressed value back, or loses anything else."""

from __future__ import annotations

import itertools
import os
import tempfile
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from siteglass.corpus.lead import ContactDetail, Lead
from siteglass.corpus.lead_files import write_parquet
from siteglass.index import generations
from siteglass.index.index import Index
from siteglass.index.load import load
from siteglass.privacy import opt_out
from siteglass.suppression.values import read_value
from testing.service import run, serving
from tests.suppression.world import World, rebuilt, world

# Each step asks real engines: a few short stories in CI, many long ones with SITEGLASS_LONG.
LONG = bool(os.environ.get("SITEGLASS_LONG"))
EXAMPLES, STEPS = (100, 20) if LONG else (4, 10)

SITES = tuple(f"site{number}" for number in range(6))
MAILBOXES = tuple(f"person{number}" for number in range(5))
MOST_KEPT = 3
PHONES = tuple(f"55501{number:02}" for number in range(3))
SELECT = ["emails", "phones", "description", "emails_detail", "phones_detail"]
FIRST_CRAWL_MS = 1_780_000_000_000

_stack = ExitStack()
_scene: list[tuple[World, httpx.Client]] = []


@pytest.fixture(scope="module", autouse=True)
def _service() -> Any:
    """One service for all stories; each has its own names."""
    with _stack:
        folder = Path(_stack.enter_context(tempfile.TemporaryDirectory()))
        made = _stack.enter_context(world("stories", [_nobody()], folder))
        _scene.append((made, _stack.enter_context(serving(made.settings))))
        yield


def _nobody() -> Lead:
    return Lead(domain="nobody.example", crawled_at_ms=FIRST_CRAWL_MS)


def _detail(value: str, named: str) -> ContactDetail:
    page = f"https://site.example/{named.lstrip('+')}"
    return ContactDetail(value=value, owner="own", confidence=90, page=page, crawled_at_ms=FIRST_CRAWL_MS)


class Story(RuleBasedStateMachine):
    """What was loaded and what was suppressed say what every answer must show."""

    @initialize()
    def begin(self) -> None:
        self.world, self.client = _scene[0]
        self.tag = uuid.uuid4().hex[:10]
        self.crawl_ms = itertools.count(FIRST_CRAWL_MS)
        self.newest: dict[str, Lead] = {}
        self.suppressed: set[str] = set()
        self.files: list[Path] = []
        self.kept: list[str] = []
        # Something to suppress from the first step on, and an answer that shows it.
        for number, site in enumerate(SITES):
            self._crawl(
                [site], [MAILBOXES[number % 5], MAILBOXES[(number + 1) % 5]], [PHONES[number % 3]], in_text=True
            )
        self.ask()

    def _domain(self, site: str) -> str:
        return f"{site}-{self.tag}.example"

    def _address(self, mailbox: str) -> str:
        return f"{mailbox}@{self.tag}.example"

    def _phone(self, phone: str) -> str:
        return f"+{int(self.tag[:6], 16) % 10**7:07}{phone}"

    @rule(
        sites=st.lists(st.sampled_from(SITES), min_size=1, max_size=4, unique=True),
        mailboxes=st.lists(st.sampled_from(MAILBOXES), max_size=3, unique=True),
        phones=st.lists(st.sampled_from(PHONES), max_size=2, unique=True),
        in_text=st.booleans(),
    )
    def load(self, sites: list[str], mailboxes: list[str], phones: list[str], in_text: bool) -> None:
        """A newer crawl of some sites, into all generations."""
        self._crawl(sites, mailboxes, phones, in_text=in_text)

    def _crawl(self, sites: list[str], mailboxes: list[str], phones: list[str], *, in_text: bool) -> None:
        addresses, numbers = tuple(map(self._address, mailboxes)), tuple(map(self._phone, phones))
        leads = [
            Lead(
                domain=self._domain(site),
                crawled_at_ms=next(self.crawl_ms),
                emails=addresses,
                emails_personal=addresses[:1],
                phones=numbers,
                description=f"Write to {', '.join(addresses)}." if in_text else "",
                # Each page names the value of another detail, too.
                emails_detail=tuple(map(_detail, addresses, reversed(addresses))),
                phones_detail=tuple(map(_detail, numbers, reversed(numbers))),
            )
            for site in sites
        ]
        self._load_file(leads)
        self.newest |= {lead.domain: lead for lead in leads}

    def _load_file(self, leads: list[Lead]) -> None:
        path = self.world.settings.lead_store / f"{self.tag}-{len(self.files)}.parquet"
        write_parquet(path, leads)
        self.files.append(path)

        async def action(live_index: Index) -> None:
            await load(live_index, path, lambda _: None)

        run(self.world.settings, action)

    @rule(number=st.integers(0, 1_000))
    def load_an_old_file_again(self, number: int) -> None:
        if self.files:

            async def action(live_index: Index) -> None:
                await load(live_index, self.files[number % len(self.files)], lambda _: None)

            run(self.world.settings, action)

    @rule(
        sites=st.lists(st.sampled_from(SITES), max_size=1),
        mailboxes=st.lists(st.sampled_from(MAILBOXES), max_size=2),
        phones=st.lists(st.sampled_from(PHONES), max_size=1),
    )
    def suppress(self, sites: list[str], mailboxes: list[str], phones: list[str]) -> None:
        texts = [*map(self._domain, sites), *map(self._address, mailboxes), *map(self._phone, phones)]
        values = [read_value(text) for text in texts]
        run(
            self.world.settings,
            lambda index: opt_out.suppress(index, values, reason="asked to", actor="tests"),
        )
        self.suppressed |= set(texts)

    @rule()
    def rebuild(self) -> None:
        """A new generation from all files as they came; of the older ones, only the one that was live is kept."""
        rebuilt(self.world.settings, self.files)

    @rule()
    def roll_back(self) -> None:
        """The other generation is searched, if it has seen this story from its start."""

        async def action(live_index: Index) -> None:
            live = await generations.live(live_index)
            others = [name for name in await generations.writable(live_index) if name != live]
            if others:
                await generations.promote(live_index, others[-1])

        run(self.world.settings, action)

    @rule()
    def ask(self) -> None:
        """An answer that is kept; from now on it is asked for again after every step."""
        if len(self.kept) < MOST_KEPT:
            self.kept.append(f"{self.tag}-{len(self.kept)}")
            self._asked({"Idempotency-Key": self.kept[-1]})

    def _asked(self, headers: dict[str, str]) -> httpx.Response:
        body = {"domains": [self._domain(site) for site in SITES], "select": SELECT}
        return self.client.post("/v1/leads/enrich", json=body, headers=headers).raise_for_status()

    @invariant()
    def nothing_suppressed_is_shown_and_nothing_else_is_missing(self) -> None:
        run(self.world.settings, self._refresh)
        answer = self._asked({})
        self._check(answer.text)
        for key in self.kept:
            again = self._asked({"Idempotency-Key": key})
            self._check(again.text)
            found = {item["domain"] for item in again.json()["results"] if item["status"] == "success"}
            assert not found & self.suppressed
        shown = {item["domain"]: item for item in answer.json()["results"]}
        for domain, lead in self.newest.items():
            if domain in self.suppressed:
                assert shown[domain]["status"] == "not_found"
            else:
                data = shown[domain]["data"]
                assert data["emails"] == [one for one in lead.emails if one not in self.suppressed]
                assert data["phones"] == [one for one in lead.phones if one not in self.suppressed]
                for values in ("emails", "phones"):
                    assert [one["value"] for one in data[f"{values}_detail"]] == data[values]
        page = self.client.post("/v1/leads/search", json={"limit": 100, "sort": "-crawled_at"}).raise_for_status()
        self._check(page.text)
        listed = {record["domain"] for record in page.json()["results"]}
        assert not listed & self.suppressed

    async def _refresh(self, live_index: Index) -> None:
        await generations.refresh(live_index, await generations.writable(live_index))

    def _check(self, text: str) -> None:
        """No suppressed address or phone anywhere, also not in a text."""
        hidden = [value.lstrip("+") for value in self.suppressed if "@" in value or "+" in value]
        assert [value for value in hidden if value in text] == []


@pytest.mark.promise("retry.redacted", "feature.opt_out")
def test_no_order_of_steps_brings_a_suppressed_value_back() -> None:
    run_state_machine_as_test(
        Story,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
            derandomize=not LONG,
            # A story that fails is reported as it is: to shorten it takes minutes.
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
        ),
    )
