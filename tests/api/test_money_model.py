"""Random searches, pages, enrichments, grants, new and revoked keys over HTTP, against a model of a few lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from siteglass.access.keys import KeyLimits
from siteglass.billing.credits import Mark, read_domains
from siteglass.corpus.lead import Lead
from testing.api_calls import ENRICH, SEARCH, answered, refused
from testing.customers import CREDIT_HEADERS, IN_ORDER, STOCK, Bank, Customer, Marks, capped, marks, price, too_few
from testing.outcomes import first_by_day

PERSONS = [lead for lead in STOCK if lead.emails_personal]
SEARCHES: list[tuple[dict[str, Any], list[Lead]]] = [
    ({}, STOCK),
    ({"exclude_generic_emails": True}, PERSONS),
    ({"country": "FRA"}, STOCK[30:]),
    ({"wrapped_query": "!@has_email"}, [lead for lead in STOCK if not lead.emails]),
    ({"keywords": ["nothing-has-this"]}, []),
]
FORMS = ["{}", "www.{}", "https://{}/x", "shop.{}"]

limits = st.integers(1, 9)
caps = st.none() | st.integers(0, 12)
found_domains = st.tuples(st.sampled_from(FORMS), st.sampled_from([lead.domain for lead in STOCK]))
other_domains = st.sampled_from(["nope.invalid", "", "10.0.0.1", "also-nope.invalid"])


@dataclass(frozen=True)
class Cursor:
    """A page that can be asked for: which leads of which search it starts at, or ends before."""

    path: str
    search: int
    at: int
    limit: int
    backward: bool

    def span(self, limit: int) -> tuple[int, int]:
        if self.backward:
            return max(self.at - limit, 0), self.at
        return self.at, min(self.at + limit, len(SEARCHES[self.search][1]))


@dataclass
class Model:
    """What credits are meant to be."""

    api: int = 0
    lead: int = 0
    rows: list[tuple[str, int, int, str | None]] = field(default_factory=list)
    caps: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    spent: dict[int, tuple[int, int]] = field(default_factory=dict)
    revoked: set[int] = field(default_factory=set)

    def grant(self, api: int, lead: int) -> None:
        self.api, self.lead = self.api + api, self.lead + lead
        self.rows.append(("none", api, lead, None))

    def pay(self, key: Customer, operation: str, api: int, charged: Marks, response: httpx.Response) -> bool:
        """Whether the answer is due; that it is the right one, if not."""
        lead, number = price(charged), key.key_id
        if number in self.revoked:
            refused(response, 401, "UNAUTHORIZED")
            return False
        spent = self.spent.get(number, (0, 0))
        for cap, before, need in zip(self.caps[number], spent, (api, lead), strict=True):
            if cap is not None and need and before + need > cap:
                capped(response, need, max(cap - before, 0))
                return False
        if api > self.api or lead > self.lead:
            too_few(response, (api, lead), (self.api, self.lead))
            return False
        self.spent[number] = (spent[0] + api, spent[1] + lead)
        self.api, self.lead = self.api - api, self.lead - lead
        self.rows.append((operation, -api, -lead, response.headers["x-request-id"]))
        answered(response)
        shown = [int(response.headers[name]) for name in CREDIT_HEADERS]
        assert shown == [api, lead, self.api, self.lead]
        return True


def _machine(bank: Bank) -> type[RuleBasedStateMachine]:  # noqa: C901
    class Machine(RuleBasedStateMachine):
        keys: Bundle[Customer] = Bundle("keys")
        cursors: Bundle[Cursor] = Bundle("cursors")

        @initialize(target=keys, api=st.integers(0, 5), lead=st.integers(0, 25))
        def open(self, api: int, lead: int) -> Customer:
            self.model = Model()
            self.first = bank.customer(api, lead)
            if api or lead:
                self.model.grant(api, lead)
            self.model.caps[self.first.key_id] = (None, None)
            return self.first

        @initialize(target=cursors)
        def no_cursor(self) -> Cursor:
            return Cursor("", 0, 0, 1, backward=False)

        @rule(target=keys, api_cap=caps, lead_cap=caps)
        def new_key(self, api_cap: int | None, lead_cap: int | None) -> Customer:
            held = KeyLimits(daily_api_cap=api_cap, daily_lead_cap=lead_cap)
            made = bank.another(self.first.account_id, limits=held)
            self.model.caps[made.key_id] = (api_cap, lead_cap)
            return made

        @rule(key=keys)
        def revoke(self, key: Customer) -> None:
            if len(self.model.caps) - len(self.model.revoked) > 1:  # one stays, so that something still happens
                bank.revoke(key.key_id)
                self.model.revoked.add(key.key_id)

        @rule(api=st.integers(0, 3), lead=st.integers(1, 15))
        def grant(self, api: int, lead: int) -> None:
            self.first.grant(api, lead)
            self.model.grant(api, lead)

        @rule(target=cursors, key=keys, number=st.integers(0, len(SEARCHES) - 1), limit=limits, narrow=st.booleans())
        def search(self, key: Customer, number: int, limit: int, narrow: bool) -> Cursor:
            body = {**SEARCHES[number][0], **IN_ORDER, "limit": limit}
            if narrow:
                body["select"] = ["domain"]
            return self.page_of(key, Cursor(SEARCH, number, 0, limit, backward=False), limit, "search", body)

        @rule(target=cursors, key=keys, cursor=cursors, limit=st.none() | limits)
        def page(self, key: Customer, cursor: Cursor, limit: int | None) -> Cursor:
            if not cursor.path:
                start = Cursor(SEARCH, 0, 0, limit or 3, backward=False)
                return self.page_of(key, start, start.limit, "search", {**IN_ORDER, "limit": start.limit})
            body = {} if limit is None else {"limit": limit}
            return self.page_of(key, cursor, limit or cursor.limit, "page", body)

        def page_of(self, key: Customer, cursor: Cursor, limit: int, operation: str, body: dict[str, Any]) -> Cursor:
            leads = SEARCHES[cursor.search][1]
            start, end = cursor.span(limit)
            due = marks(leads[start:end], personal="exclude_generic_emails" in SEARCHES[cursor.search][0])
            response = key.client.post(cursor.path, json=body)
            if not self.model.pay(key, operation, 0, due, response):
                return cursor if cursor.path != SEARCH else Cursor("", 0, 0, 1, backward=False)
            page = response.json()
            assert [record["domain"] for record in page["results"]] == [lead.domain for lead in leads[start:end]]
            assert (page["next"] is not None) == (end < len(leads))
            assert (page["previous"] is not None) == (start > 0)
            if page["next"] and (not page["previous"] or end % 2):
                return Cursor(page["next"], cursor.search, end, limit, backward=False)
            return Cursor(page["previous"] or "", cursor.search, start, limit, backward=True)

        @rule(
            key=keys,
            found=st.lists(found_domains, max_size=6),
            others=st.lists(other_domains, max_size=3),
            repeat=st.booleans(),
        )
        def enrich(self, key: Customer, found: list[tuple[str, str]], others: list[str], repeat: bool) -> None:
            domains = [*others, *(form.format(domain) for form, domain in found)] or ["nope.invalid"]
            stored = {domain for _, domain in found}
            response = key.client.post(ENRICH, json={"domains": domains * (2 if repeat else 1)})
            self.model.pay(key, "enrich", 1, [(domain, Mark.CHARGED) for domain in stored], response)

        @invariant()
        def credits_are_exact(self) -> None:
            if hasattr(self, "model"):
                assert self.first.balance() == (self.model.api, self.model.lead)
                assert self.model.api >= 0
                assert self.model.lead >= 0

        def teardown(self) -> None:
            if not hasattr(self, "model"):
                return
            rows = self.first.books().rows
            told = [r["request_id"] if r["kind"] == "charge" else None for r in rows]
            assert [(r["operation"], r["api"], r["lead"]) for r in rows] == [row[:3] for row in self.model.rows]
            assert told == [row[3] for row in self.model.rows]
            for row in rows:
                assert price(read_domains(row["domains"])) == -min(row["lead"], 0)
            self.first.verified()

    return Machine


@pytest.mark.no_cover  # the same lines over and over
@pytest.mark.parametrize("part", first_by_day(range(2)))
def test_random_sequences_equal_the_model(bank: Bank, part: int) -> None:
    run_state_machine_as_test(
        _machine(bank),
        settings=settings(
            max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
