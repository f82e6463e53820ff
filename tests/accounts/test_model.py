"""Random sequences of everything that moves credits, against a model of a few lines: credits are exact."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, rule, run_state_machine_as_test

from siteglass.access.accounts import AccountError, Plan, set_plan
from siteglass.access.keys import Caller, KeyLimits, revoke_key
from siteglass.billing import credits, ledger
from siteglass.billing.answers import AnswerToStore
from siteglass.billing.credits import Balances, Bill, ChargedOperation, Mark
from siteglass.errors import CreditCapExceeded, InsufficientCredits, SiteglassError, Unauthorized
from siteglass.platform.postgres import Postgres
from testing.accounts import TIMEOUT_MS, open_account, open_key

amounts = st.integers(0, 30)
caps = st.none() | st.integers(0, 40)
hours = st.none() | st.integers(1, 3)
# Few names, so that leads come again.
domain_lists = st.lists(
    st.tuples(
        st.from_regex(r"[a-h]{1,2}\.example", fullmatch=True),
        st.sampled_from([Mark.CHARGED, Mark.CHARGED, Mark.NO_ADDRESS, Mark.NOT_FOUND]),
    ),
    max_size=20,
    unique_by=lambda pair: pair[0],
)
retry_keys = st.none() | st.sampled_from(["one", "two", "three"])


@dataclass
class Grant:
    """What is left of one grant; `hours` until it expires, none: never."""

    hours: int | None
    seq: int
    api: int
    lead: int


@dataclass
class Model:
    """What credits are meant to be."""

    rebills: bool = True
    grants: list[Grant] = field(default_factory=list)
    entries: list[tuple[int, int]] = field(default_factory=list)
    caps: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    spent: dict[int, tuple[int, int]] = field(default_factory=dict)
    revoked: set[int] = field(default_factory=set)
    paid: dict[str, int] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    charges: dict[int, list[tuple[str, Mark]]] = field(default_factory=dict)
    refundable: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def api(self) -> int:
        return sum(api for api, _ in self.entries)

    @property
    def lead(self) -> int:
        return sum(lead for _, lead in self.entries)

    def marked(self, domains: list[tuple[str, Mark]]) -> list[tuple[str, Mark]]:
        """What was paid before is free, if the plan says so."""
        free = set() if self.rebills else self.paid.keys()
        return [(d, Mark.PAID_BEFORE if mark is Mark.CHARGED and d in free else mark) for d, mark in domains]

    def charge(
        self, key: int, api: int, domains: list[tuple[str, Mark]], max_lead: int | None, retry: str | None
    ) -> type[SiteglassError] | Balances | None:
        if retry in self.kept:
            return None
        if key in self.revoked:
            return Unauthorized
        marked = self.marked(domains)
        lead = sum(mark is Mark.CHARGED for _, mark in marked)
        if max_lead is not None and lead > max_lead:
            return CreditCapExceeded
        spent = self.spent.get(key, (0, 0))
        for cap, before, amount in zip(self.caps[key], spent, (api, lead), strict=True):
            if cap is not None and amount and before + amount > cap:
                return CreditCapExceeded
        if api > self.api or lead > self.lead:
            return InsufficientCredits
        self.spent[key] = (spent[0] + api, spent[1] + lead)
        left = self.enter(-api, -lead)
        self.paid |= {domain: left.seq for domain, mark in marked if mark is Mark.CHARGED}
        self.charges[left.seq] = marked
        self.refundable[left.seq] = (api, lead)
        self.kept |= {retry} if retry else set()
        return left

    def refund(self, seq: int, api: int | None, lead: int | None) -> Balances | None:
        left_api, left_lead = self.refundable.get(seq, (0, 0))
        api, lead = (left_api, left_lead) if (api, lead) == (None, None) else (api or 0, lead or 0)
        if api > left_api or lead > left_lead or api + lead == 0:
            return None
        self.refundable[seq] = (left_api - api, left_lead - lead)
        if left_lead == lead:
            self.paid = {domain: by for domain, by in self.paid.items() if by != seq}
        return self.enter(api, lead)

    def grant(self, api: int, lead: int, hours: int | None) -> Balances:
        left = self.enter(api, lead)
        if hours is not None:
            self.grants.append(Grant(hours, left.seq, api, lead))
        return left

    def enter(self, api: int, lead: int) -> Balances:
        """Write a row; what it takes comes from the grants that expire soonest."""
        self.entries.append((api, lead))
        owed_api, owed_lead = max(0, -api), max(0, -lead)
        for grant in sorted(self.grants, key=lambda g: (g.hours, g.seq)):
            taken_api, taken_lead = min(grant.api, owed_api), min(grant.lead, owed_lead)
            grant.api, grant.lead = grant.api - taken_api, grant.lead - taken_lead
            owed_api, owed_lead = owed_api - taken_api, owed_lead - taken_lead
        return Balances(self.api, self.lead, len(self.entries))


@pytest.mark.no_cover  # the same lines over and over
@pytest.mark.parametrize(("pools", "rebill_after_hours"), [(1, None), (4, None), (4, 24)])
def test_random_sequences_equal_the_model(  # noqa: C901
    dsn: str, schema_name: str, pools: int, rebill_after_hours: int | None
) -> None:
    now = datetime.now(UTC)
    with asyncio.Runner() as runner:
        # several pools as several workers have them: nothing may be remembered in one
        postgres = [Postgres(dsn, schema_name, max_connections=1) for _ in range(pools)]
        plan = f"model-{rebill_after_hours or 'each'}"
        runner.run(set_plan(postgres[0], Plan(plan, 10, 20, rebill_after_hours=rebill_after_hours), actor="tests"))

        class Machine(RuleBasedStateMachine):
            keys: Bundle[Caller] = Bundle("keys")

            @initialize(target=keys)
            def open(self) -> Caller:
                self.model, self.step = Model(rebills=rebill_after_hours is None), 0
                caller = runner.run(open_account(postgres[0], plan=plan))
                self.account = caller.account_id
                self.model.caps[caller.key_id] = (None, None)
                return caller

            def next_pool(self) -> Postgres:
                self.step += 1
                return postgres[self.step % pools]

            def agree(self) -> None:
                left = runner.run(credits.Billing(self.next_pool()).balance(self.account))
                assert left == Balances(self.model.api, self.model.lead, len(self.model.entries))

            @rule(target=keys, api_cap=caps, lead_cap=caps)
            def new_key(self, api_cap: int | None, lead_cap: int | None) -> Caller:
                limits = KeyLimits(daily_api_cap=api_cap, daily_lead_cap=lead_cap)
                caller, _ = runner.run(open_key(self.next_pool(), self.account, limits))
                self.model.caps[caller.key_id] = (api_cap, lead_cap)
                return caller

            @rule(key=consumes(keys))
            def revoke(self, key: Caller) -> None:
                runner.run(revoke_key(self.next_pool(), key.key_id, "tests"))
                self.model.revoked.add(key.key_id)
                self.charge(key, "search", 0, [("a.example", Mark.CHARGED)], None, None)

            @rule(api=amounts, lead=st.integers(1, 60), expires_in=hours)
            def grant(self, api: int, lead: int, expires_in: int | None) -> None:
                ends = None if expires_in is None else now + timedelta(hours=expires_in)
                giving = credits.grant(self.next_pool(), self.account, api, lead, "model", f"{self.step}", ends)
                assert runner.run(giving) == self.model.grant(api, lead, expires_in)

            @rule(
                key=keys,
                operation=st.sampled_from(["search", "page", "enrich", "evidence", "export"]),
                api=st.integers(0, 3),
                domains=domain_lists,
                max_lead=st.none() | st.integers(0, 10),
                retry=retry_keys,
            )
            def charge(
                self,
                key: Caller,
                operation: ChargedOperation,
                api: int,
                domains: list[tuple[str, Mark]],
                max_lead: int | None,
                retry: str | None,
            ) -> None:
                bill = Bill(operation, api, domains, max_lead)
                quoted = runner.run(credits.Billing(self.next_pool()).quote(key, bill))
                marked = self.model.marked(domains)
                assert (quoted.api, quoted.lead) == (api, sum(mark is Mark.CHARGED for _, mark in marked))
                expected = self.model.charge(key.key_id, api, domains, max_lead, retry)
                keep = AnswerToStore(retry, b"print", "{}", b"body") if retry else None
                charging = credits.Billing(self.next_pool(), TIMEOUT_MS).charge(key, "request", bill, keep)
                if isinstance(expected, Balances):
                    receipt = runner.run(charging)
                    assert receipt is not None
                    assert (receipt.api, receipt.lead, receipt.balances) == (quoted.api, quoted.lead, expected)
                elif expected is None:
                    assert runner.run(charging) is None
                else:
                    with pytest.raises(expected):
                        runner.run(charging)
                self.agree()

            @rule(seq=st.integers(1, 30), api=st.none() | st.integers(0, 3), lead=st.none() | st.integers(0, 20))
            def refund(self, seq: int, api: int | None, lead: int | None) -> None:
                expected = self.model.refund(seq, api, lead)
                giving = credits.refund(
                    self.next_pool(), self.account, seq, api, lead, "model", f"{self.step} back", "tests"
                )
                if expected is None:
                    with pytest.raises(AccountError, match=r"can still be refunded|is not a charge"):
                        runner.run(giving)
                else:
                    assert runner.run(giving) == expected
                self.agree()

            @rule(api=st.integers(-20, 20), lead=st.integers(-20, 20))
            def adjust(self, api: int, lead: int) -> None:
                changing = credits.adjust(
                    self.next_pool(), self.account, api, lead, "model", f"{self.step} put", "tests"
                )
                if (api, lead) == (0, 0) or self.model.api + api < 0 or self.model.lead + lead < 0:
                    with pytest.raises(AccountError):
                        runner.run(changing)
                else:
                    assert runner.run(changing) == self.model.enter(api, lead)

            def teardown(self) -> None:
                rows = runner.run(self.rows("SELECT seq, api, lead, domains FROM {schema}.ledger"))
                assert [(row["api"], row["lead"]) for row in rows] == self.model.entries
                domains = {row["seq"]: credits.read_domains(row["domains"]) for row in rows}
                assert {seq: domains[seq] for seq in self.model.charges} == self.model.charges
                left = runner.run(self.rows("SELECT seq, api, lead FROM {schema}.expiring"))
                assert [tuple(row) for row in left] == [
                    (grant.seq, grant.api, grant.lead) for grant in self.model.grants if grant.api or grant.lead
                ]
                assert runner.run(ledger.verify(postgres[0], self.account)).problems == []

            async def rows(self, select: str) -> list[asyncpg.Record]:
                statement = f"{select} WHERE account_id = $1 ORDER BY seq"
                return await postgres[0].fetch(statement, self.account)

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
        for pool in postgres:
            runner.run(pool.close())
