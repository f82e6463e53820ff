"""Accounts and plans: who pays, and on which terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, TypeAlias, get_args

import asyncpg

from siteglass.platform.postgres import Postgres

# The deadline of whatever is done by command or on a form, not by a request of the API.
ADMIN_TIMEOUT_MS = 5_000
MAX_LISTED = 1_000
REMEMBER_TIMEOUT_MS = 600_000


Preview: TypeAlias = Literal["off", "masked", "named"]
PREVIEWS: Final = get_args(Preview)
ANY_NUMBER: Final = 100_000
"""The highest number of previewed leads that a plan can have: it stands for any number."""


class AccountError(ValueError):
    """What an operator asked for cannot be done; the message says what can."""


class UnconfirmedError(AccountError):
    """What an operator asked for may have been done; the message says how to try again without doing it twice."""


# The checks of the tables that a command can run into, in words.
_RULES = {
    "accounts_name_check": "An account name must have 1 to 200 characters.",
    "accounts_state_reason_check": "A reason must have at most 200 characters.",
    "balances_api_check": "An account holds at most 1,000,000,000,000,000 API credits.",
    "balances_lead_check": "An account holds at most 1,000,000,000,000,000 lead credits.",
    "keys_name_check": "A key name must have 1 to 200 characters.",
    "keys_scopes_check": "A key must have at least one of the scopes search, enrich and account.",
    "plans_name_check": (
        "A plan name must start with a lower-case letter, followed by lower-case letters, digits, _ or -; "
        "at most 40 characters."
    ),
    "plans_internal_check": "The prices of an internal plan must be 0.",
    "plans_currency_check": "A currency must be three capital letters, such as USD.",
}


def broken_rule(error: asyncpg.CheckViolationError) -> str:
    """What a check of the tables asks for."""
    name = str(error.constraint_name)
    return _RULES.get(name, f"{name} does not hold.")


def no_account(account_id: int) -> AccountError:
    """There is no such account."""
    return AccountError(f"There is no account {account_id}. `siteglass account list` lists the accounts.")


@dataclass(frozen=True, slots=True)
class Account:
    """An account with its balance."""

    id: int
    name: str
    plan: str
    created_at: datetime
    api: int
    lead: int
    state: str
    """active, suspended, closed or erased."""
    state_reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Terms of an account: how fast, how much a day, at which price, and when a lead is charged again."""

    name: str
    rate_per_s: float
    burst: int
    daily_api_cap: int | None = None
    daily_lead_cap: int | None = None
    api_price_micros: int = 0
    lead_price_micros: int = 0
    currency: str = "USD"
    rebill_after_hours: int | None = None
    preview: Preview = "named"
    """What a search in the browser shows of leads that cost something."""
    preview_leads_per_day: int = 1_000
    """How many leads an account sees per day (UTC) that it did not see in the last 30 days."""
    watches: int = 100
    """How many watches an account may have."""
    is_internal: bool = False
    """Whether pages don't mention credits: for accounts within the company, whose prices are 0."""


# Every statement here that changes something notes it in the audit log itself: both are written, or neither.
_CREATE = """
WITH made AS (
    INSERT INTO {schema}.accounts (name, plan) VALUES ($1, $2) RETURNING id, plan
), noted AS (
    INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
    SELECT 'operator', $3, 'account.create', id, jsonb_build_object('plan', plan) FROM made
)
INSERT INTO {schema}.balances (account_id) SELECT id FROM made RETURNING account_id
"""


async def create_account(postgres: Postgres, name: str, plan: str = "standard", *, actor: str) -> int:
    """Make an account with an empty balance; returns its number."""
    try:
        row = await postgres.fetchrow(_CREATE, name, plan, actor, timeout_ms=ADMIN_TIMEOUT_MS)
    except asyncpg.UniqueViolationError:
        raise AccountError(f"Account {name!r} already exists. Choose another name.") from None
    except asyncpg.ForeignKeyViolationError:
        raise AccountError(f"There is no plan {plan!r}. `siteglass plan list` lists the plans.") from None
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    assert row is not None  # noqa: S101 - RETURNING gives a row or an error
    account_id: int = row["account_id"]
    return account_id


async def list_accounts(postgres: Postgres, after_id: int = 0, most: int = MAX_LISTED) -> list[Account]:
    """Accounts in the order they were made, at most so many, from the one after `after_id`."""
    rows = await postgres.fetch(
        "SELECT a.id, a.name, a.plan, a.created_at, b.api, b.lead, a.state, a.state_reason"
        " FROM {schema}.accounts a JOIN {schema}.balances b ON b.account_id = a.id"
        " WHERE a.id > $1 ORDER BY a.id LIMIT $2",
        after_id,
        most,
        timeout_ms=ADMIN_TIMEOUT_MS,
    )
    return [Account(**row) for row in rows]


async def list_plans(postgres: Postgres) -> Sequence[Plan]:
    """All plans."""
    rows = await postgres.fetch(
        "SELECT name, rate_per_s, burst, daily_api_cap, daily_lead_cap, api_price_micros, lead_price_micros, currency,"
        " rebill_after_hours, preview, preview_leads_per_day, watches, is_internal FROM {schema}.plans"
        " ORDER BY name LIMIT $1",
        MAX_LISTED,
        timeout_ms=ADMIN_TIMEOUT_MS,
    )
    return [Plan(**row) for row in rows]


_SET_PLAN = """
WITH changed AS (
    INSERT INTO {schema}.plans AS p (name, rate_per_s, burst, daily_api_cap, daily_lead_cap, api_price_micros,
        lead_price_micros, currency, rebill_after_hours, preview, preview_leads_per_day, watches, is_internal)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14)
    ON CONFLICT (name) DO UPDATE SET rate_per_s = excluded.rate_per_s, burst = excluded.burst,
        daily_api_cap = excluded.daily_api_cap, daily_lead_cap = excluded.daily_lead_cap,
        api_price_micros = excluded.api_price_micros, lead_price_micros = excluded.lead_price_micros,
        currency = excluded.currency, rebill_after_hours = excluded.rebill_after_hours, preview = excluded.preview,
        preview_leads_per_day = excluded.preview_leads_per_day, watches = excluded.watches,
        is_internal = excluded.is_internal
    RETURNING p.*
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, details)
SELECT 'operator', $13, 'plan.set', to_jsonb(changed) FROM changed
"""


async def set_plan(postgres: Postgres, plan: Plan, *, actor: str) -> None:
    """Make a plan, or change it for all accounts that have it; seen by workers within a second."""
    values = (plan.name, plan.rate_per_s, plan.burst, plan.daily_api_cap, plan.daily_lead_cap)
    prices = (plan.api_price_micros, plan.lead_price_micros, plan.currency, plan.rebill_after_hours)
    extras = (plan.preview, plan.preview_leads_per_day, plan.watches)
    hours = plan.rebill_after_hours
    # What was paid counts from the moment the plan changes: remembered before it does, then once more the rows since.
    known = {} if hours is None else await _remember_paid(postgres, plan.name, hours, None)
    try:
        await postgres.fetchrow(
            _SET_PLAN, *values, *prices, *extras, actor, plan.is_internal, timeout_ms=ADMIN_TIMEOUT_MS
        )
    except asyncpg.CheckViolationError as error:
        raise AccountError(broken_rule(error)) from None
    if hours is not None:
        await _remember_paid(postgres, plan.name, hours, known)


async def _remember_paid(postgres: Postgres, plan: str, hours: int, known: dict[int, int] | None) -> dict[int, int]:
    """What the accounts of a plan paid for within these hours, after the rows that are known; returns the last ones."""
    last, read = 0, {}
    while True:
        rows = await postgres.fetch(
            "SELECT id FROM {schema}.accounts WHERE plan = $1 AND id > $2 ORDER BY id LIMIT $3",
            plan,
            last,
            MAX_LISTED,
            timeout_ms=ADMIN_TIMEOUT_MS,
        )
        for row in rows:
            last = row["id"]
            after_seq = None if known is None else known.get(last, 0)
            read[last] = await remember_paid_leads(postgres, last, hours, after_seq)
        if len(rows) < MAX_LISTED:
            return read


async def remember_paid_leads(postgres: Postgres, account_id: int, hours: int, after_seq: int | None) -> int:
    """Note what an account paid for within these hours, after a row of its ledger; returns the last row."""
    row = await postgres.call(
        "remember_paid", account_id=account_id, hours=hours, after_seq=after_seq, timeout_ms=REMEMBER_TIMEOUT_MS
    )
    last_seq: int = row["last_seq"]
    return last_seq
