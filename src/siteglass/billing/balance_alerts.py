"""Low balances: below which number the owners of an account want to hear of it, and which accounts are due for a mail.

One worker at a time claims an account that is due, sends the mails, and marks it as mailed or releases it. If the
worker dies in between, another takes over after CLAIM_LIFE_S; a mail that was already sent is then sent twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from siteglass.access.accounts import ADMIN_TIMEOUT_MS, AccountError
from siteglass.access.audit import Actor, actor_columns
from siteglass.platform.postgres import Postgres

MAX_NUMBER = 10**15
CLAIM_LIFE_S = 300
# This many owners, each with a separate deadline, take less time than a claim lives.
MAX_OWNERS = 20
TIMEOUT_MS = 5_000


@dataclass(frozen=True, slots=True)
class BalanceAlert:
    """Owners hear of a balance below its number; None: they do not."""

    api_below: int | None = None
    lead_below: int | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """An account that is due, claimed by one worker; `claimed_at` distinguishes its claim from a later one."""

    account_id: int
    claimed_at: datetime
    due: BalanceAlert
    """The thresholds that were passed and not mailed yet."""
    owners: Sequence[str]


async def balance_alert(postgres: Postgres, account_id: int) -> BalanceAlert:
    """The alert of an account; one that never had any has none of both kinds."""
    row = await postgres.fetchrow(
        "SELECT api_below, lead_below FROM {schema}.balance_alerts WHERE account_id = $1",
        account_id,
    )
    return BalanceAlert() if row is None else BalanceAlert(row["api_below"], row["lead_below"])


# What was mailed about another number says nothing about this one.
_SET = """
WITH made AS (
    INSERT INTO {schema}.balance_alerts AS s (account_id, api_below, lead_below) VALUES ($1, $2, $3)
    ON CONFLICT (account_id) DO UPDATE SET api_below = excluded.api_below, lead_below = excluded.lead_below,
        api_mailed_at = CASE WHEN s.api_below = excluded.api_below THEN s.api_mailed_at END,
        lead_mailed_at = CASE WHEN s.lead_below = excluded.lead_below THEN s.lead_mailed_at END
    RETURNING account_id
)
INSERT INTO {schema}.audit (actor_kind, actor_id, action, account_id, details)
SELECT $4::text::{schema}.actor_kind, $5, 'alert.set', account_id,
    jsonb_build_object('api_below', $2::bigint, 'lead_below', $3::bigint)
FROM made
"""


async def set_balance_alert(postgres: Postgres, account_id: int, alert: BalanceAlert, actor: Actor) -> None:
    """Put it in the place of the one before; raises AccountError for numbers that no balance can pass."""
    for number in (alert.api_below, alert.lead_below):
        if number is not None and not 1 <= number <= MAX_NUMBER:
            raise AccountError(f"The number of credits must be from 1 to {MAX_NUMBER:,}, but is {number:,}.")
    try:
        await postgres.fetch(
            _SET, account_id, alert.api_below, alert.lead_below, *actor_columns(actor), timeout_ms=ADMIN_TIMEOUT_MS
        )
    except asyncpg.ForeignKeyViolationError:
        raise AccountError(f"There is no account {account_id}.") from None


# --- mails --------------------------------------------------------------------------------------

# What an account has, less what has expired, whether or not its ledger row is written; looked up only if some has.
_LEFT = """
    JOIN {schema}.balances b ON b.account_id = s.account_id
    CROSS JOIN LATERAL (
        SELECT b.api - coalesce(sum(e.api), 0) AS api, b.lead - coalesce(sum(e.lead), 0) AS lead
        FROM {schema}.expiring e
        WHERE b.next_expiry <= now() AND e.account_id = s.account_id AND e.expires_at <= now()
    ) now_left
"""

_REARM = f"""
UPDATE {{schema}}.balance_alerts m
SET api_mailed_at = CASE WHEN found.api_low THEN m.api_mailed_at END,
    lead_mailed_at = CASE WHEN found.lead_low THEN m.lead_mailed_at END
FROM (
    SELECT s.account_id, now_left.api < s.api_below AS api_low, now_left.lead < s.lead_below AS lead_low
    FROM {{schema}}.balance_alerts s {_LEFT}
    WHERE (s.api_mailed_at IS NOT NULL OR s.lead_mailed_at IS NOT NULL)
        AND (s.api_mailed_at IS NOT NULL AND now_left.api >= s.api_below
            OR s.lead_mailed_at IS NOT NULL AND now_left.lead >= s.lead_below)
    ORDER BY s.account_id FOR NO KEY UPDATE OF s SKIP LOCKED
) found
WHERE m.account_id = found.account_id
"""  # noqa: S608 - our own words

# In no order: an account whose mails always fail would else be the first each time, and in the way of all others.
_CLAIM = f"""
WITH due AS (
    SELECT s.account_id,
        CASE WHEN s.api_mailed_at IS NULL AND now_left.api < s.api_below THEN s.api_below END AS api_below,
        CASE WHEN s.lead_mailed_at IS NULL AND now_left.lead < s.lead_below THEN s.lead_below END AS lead_below
    FROM {{schema}}.balance_alerts s {_LEFT}
    WHERE (s.claimed_at IS NULL OR s.claimed_at < now() - make_interval(secs => $1))
        AND (b.api < s.api_below OR b.lead < s.lead_below OR b.next_expiry <= now())  -- most are not, found so at once
        AND (s.api_mailed_at IS NULL AND now_left.api < s.api_below
            OR s.lead_mailed_at IS NULL AND now_left.lead < s.lead_below)
        AND EXISTS (SELECT FROM {{schema}}.accounts a WHERE a.id = s.account_id AND a.state = 'active')
        AND EXISTS (SELECT FROM {{schema}}.members o WHERE o.account_id = s.account_id AND o.role = 'owner')
    ORDER BY random() LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), claimed AS (
    UPDATE {{schema}}.balance_alerts m SET claimed_at = clock_timestamp() FROM due WHERE m.account_id = due.account_id
    RETURNING m.account_id, m.claimed_at, due.api_below, due.lead_below
)
SELECT c.account_id, c.claimed_at, c.api_below, c.lead_below, ARRAY(
    SELECT p.email FROM {{schema}}.members o JOIN {{schema}}.people p ON p.id = o.person_id
    WHERE o.account_id = c.account_id AND o.role = 'owner' ORDER BY p.id LIMIT $2
) AS owners
FROM claimed c
"""  # noqa: S608 - our own words

# Only for the worker that still has the claim.
_MAILED = """
UPDATE {schema}.balance_alerts SET claimed_at = NULL,
    api_mailed_at = CASE WHEN api_below = $3 THEN now() ELSE api_mailed_at END,
    lead_mailed_at = CASE WHEN lead_below = $4 THEN now() ELSE lead_mailed_at END
WHERE account_id = $1 AND claimed_at = $2
"""
_RELEASE = "UPDATE {schema}.balance_alerts SET claimed_at = NULL WHERE account_id = $1 AND claimed_at = $2"


async def rearm(postgres: Postgres) -> None:
    """Balances that have risen above their threshold are mailed again when they fall below it."""
    await postgres.fetch(_REARM, timeout_ms=TIMEOUT_MS)


async def claim_due(postgres: Postgres) -> Claim | None:
    """One account whose owners are to be notified; no other worker gets it meanwhile. None if no account is due."""
    row = await postgres.fetchrow(_CLAIM, CLAIM_LIFE_S, MAX_OWNERS, timeout_ms=TIMEOUT_MS)
    if row is None:
        return None
    due = BalanceAlert(row["api_below"], row["lead_below"])
    return Claim(row["account_id"], row["claimed_at"], due, row["owners"])


async def mark_mailed(postgres: Postgres, claim: Claim, told: BalanceAlert) -> None:
    """Record that the owners were notified of these thresholds; one that was set meanwhile is not among them."""
    await postgres.fetch(
        _MAILED, claim.account_id, claim.claimed_at, told.api_below, told.lead_below, timeout_ms=TIMEOUT_MS
    )


async def release(postgres: Postgres, claim: Claim) -> None:
    """They were not: the next who looks may try again."""
    await postgres.fetch(_RELEASE, claim.account_id, claim.claimed_at, timeout_ms=TIMEOUT_MS)
