"""Random sequences of grants, charges, new and revoked keys, against a model of a few lines: credits are exact."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, rule, run_state_machine_as_test

from siteglass.accounts import credits, ledger
from siteglass.accounts.credits import Balances, Mark, Operation
from siteglass.accounts.keys import Caller, KeyLimits, revoke_key
from siteglass.errors import CreditCapExceeded, InsufficientCredits, SiteglassError, Unauthorized
from siteglass.postgres import Postgres
from tests.accounts.opening import TIMEOUT_MS, open_account, open_key

amounts = st.integers(0, 30)
caps = st.none() | st.integers(0, 40)
domain_lists = st.lists(
    st.tuples(st.from_regex(r"[a-z]{1,9}\.example", fullmatch=True), st.sampled_from(Mark)), max_size=20
)


@dataclass
class Model:
    """What credits are meant to be."""

    api: int = 0
    lead: int = 0
    entries: list[tuple[int, int]] = field(default_factory=list)
    caps: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    spent: dict[int, tuple[int, int]] = field(default_factory=dict)
    revoked: set[int] = field(default_factory=set)

    def charge(self, key: int, api: int, lead: int) -> type[SiteglassError] | Balances:
        if key in self.revoked:
            return Unauthorized
        spent = self.spent.get(key, (0, 0))
        for cap, before, amount in zip(self.caps[key], spent, (api, lead), strict=True):
            if cap is not None and amount and before + amount > cap:
                return CreditCapExceeded
        if api > self.api or lead > self.lead:
            return InsufficientCredits
        self.spent[key] = (spent[0] + api, spent[1] + lead)
        return self.enter(-api, -lead)

    def enter(self, api: int, lead: int) -> Balances:
        self.api += api
        self.lead += lead
        self.entries.append((api, lead))
        return Balances(self.api, self.lead, len(self.entries))


@pytest.mark.no_cover  # the same lines over and over
@pytest.mark.parametrize("pools", [1, 4])
def test_random_sequences_equal_the_model(dsn: str, schema_name: str, pools: int) -> None:
    with asyncio.Runner() as runner:
        # several pools as several workers have them: nothing may be remembered in one
        postgres = [Postgres(dsn, schema_name, max_connections=1) for _ in range(pools)]

        class Machine(RuleBasedStateMachine):
            keys: Bundle[Caller] = Bundle("keys")

            @initialize(target=keys)
            def open(self) -> Caller:
                self.model, self.step = Model(), 0
                caller = runner.run(open_account(postgres[0]))
                self.account = caller.account_id
                self.model.caps[caller.key_id] = (None, None)
                return caller

            def next_pool(self) -> Postgres:
                self.step += 1
                return postgres[self.step % pools]

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
                self.charge(key, "search", 0, 1, [])

            @rule(api=amounts, lead=st.integers(1, 60))
            def grant(self, api: int, lead: int) -> None:
                left = runner.run(credits.grant(self.next_pool(), self.account, api, lead, "model", "r"))
                assert left == self.model.enter(api, lead)

            @rule(
                key=keys,
                operation=st.sampled_from(["search", "page", "enrich", "evidence", "export"]),
                api=st.integers(0, 3),
                lead=amounts,
                domains=domain_lists,
            )
            def charge(
                self, key: Caller, operation: Operation, api: int, lead: int, domains: list[tuple[str, Mark]]
            ) -> None:
                expected = self.model.charge(key.key_id, api, lead)
                charging = credits.charge(
                    self.next_pool(), key, operation, api, lead, "request", domains, timeout_ms=TIMEOUT_MS
                )
                if isinstance(expected, Balances):
                    assert runner.run(charging) == expected
                else:
                    with pytest.raises(expected):
                        runner.run(charging)
                left = runner.run(credits.balance(self.next_pool(), self.account))
                assert (left.api, left.lead, left.seq) == (self.model.api, self.model.lead, len(self.model.entries))

            def teardown(self) -> None:
                rows = runner.run(
                    postgres[0].fetch(
                        "SELECT api, lead FROM {schema}.ledger WHERE account_id = $1 ORDER BY seq",
                        self.account,
                        timeout_ms=TIMEOUT_MS,
                    )
                )
                assert [tuple(row) for row in rows] == self.model.entries
                assert runner.run(ledger.verify(postgres[0], self.account)).problems == []

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=30, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )
        for pool in postgres:
            runner.run(pool.close())
